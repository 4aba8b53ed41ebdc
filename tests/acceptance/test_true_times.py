"""When a run lived and when it ended is what its shim saw, whoever looked, and however late."""

import json
import re
import signal
import time
from collections.abc import Iterator

import pytest

from tapeline.runs.shim.running import WATCHED_EVERY
from tests.acceptance.conftest import kill_shim
from tests.acceptance.installation import Member, holder_and_other, installation
from tests.waiting import wait_for

ON_ITS_OWN = """\
import os, sys, time
print('up', flush=True)
while not os.path.exists(os.path.join(os.environ['TAPELINE_STATE_DIR'], 'go')): time.sleep(0.05)
print(f'ends {time.time()}', flush=True)
sys.exit(0)
"""
LOOKED_LATER = 3.0  # seconds: more than it takes to know when a run was last alive


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, postgres_server: str) -> Iterator[list[Member]]:
    with installation(tmp_path_factory.mktemp("pair"), postgres_server) as made:
        yield made


def journal_of(member: Member, run: str) -> str:
    """Of a run; empty when it is cleared away."""
    folder = member.server.home.data / "runs" / run / "journal"
    return "".join(one.read_text() for one in sorted(folder.glob("*")))


def states(journal: str) -> dict[str, float]:
    """When each state was last written."""
    found = re.findall(r"^s (\S+) (.*)$", journal, re.MULTILINE)
    return {json.loads(said)["event"]: float(at) for at, said in found}


def up_again(member: Member) -> None:
    member.server = member.server.home.up(**member.server.variables)
    member.trader.meet(member.server)


def test_a_model_that_ended_while_its_server_was_down_ended_when_it_did(
    pair: list[Member],
) -> None:
    deployed = pair[0].trader.deploy(ON_ITS_OWN)
    model, run = deployed["modelId"], deployed["runId"]
    holder, other = holder_and_other(pair, model)
    holder.server.end(signal.SIGKILL)
    (holder.server.home.data / "state" / model / "go").touch()
    wait_for(lambda: "finished" in states(journal_of(holder, run)))
    wrote = states(journal_of(holder, run))
    # Another server looks meanwhile, until it knows that nobody can tell.
    wait_for(lambda: other.newest(model)["silent_host"] == holder.name)
    assert other.newest(model)["ended_at"] is None
    up_again(holder)
    ended = other.trader.wait_for_end(deployed)
    assert (ended["state"], ended["exit_code"]) == ("exited", 0)
    assert ended["ended_at"] == pytest.approx(wrote["finished"], abs=0.001)
    assert ended["started_at"] == pytest.approx(wrote["started"], abs=0.001)
    lifecycle = other.trader.lifecycle(model)
    assert lifecycle["end_at"] == ended["ended_at"]


def test_a_model_that_was_killed_with_its_server_ended_when_it_was_last_alive(
    pair: list[Member],
) -> None:
    deployed = pair[0].trader.backtest(
        "import time\ndef backtest():\n    print('up', flush=True)\n    time.sleep(600)\n"
    )
    model, run = deployed["modelId"], deployed["runId"]
    wait_for(lambda: pair[0].trader.run(model, run)["state"] == "running")
    where = pair[0].trader.run(model, run)["host"]
    holder, other = sorted(pair, key=lambda one: one.name != where)
    before = time.time()
    holder.server.end(signal.SIGKILL)
    kill_shim(holder.server.home.data / "runs" / run / "shim.json")
    killed = time.time()
    wait_for(lambda: other.trader.run(model, run)["silent_host"] == holder.name)
    wait_for(lambda: time.time() > killed + LOOKED_LATER)
    up_again(holder)
    ended = other.trader.wait_for_end(deployed)
    assert ended["state"] == "crashed"
    assert before - WATCHED_EVERY - 5.0 < ended["ended_at"] <= killed


def test_a_run_that_was_declared_gone_gets_its_true_end_when_its_host_is_back(
    pair: list[Member],
) -> None:
    deployed = pair[0].trader.deploy(ON_ITS_OWN)
    model, run = deployed["modelId"], deployed["runId"]
    holder, other = holder_and_other(pair, model)
    holder.server.end(signal.SIGKILL)
    wait_for(lambda: other.hosts()[holder.name]["state"] == "unreachable")
    seen = other.hosts()[holder.name]["silent_since"]
    other.command("hosts", "forget", holder.name, "--yes")
    ended = other.trader.wait_for_end(deployed)
    assert ended["ended_at"] == pytest.approx(max(seen, ended["started_at"]), abs=1.0)
    (holder.server.home.data / "state" / model / "go").touch()
    wait_for(lambda: "finished" in states(journal_of(holder, run)))
    wrote = states(journal_of(holder, run))["finished"]
    up_again(holder)
    wait_for(lambda: other.trader.run(model, run)["ended_at"] != ended["ended_at"])
    corrected = other.trader.run(model, run)
    assert (corrected["ended_at"], corrected["exit_code"]) == (pytest.approx(wrote, abs=0.001), 0)
    other.trader.wait_for_line(model, "is back. Run")
    other.trader.wait_for_line(model, "End of the lines that arrived late")
