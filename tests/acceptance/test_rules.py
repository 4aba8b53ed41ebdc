"""Rules with real models and a real server: they crash, are stopped by a rule, and nothing of an
incident is lost or doubled when the server is killed."""

import itertools
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests import needs
from tests.acceptance.conftest import Home
from tests.acceptance.traders import Trader, pythons
from tests.waiting import wait_for

SETTINGS = {"TAPELINE_PYTHONS": pythons()[0].path, "TAPELINE_STOP_SECONDS": "2"}
ALIVE = "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.1)\n"
BROKEN = "raise SystemExit('no key')\n"


@pytest.fixture
def home(used_home: Home) -> Home:
    return used_home


@pytest.fixture
def trader(home: Home) -> Iterator[Trader]:
    with Trader(home.up(**SETTINGS)) as made:
        yield made


def add(trader: Trader, when: Any, **more: Any) -> str:
    name = more.pop("name", str(when))
    said = {"name": name, "when": when, **more}
    return str(trader.post(f"/api/projects/{trader.user_id}/rules", json=said)["rule_id"])


def states(trader: Trader) -> dict[str, str]:
    """By name, of rules that watch one model."""
    items = trader.get(f"/api/projects/{trader.user_id}/rules")["items"]
    return {one["name"]: one["states"][0]["state"] if one["states"] else "" for one in items}


def incidents(trader: Trader, **wanted: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = trader.get("/api/incidents", limit=1000, **wanted)["items"]
    return found


@pytest.mark.heavy
@needs.root("needs a host where models run")
def test_a_model_that_crashes_fires_the_rules_of_its_life_and_a_good_version_ends_them(
    trader: Trader,
) -> None:
    add(trader, "not-running", name="down")
    add(trader, {"condition": "crashed", "within": "1s"}, name="crashed")
    add(trader, {"condition": "restarting", "within": "20s"}, limit=2, name="restarting")
    add(trader, "given-up", name="given up")
    made = trader.deploy(BROKEN)
    names = {"down", "crashed", "restarting", "given up"}
    wait_for(lambda: {one["name"] for one in incidents(trader)} == names)
    assert all(one["model_id"] == made["modelId"] for one in incidents(trader))
    trader.deploy(ALIVE, model=made["modelId"])
    wait_for(lambda: set(states(trader).values()) == {"ok"})
    assert incidents(trader, state="open") == []
    by_name = {one["name"]: one for one in incidents(trader)}
    assert by_name["down"]["resolution"] == "It is running."


@pytest.mark.heavy
@needs.root("needs a host where models run")
def test_a_rule_stops_a_model_which_says_so_everywhere(trader: Trader) -> None:
    made = trader.deploy(ALIVE)
    model = made["modelId"]
    trader.wait_for_line(model, "up")
    add(
        trader, "no-order", **{"for": "1s"}, model_id=model, severity="critical",
        do=["tell", "stop"], name="too quiet",
    )  # fmt: skip
    ended = trader.wait_for_end(made)
    assert ended["state"] == "stopped"
    assert ended["reason"].startswith("Stopped by rule too quiet: It has sent no order for")
    (one,) = incidents(trader)
    timeline = trader.get(f"/api/incidents/{one['incident_id']}")["timeline"]
    assert [entry["what"] for entry in timeline][:2] == ["fired", "stopped"]
    lines = trader.client.get(f"/api/models/{model}/tape").text
    assert '"stopped by rule"' in lines
    wait_for(lambda: states(trader) == {"too quiet": "ok"})
    marks = trader.get(f"/api/models/{model}/pnl")["marks"]
    assert marks[-1]["kind"] == "downtime"
    assert "too quiet" in marks[-1]["reason"]


@pytest.mark.heavy
def test_a_server_that_is_killed_at_any_moment_loses_and_doubles_no_incident(
    home: Home, trader: Trader
) -> None:
    server = trader.server
    said = {"projectId": trader.user_id, "name": "One", "type": "strategy", "description": ""}
    model = trader.post("/model/create-model", json=said)["modelId"]
    rules = [
        add(
            trader,
            "no-event",
            **{"for": f"{1 + number / 4:.2f}s"},
            model_id=model,
            name=f"{number}",
        )
        for number in range(16)
    ]
    for pause in itertools.chain([0.6, 1.1, 0.4, 0.9], itertools.repeat(2.0)):
        time.sleep(pause)  # whatever it is doing then
        if len(incidents(trader)) == len(rules):
            break
        server.end(signal.SIGKILL)
        server = home.up()
        trader.meet(server)
    found = incidents(trader)
    assert sorted(one["rule_id"] for one in found) == sorted(rules)
    for one in found:
        timeline = trader.get(f"/api/incidents/{one['incident_id']}")["timeline"]
        assert [entry["what"] for entry in timeline] == ["fired"]
        shown = trader.get(f"/api/rules/{one['rule_id']}")
        assert shown["states"][0]["incident_id"] == one["incident_id"]
    server.end(signal.SIGKILL)
    trader.meet(home.up())
    time.sleep(2)  # some turns
    assert incidents(trader) == found


GREEDY = """
import os, time
held = b"x" * (150 << 20)
with open(os.path.join(os.environ["TAPELINE_STATE_DIR"], "much"), "wb") as file:
    file.write(b"x" * (60 << 20))
print("up", flush=True)
while True:
    time.sleep(0.1)
"""


@pytest.mark.heavy
@needs.root("needs a host where models run")
def test_a_model_that_is_near_its_memory_and_disk_is_noticed_until_it_stops(home: Home) -> None:
    with Trader(home.up(**SETTINGS, TAPELINE_RUN_DISK="100")) as trader:
        add(trader, "memory-near", limit=50, name="memory")
        add(trader, "disk-near", limit=50, name="disk")
        made = trader.deploy(GREEDY)
        wait_for(lambda: set(states(trader).values()) == {"firing"})
        said = {one["name"]: one["said"] for one in incidents(trader)}
        assert "MB of the 100 MB that its folders may take" in said["disk"]
        assert "MB of the 256 MB of its plan" in said["memory"]
        trader.kill(made["modelId"])
        wait_for(lambda: set(states(trader).values()) == {"ok"})
