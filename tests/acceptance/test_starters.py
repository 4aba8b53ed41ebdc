"""A starter model goes on where it was: the same market, the same position, every order once."""

import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tapeline.models import starters
from tests.acceptance.conftest import Home
from tests.acceptance.traders import Trader, pythons
from tests.archives import unzipped, zipped
from tests.waiting import wait_for

pytestmark = pytest.mark.heavy

SETTINGS = {"TAPELINE_PYTHONS": pythons()[0].path, "TAPELINE_STOP_SECONDS": "30"}


@pytest.fixture
def home(used_home: Home) -> Home:
    return used_home


@pytest.fixture
def trader(home: Home) -> Iterator[Trader]:
    entered = Trader(home.up(**SETTINGS))
    yield entered
    entered.client.close()


def quick(name: str) -> bytes:
    """A starter that does not wait for its market; nothing else is changed."""
    files = unzipped(starters.packed(name))
    files["main.py"] = files["main.py"].replace("wait(STEP if", "wait(0.02 if")
    return zipped({"main.py": files["main.py"]}, **json.loads(files["platform.json"]))


def tape(trader: Trader, model: str) -> list[dict[str, Any]]:
    text = trader.client.get(f"/api/models/{model}/tape").text
    return [json.loads(line) for line in text.splitlines()]


def prices(trader: Trader, model: str) -> list[float]:
    """The model's own marks: the server adds closes of its bars, with their source."""
    marks = [one["body"] for one in tape(trader, model) if one["kind"] == "mark-price"]
    return [one["price"] for one in marks if "source" not in one]


def market(count: int) -> list[float]:
    """What the starter's market gives, reckoned without the platform."""
    code = unzipped(starters.packed("moving-average"))["main.py"]
    names: dict[str, Any] = {"__name__": "starter"}
    exec(compile(code, "main.py", "exec"), names)
    state, seen = names["beginning"](), []
    for _ in range(count):
        names["next_price"](state, 4, names["STEP"])
        seen.append(state["price"])
    return seen


def go_on(trader: Trader, model: str, by: int) -> None:
    before = len(prices(trader, model))
    wait_for(lambda: len(prices(trader, model)) >= before + by)


def test_a_starter_survives_the_server_and_its_own_restarts(home: Home, trader: Trader) -> None:
    deployed = trader.deploy("", archive=quick("moving-average"))
    model = deployed["modelId"]
    go_on(trader, model, 60)
    trader.server.process.kill()
    trader.server.process.wait()
    trader.meet(home.up(**SETTINGS))
    go_on(trader, model, 60)
    run = trader.run(model, deployed["runId"])
    assert (run["state"], run["restarts"]) == ("running", 0)

    trader.kill(model)
    trader.wait_for_end(deployed)
    again = trader.post(
        "/model/run",
        json={
            "projectId": trader.user_id, "modelId": model, "versionId": deployed["versionId"],
        },
    )  # fmt: skip
    go_on(trader, model, 60)
    assert trader.server.end(signal.SIGINT) == 0  # stops the model, too, which cleans up
    trader.meet(home.up(**SETTINGS))
    go_on(trader, model, 20)
    trader.kill(model)
    trader.wait_for_end(again)

    assert "stopped, position kept" in trader.lines(model)
    seen = prices(trader, model)
    assert seen == market(len(seen)), "a price is missing, doubled or of another market"
    orders = trader.get(f"/api/models/{model}/orders", limit=1000)["items"]
    sides = [one["side"] for one in sorted(orders, key=lambda one: int(one["id"].split("-")[1]))]
    assert sides == (["buy", "sell"] * len(sides))[: len(sides)]
    assert len(sides) > 3
    assert {one["status"] for one in orders} == {"filled"}
    assert not trader.get(f"/api/models/{model}/pnl")["warnings"]
