"""The stop that proves itself, with real models: polite ones, and those that do what they can."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests import needs
from tests.acceptance.conftest import Home, Server
from tests.acceptance.traders import Trader, pythons
from tests.waiting import wait_for

pytestmark = [pytest.mark.heavy, needs.root("needs a host where models run")]

SETTINGS = {"TAPELINE_PYTHONS": pythons()[0].path, "TAPELINE_STOP_SECONDS": "6"}
POLITE = (
    "import time\ntry:\n    print('up', flush=True)\n    time.sleep(1000)\n"
    "finally:\n    print('bye', flush=True)\n"
)
ALIVE = "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.1)\n"
STUBBORN = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + ALIVE
FORKING = (
    "import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    "for _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        break\n" + ALIVE
)
MODELS = {"Polite": POLITE, "Stubborn": STUBBORN, "Forking": FORKING, "Frozen": ALIVE}
MANY = 50


@pytest.fixture
def home(used_home: Home) -> Home:
    return used_home


def deploy(trader: Trader, scripts: dict[str, str]) -> dict[str, dict[str, Any]]:
    made = {name: trader.deploy(script, name=name) for name, script in scripts.items()}
    for one in made.values():
        trader.wait_for_line(one["modelId"], "up")
    return made


def freeze(data: Path, run: str) -> None:
    """All processes of a run's control group, as a debugger or a full memory might."""
    frozen = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and run in _group(folder):
            os.kill(int(folder.name), signal.SIGSTOP)
            frozen += 1
    assert frozen


def _group(process: Path) -> str:
    try:
        return (process / "cgroup").read_text()
    except OSError:  # it ended meanwhile
        return ""


def account(server: Server, trader: Trader) -> dict[str, str]:
    """For commands."""
    return {"TAPELINE_URL": server.address, "TAPELINE_TOKEN": trader.refresh_token}


def require_proofs(halted: dict[str, Any]) -> None:
    for one in halted["models"]:
        assert one["state"] == "stopped", one
        proof = one["proof"]
        assert (proof["lock_is_free"], proof["processes"], proof["key"]) == (True, 0, "refused")


def test_a_project_is_halted_with_a_proof_for_each_model_and_resumed(home: Home) -> None:
    server = home.up(**SETTINGS)
    trader = Trader(server)
    made = deploy(trader, MODELS)
    freeze(home.data, made["Frozen"]["runId"])
    said = home.run("halt", "--json", "--why", "Prices are wrong", **account(server, trader))
    assert said.returncode == 0, said.stdout + said.stderr
    halted = json.loads(said.stdout)
    assert {one["model"] for one in halted["models"]} == set(MODELS)
    require_proofs(halted)
    assert "bye" in trader.lines(made["Polite"]["modelId"]), "it has its seconds"

    again = {"projectId": trader.user_id, "modelId": made["Polite"]["modelId"]}
    refused = trader.post("/model/run", 409, json=again)
    assert (refused["code"], "Prices are wrong" in refused["error"]) == ("halted", True)
    # Not even by what was asked of another server at the same moment, or across a restart.
    server.end(signal.SIGKILL)
    server = home.up(**SETTINGS)
    trader.meet(server)
    for one in made.values():
        assert trader.run(one["modelId"], one["runId"])["state"] == "stopped"

    said = home.run("resume", "--start", "--json", **account(server, trader))
    assert (said.returncode, json.loads(said.stdout)["started"]) == (0, len(MODELS)), said.stderr
    for one in made.values():
        runs = trader.get(f"/api/models/{one['modelId']}/runs")["items"]
        trader.wait_for_state({**one, "runId": runs[0]["run_id"]}, "running")
    trader.client.close()


@pytest.mark.slow
def test_fifty_models_are_halted_within_fifteen_seconds(home: Home) -> None:
    server = home.up(**SETTINGS | {"TAPELINE_STOP_SECONDS": "10"})
    trader = Trader(server)
    scripts = MODELS | {f"Model {one}": POLITE for one in range(MANY - len(MODELS))}
    made = deploy(trader, scripts)
    freeze(home.data, made["Frozen"]["runId"])
    began = time.monotonic()
    path = f"/api/projects/{trader.user_id}/halt"
    trader.post(path, json={"why": "All of it"})
    wait_for(lambda: trader.get(path)["halt"]["stopped"] == MANY)
    took = time.monotonic() - began
    require_proofs(trader.get(path)["halt"])
    assert took < 15, took
    trader.client.close()
