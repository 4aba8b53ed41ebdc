"""A backtest is followed until it has ended, whichever run does it."""

import sqlite3
from contextlib import closing

import pytest

from tapeline.store.tables.runs import runs
from tests import needs
from tests.cli.conftest import Person, until
from tests.cli.model.test_models import write_model
from tests.waiting import SLOW_MACHINE

pytestmark = [pytest.mark.heavy, needs.root("needs a host where models run")]

SCRIPT = """
import os, time
def backtest():
    print("run", os.environ["TAPELINE_RUN_ID"], flush=True)
    while os.environ["TAPELINE_RUN_ID"] != "second":
        time.sleep(0.1)
"""


def test_a_backtest_that_goes_on_as_another_run_is_followed_to_its_end(ada: Person) -> None:
    write_model(ada.at / "twice", SCRIPT)
    following = ada.begins("backtest", "twice", "--new")
    said = until(following, "run ")
    first = said.split("run ")[-1].split()[0]
    lose(ada, first)
    assert "run second" in until(following, "run second")
    following.communicate()
    assert following.returncode == 0


def lose(ada: Person, run: str) -> None:
    """As when the lease of its node has run out."""
    same = {one.name: one.name for one in runs.c}
    own = {"id": "'second'", "created_at": "created_at + 1", "state": "'pending'"}
    own |= dict.fromkeys(("host", "fence", "started_at"), "null") | {"journal": "0"}
    names, values = ", ".join(same), ", ".join((same | own).values())
    again = f"insert into runs ({names}) select {values} from runs where id = ?"
    end = "update runs set state = 'crashed', ended_at = started_at + 1, fence = null where id = ?"
    tables = ada.server.home.data / "tapeline.db"
    with closing(sqlite3.connect(tables, timeout=SLOW_MACHINE)) as database, database:
        database.execute(again, [run])
        database.execute(end, [run])
