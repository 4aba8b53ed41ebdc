"""Several servers on one PostgreSQL, as one installation."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapeline.ids import new_id
from tests.acceptance.conftest import Home, Server
from tests.conftest import database_url, run_sql
from tests.waiting import wait_for

TOKEN = "m" * 32


@pytest.fixture
def pair(tmp_path: Path, postgres_server: str) -> Iterator[list[Server]]:
    """Two servers with the same keys and blobs, each with a data directory of its own."""
    name = f"t_{new_id()}"
    run_sql(postgres_server, f"create database {name}")
    shared = {
        "TAPELINE_DATABASE": database_url(postgres_server, name),
        "TAPELINE_BLOBS": f"file://{tmp_path}/blobs",
        "TAPELINE_METRICS_TOKEN": TOKEN,
    }
    (tmp_path / "blobs").mkdir()
    homes = [Home(tmp_path / one) for one in ("first", "second")]
    try:
        for home in homes:
            home.path.mkdir()
            home.data.mkdir(mode=0o700)
        first = homes[0].up(**shared)
        (homes[1].data / "keys").symlink_to(homes[0].data / "keys")
        yield [first, homes[1].up(**shared)]
    finally:
        for home in homes:
            home.close()


def leads(server: Server) -> bool:
    with server.client() as client:
        page = client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
    return "tapeline_leads 1.0" in page.text


def test_another_server_leads_when_the_leader_is_frozen_and_goes_on_when_it_wakes(
    pair: list[Server],
) -> None:
    wait_for(lambda: any(map(leads, pair)))
    leader, other = sorted(pair, key=leads, reverse=True)
    assert not leads(other)
    os.kill(leader.process.pid, signal.SIGSTOP)
    try:
        wait_for(lambda: leads(other))
    finally:
        os.kill(leader.process.pid, signal.SIGCONT)
    assert not leads(leader), "its lease ended while it was frozen"
    assert leads(other)
    other.end(signal.SIGTERM)
    wait_for(lambda: leads(leader))
