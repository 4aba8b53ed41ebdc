"""Stopping on the machine itself, holds, and copies that do not trade next to their original."""

import json
import re
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tapeline.runs.engines.installing import BYTECODE
from tests import needs
from tests.acceptance.conftest import Home
from tests.acceptance.traders import Trader, pythons
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.heavy,
    needs.root("needs a host where models run"),
]

SETTINGS = {"TAPELINE_PYTHONS": pythons()[0].path, "TAPELINE_STOP_SECONDS": "4"}
ALIVE = "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.1)\n"
POLITE = (
    "import time\ntry:\n    print('up', flush=True)\n    time.sleep(1000)\n"
    "finally:\n    print('bye')\n"
)
STUBBORN = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + ALIVE


@pytest.fixture
def home(used_home: Home) -> Home:
    return used_home


def test_everything_is_halted_without_a_server_and_goes_on_when_released(home: Home) -> None:
    server = home.up(**SETTINGS)
    trader = Trader(server)
    deployed = [trader.deploy(script) for script in (POLITE, STUBBORN)]
    for one in deployed:
        trader.wait_for_line(one["modelId"], "up")
    server.end(signal.SIGKILL)
    with closing(sqlite3.connect(home.data / "tapeline.db")) as holder:
        holder.execute("begin exclusive")  # the database cannot be used
        said = home.run("halt", "--here", "--json", "--why", "Prices are wrong.", **SETTINGS)
    assert said.returncode == 0, said.stdout + said.stderr
    ended = {one["model"]: one for one in json.loads(said.stdout)["ended"]}
    assert all(one["is_proven"] for one in ended.values())
    assert set(ended) == {one["modelId"] for one in deployed}

    server = home.up(**SETTINGS)
    assert re.search(r"hold +on hold since .*Prices are wrong", server.said)
    trader.meet(server)
    for one in deployed:
        trader.wait_for_state(one, "pending")
        wait_for(lambda one=one: _proofs(trader, one["modelId"]) == [(True, 0)])
    again = {"projectId": trader.user_id, "modelId": deployed[0]["modelId"]}
    refused = trader.post("/model/run", 409, json=again)
    assert refused["code"] == "on_hold"
    assert "Prices are wrong" in trader.get("/api/me")["trouble"]
    assert "Use --yes" in home.refused("release", exit_code=2)
    assert home.run("release", "--yes").returncode == 0
    polite = deployed[0]["modelId"]
    for stops in (2, 3):  # the halt was the first
        wait_for(lambda stops=stops: trader.lines(polite).count("up") == stops)
        for one in deployed:
            trader.wait_for_state(one, "running")
        assert home.run("hold").returncode == 0
        for one in deployed:
            trader.wait_for_state(one, "pending")
        assert any("on hold since" in line for line in trader.lines(polite))
        assert trader.lines(polite).count("bye") == stops, "it has its seconds, each time"
        assert home.run("release", "--yes").returncode == 0
    trader.client.close()


def _proofs(trader: Trader, model_id: str) -> list[tuple[bool, int]]:
    """Of ends that its tape states."""
    lines = trader.client.get(f"/api/models/{model_id}/tape").text.splitlines()
    events = [json.loads(line) for line in lines]
    said = [one["body"] for one in events if one.get("kind") == "statement"]
    proofs = [one["proof"] for one in said if one["stated"] == "stopped"]
    return [(one["lock_is_free"], one["processes"]) for one in proofs]


def test_a_disk_that_takes_no_hold_does_not_keep_the_server_from_holding(home: Home) -> None:
    server = home.up(**SETTINGS)
    trader = Trader(server)
    stopped, other = (trader.deploy(ALIVE) for _ in range(2))
    for one in (stopped, other):
        trader.wait_for_line(one["modelId"], "up")
    held = home.data / "holds"
    wait_for((held / ".reserve").exists)
    with read_only(held):
        said = home.run("stop", "--here", stopped["modelId"], **SETTINGS)
        assert (said.returncode, "its lock is free" in said.stdout) == (1, True), said
        assert "could not be written: Read-only file system" in said.stderr
        assert "The running server was told" in said.stderr
        assert trader.wait_for_end(stopped)["state"] == "stopped"
        said = home.run("halt", "--here", "--json", "--why", "Prices are wrong.", **SETTINGS)
        assert (said.returncode, json.loads(said.stdout)["held"]) == (1, False)
        trader.wait_for_state(other, "pending")
        assert "Prices are wrong" in trader.get("/api/me")["trouble"]
        assert home.run("release", "--yes").returncode == 0
        trader.wait_for_state(other, "running")
        assert "was told" in home.refused("hold", "--why", "Prices are wrong.", exit_code=1)
        trader.wait_for_state(other, "pending")
    wait_for((held / "all").exists)
    assert home.run("release", "--yes").returncode == 0
    trader.wait_for_state(other, "running")
    with read_only(held):
        server.end(signal.SIGKILL)
        said = home.run("halt", "--here", **SETTINGS)
        assert (said.returncode, "No server runs" in said.stderr) == (1, True), said
    trader.client.close()


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """A folder that takes no file, while the rest of the disk does."""
    mount("--bind", str(folder), str(folder))
    try:
        mount("-o", "remount,ro,bind", str(folder))
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def test_a_model_is_stopped_on_its_machine_and_that_is_recorded_later(home: Home) -> None:
    server = home.up(**SETTINGS)
    trader = Trader(server)
    stopped, other = (trader.deploy(ALIVE) for _ in range(2))
    for one in (stopped, other):
        trader.wait_for_line(one["modelId"], "up")
    tested = trader.backtest(ALIVE, model=other["modelId"])
    wait_for(lambda: "up" in trader.backtest_lines(tested))
    server.end(signal.SIGKILL)
    said = home.refused("stop", "--here", "nobody", exit_code=1)
    assert stopped["modelId"] in said
    for one in (stopped["modelId"], tested["runId"]):
        ended = home.run("stop", "--here", one, **SETTINGS)
        assert ended.returncode == 0, ended.stderr
        assert "its lock is free" in ended.stdout
    trader.meet(home.up(**SETTINGS))
    for run in map(trader.wait_for_end, (stopped, tested)):
        assert (run["state"], run["reason"]) == (
            "stopped",
            "Stopped on the machine itself: An operator stopped it.",
        )
    assert trader.run(other["modelId"], other["runId"])["state"] == "running"
    entries = trader.get(f"/api/projects/{trader.user_id}/audit")["items"]
    assert any(one["actor"] == "operator" for one in entries if one["action"] == "model_stopped")
    trader.client.close()


@pytest.mark.parametrize("how", ["restored", "copied by hand"])
def test_a_copy_on_hold_leaves_the_runs_of_its_original_alone(home: Home, how: str) -> None:
    server = home.up(**SETTINGS)
    trader = Trader(server)
    deployed, other = (trader.deploy(ALIVE) for _ in range(2))
    model, models = deployed["modelId"], [deployed["modelId"], other["modelId"]]
    for one in models:
        trader.wait_for_line(one, "up")
    why = restored(home) if how == "restored" else copied(home)
    before = list(map(trader.lines, models))

    copy = home.up("--data", "copy", **SETTINGS)
    holder = Trader(copy)
    wait_for(lambda: turns(holder) > 2)
    run = holder.run(model, deployed["runId"])
    assert (run["state"], run["memory"]) == ("pending", None)
    assert why in run["hold"]
    refused = holder.post("/model/kill", 503, json={"modelId": other["modelId"]})
    assert "its original may still have the run" in refused["error"]
    copy.end(signal.SIGINT)
    for one in (trader, holder):
        one.meet(server if one is trader else home.up("--data", "copy", **SETTINGS))
        assert list(map(one.lines, models)) == before, "nothing ended it, and nothing says so"
    assert trader.run(model, deployed["runId"])["state"] == "running"
    release_too_early(home, holder, deployed)

    server.end(signal.SIGINT)
    assert home.run("release", "--yes", "--data", "copy").returncode == 0
    wait_for(lambda: holder.lines(model).count("up") == 2)
    assert any("was released" in line for line in holder.lines(model))
    assert not any("killed from outside" in line for line in holder.lines(model))
    holder.server.end(signal.SIGINT)  # with its models
    for one in (trader, holder):
        one.client.close()


def release_too_early(home: Home, holder: Trader, deployed: dict[str, str]) -> None:
    """The copy sees the processes of its original and stays on hold."""

    def why() -> str:
        return str(holder.run(deployed["modelId"], deployed["runId"]).get("hold"))

    assert home.run("release", "--yes", "--data", "copy").returncode == 0
    wait_for(lambda: "its original still runs" in why())
    assert holder.lines(deployed["modelId"]).count("up") == 1


def restored(home: Home) -> str:
    """The reason why this copy is on hold."""
    for command in (["backup", "kept"], ["restore", "kept", "--data", "copy"]):
        assert home.run(*command).returncode == 0
    return "It was restored from"


def copied(home: Home) -> str:
    """Beside a server that runs, once it has written the bytecode of the new environment."""
    wait_for(lambda: not list((home.data / "runs").glob(f"*{BYTECODE}")))
    subprocess.run(["cp", "-a", home.data, home.path / "copy"], check=True)
    return "its data directory was copied"


def turns(trader: Trader) -> int:
    """Of the supervisor."""
    work = trader.get("/api/health")["work"]
    return int(next(one["turns"] for one in work if one["name"] == "supervisor"))
