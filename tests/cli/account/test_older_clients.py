"""The older platform's own package outside of ours: unchanged, through `tapeline legacy-proxy`."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import Server
from tests.acceptance.traders import Trader
from tests.archives import zipped
from tests.cli.conftest import Person
from tests.runtime.older_package import installed
from tests.runtime.test_blankly import BACKTESTS, BOT, GENERAL, PERIOD

pytestmark = pytest.mark.slow

NEWER, OLDER = "1.18.23b0", "1.16.10b0"
DEPLOYING = """
import json, sys
from blankly.deployment.api import API
api = API(sys.argv[1])
model = api.create_model(api.user_id, "strategy", "Older", "made by the package")["modelId"]
given = {"file_path": "model.zip", "model_id": model, "version_description": "first",
         "python_version": sys.argv[2], "type_": "strategy", "plan": "nano", "schedule": None,
         "project_id": api.user_id}
deployed = api.deploy(**given)
plans, projects = api.get_plans("live"), api.list_projects()
keys = api.generate_keys(api.user_id, *sys.argv[3:])
print(json.dumps([model, deployed, plans, projects, api.list_models(api.user_id), keys]))
"""
LOCAL = BOT.replace("assert blankly.is_deployed", "assert not blankly.is_deployed") + (
    f"    strategy.backtest(**{PERIOD!r})\n"
)


@pytest.fixture(scope="module")
def trader(server: Server) -> Iterator[Trader]:
    trader = Trader(server)
    yield trader
    trader.client.close()


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(tmp_path_factory.mktemp("newer"), NEWER)


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(tmp_path_factory.mktemp("older"), OLDER)


def through(person: Person, python: Path, *arguments: str) -> str:
    where = ("--server", person.server.address)
    return person.does("legacy-proxy", *where, "--", str(python), *arguments)


@pytest.mark.older_client("blankly 1.18.23b0", "its calls: models, plans, keys, deploy")
def test_the_last_version_that_could_deploys_through_the_proxy(
    person: Person, trader: Trader, newer: Path
) -> None:
    deploys(person, trader, newer, "named")


@pytest.mark.older_client("blankly 1.16.10b0", "its calls: models, plans, keys, deploy")
def test_an_older_version_deploys_through_the_proxy(
    person: Person, trader: Trader, older: Path
) -> None:
    deploys(person, trader, older)


def deploys(person: Person, trader: Trader, python: Path, *more: str) -> None:
    (person.at / "model.zip").write_bytes(zipped({"main.py": "print('deployed')"}))
    (person.at / "main.py").write_text(DEPLOYING)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    said = through(person, python, "main.py", trader.refresh_token, version, *more)
    model, deployed, plans, projects, models, keys = json.loads(said.strip().splitlines()[-1])
    assert deployed["status"] == "success", deployed
    assert set(plans["nano"]) == {"cpu", "ram"}
    assert trader.user_id in {one["projectId"] for one in projects}
    assert model in {one["id"] for one in models}
    assert keys["apiKey"]
    trader.wait_for_line(model, "deployed")


@pytest.mark.older_client("blankly 1.18.23b0", "a backtest on your own computer is pushed")
def test_a_local_backtest_is_pushed(person: Person, trader: Trader, newer: Path) -> None:
    owned = {"projectId": trader.user_id}
    wanted = owned | {"type": "strategy", "name": "Local"}
    model = trader.post("/model/create-model", data=wanted)["modelId"]
    made = trader.post("/project/generate-project-token", data=owned)
    keys = {"model_id": model, "api_key": made["apiKey"], "api_pass": made["apiPass"]}
    shown = BACKTESTS | {"GUI_output": True}
    files = {
        "main.py": LOCAL,
        "blankly.json": json.dumps(keys),
        "settings.json": json.dumps({"settings": GENERAL}),
        "backtest.json": json.dumps({"price_data": {"assets": []}, "settings": shown}),
    }
    for name, text in files.items():
        (person.at / name).write_text(text)
    through(person, newer, "main.py")
    (found,) = trader.get(f"/api/models/{model}/backtests")["items"]
    assert found["status"]["successful"]
