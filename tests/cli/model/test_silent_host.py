"""What people are told about a model whose host is silent: by every command that shows it."""

import sqlite3
import subprocess
from contextlib import closing

import pytest

from tests import needs
from tests.cli.conftest import Person
from tests.cli.model.test_models import write_model
from tests.waiting import SLOW_MACHINE, wait_for

pytestmark = [pytest.mark.heavy, needs.root("needs a host where models run")]

ALIVE = "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.1)\n"
SILENT = "host gone, which does not answer and has been silent since 2027-01-15 08:00:00 UTC"


def test_a_silent_host_is_named_wherever_its_model_is_shown(ada: Person) -> None:
    write_model(ada.at / "lost", ALIVE)
    made = ada.gets("deploy", "lost", "--new", "--name", "Lost", "--detach")
    model, run = made["modelId"], made["runId"]
    wait_for(lambda: ada.gets("runs", "Lost")[0]["state"] == "running")
    write_model(ada.at / "other", ALIVE)
    here = ada.gets("deploy", "other", "--new", "--name", "Other")["run"]["host"]
    assert "HOST" not in ada.in_terminal("ps", columns=400)[1]
    tables = ada.server.home.data / "tapeline.db"
    with closing(sqlite3.connect(tables, timeout=SLOW_MACHINE)) as database, database:
        database.execute("update runs set host = 'gone' where id = ?", [run])
        database.execute("delete from samples where run_id = ?", [run])
        names = "run_id, at, memory, cpu"
        sample = f"insert into samples ({names}) values (?, 1800000000, 17000000, 0.5)"
        database.execute(sample, [run])
    shown = ada.run("ps", "--running")
    assert "unreachable" in shown.stdout
    assert "17 MB" not in shown.stdout, "nobody knows what it uses"
    assert all(one in ada.in_terminal("ps", columns=400)[1] for one in ("HOST", "gone", here))
    assert SILENT in shown.stderr
    assert f"tapeline stop --here {model}" in shown.stderr
    narrow = " ".join(ada.in_terminal("runs", "Lost", TERM="dumb")[1].split())
    assert f"{run}: It belongs to the {SILENT}" in narrow, "whole, below the table"
    assert SILENT in ada.run("logs", "Lost").stderr, "why no more lines come"

    assert "gone" in ada.fails(5, "stop", "Lost")
    (stopped,) = ada.gets("runs", "Lost")
    assert (stopped["state"], stopped["silent_host"], stopped["silent_since"]) == (
        "stopping",
        "gone",
        1_800_000_000.0,
    )
    started = ada.begins("start", "Lost")
    try:
        assert f"It waits for the end of run {run} on the {SILENT}" in told(started)
    finally:
        started.terminate()
        started.communicate()
    waiting = ada.gets("runs", "Lost")[0]
    assert (waiting["silent_host"], SILENT in waiting["trouble"]) == ("gone", True)


def told(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    return next(line for line in process.stderr if "It waits" in line)
