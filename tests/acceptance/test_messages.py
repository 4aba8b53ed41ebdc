"""A server that is killed in the middle of telling somebody."""

import signal
import sqlite3
import time
from pathlib import Path

import msgspec
import psutil

from tests.acceptance.conftest import Home
from tests.acceptance.traders import Trader
from tests.receivers import http_receiver
from tests.waiting import SLOW_MACHINE, wait_for

SETTINGS = {"TAPELINE_ALERTS_MAY_REACH": "127.0.0.1"}


def delivered(data: Path) -> list[bool]:
    with sqlite3.connect(data / "tapeline.db", timeout=SLOW_MACHINE) as connection:
        rows = connection.execute("select delivered_at from outbox order by made_at").fetchall()
    return [at is not None for (at,) in rows]


def fire(data: Path, project_id: str, channel_id: str) -> None:
    """What a rule that fires writes, in one transaction."""
    now = time.time()
    with sqlite3.connect(data / "tapeline.db", timeout=SLOW_MACHINE) as connection:
        connection.execute(
            "insert into incidents (id, project_id, subject, name, severity, spec, said, began_at,"
            " fired_at) values ('i1', ?, ?, 'Silence', 'warning', '{}', 'It is silent.', ?, ?)",
            (project_id, project_id, now, now),
        )
        connection.execute(
            "insert into outbox (id, incident_id, channel_id, what, step, made_at, due_at,"
            " attempts) values ('m1', 'i1', ?, 'fired', 0, ?, ?, 0)",
            (channel_id, now, now),
        )


def test_a_message_survives_that_its_server_is_killed_and_means_the_same(home: Home) -> None:
    with http_receiver() as receiver:
        server = home.up(**SETTINGS)
        trader = Trader(server)
        body = {"name": "hook", "address": f"{receiver.url}/hook"}
        made = trader.post(f"/api/projects/{trader.user_id}/channels", json=body)
        receiver.answers.clear()
        fire(home.data, trader.user_id, made["channel_id"])
        wait_for(lambda: receiver.received)
        senders = psutil.Process(server.process.pid).children(recursive=True)
        server.end(signal.SIGKILL)
        _, alive = psutil.wait_procs(senders, timeout=30)
        assert not alive, "whatever sends ends with its server"
        assert delivered(home.data) == [False]
        receiver.answers.set()

        server = home.up(**SETTINGS)
        wait_for(lambda: delivered(home.data) == [True])
        server.end(signal.SIGKILL)
        server = home.up(**SETTINGS)
        trader.meet(server)
        shown = trader.get("/api/incidents/i1")
        assert [one["what"] for one in shown["timeline"]] == ["told"]
        first, second = receiver.received
        assert first.headers["tapeline-message"] == second.headers["tapeline-message"] == "m1"
        said = [msgspec.json.decode(one.body) for one in (first, second)]
        assert said[0] | {"sent_at": 0} == said[1] | {"sent_at": 0}
        trader.client.close()
