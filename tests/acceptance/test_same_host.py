"""Several servers on one database: a copied data directory, equal names, a wrong clock."""

import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Home
from tests.acceptance.installation import Member, installation
from tests.acceptance.traders import Trader
from tests.acceptance.wall_clock import WallClock
from tests.archives import zipped
from tests.waiting import wait_for

HOUR = 3600
SCREENER = zipped(
    {"main.py": "print('ran')\n"}, type="screener", screener={"schedule": "* * * * *"}
)


@pytest.fixture
def pair(tmp_path: Path, postgres_server: str) -> Iterator[list[Member]]:
    with installation(tmp_path, postgres_server) as made:
        yield made


@pytest.fixture
def third(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "third")
    made.path.mkdir()
    yield made
    made.close()


def test_a_copied_data_folder_is_another_host_beside_its_original_and_a_third(
    pair: list[Member], third: Home
) -> None:
    first, second = pair
    sockets = shutil.ignore_patterns(".server", "events", "events.tls", "bell")
    shutil.copytree(first.server.home.data, third.data, symlinks=True, ignore=sockets)
    copy = third.up(**first.server.variables)
    member = Member(copy, first.trader, first.database)
    wait_for(lambda: len(first.hosts()) == 3)
    assert len({first.name, second.name, member.name}) == 3
    wait_for(lambda: {one["state"] for one in first.hosts().values()} == {"well"})


def test_a_server_with_the_name_of_one_that_runs_does_not_start(
    pair: list[Member], third: Home
) -> None:
    """Somebody wrote it into the file, or restored the file in its place."""
    name = pair[0].name
    third.data.mkdir(mode=0o700)
    (third.data / "keys").symlink_to(pair[0].server.home.data / "keys")
    (third.data / "host").write_text(name)
    refused = third.run("up", "--port", "0", **pair[0].server.variables)
    assert refused.returncode != 0
    said = " ".join(refused.stderr.split())
    assert f"Another server runs as this host ({name}) on this database." in said
    wait_for(lambda: pair[1].hosts()[name]["state"] == "well")


def next_run_of(member: Member, model: str) -> float:
    """While one is under way, no next one is known."""
    newest: dict[str, Any] = {}

    def is_known() -> bool:
        newest.update(member.newest(model))
        return newest["next_run_at"] is not None

    wait_for(is_known)
    return float(newest["next_run_at"])


def test_a_server_whose_clock_is_an_hour_ahead_leads_and_keeps_schedules(
    pair: list[Member], third: Home
) -> None:
    first, second = pair
    third.data.mkdir(mode=0o700)
    (third.data / "keys").symlink_to(first.server.home.data / "keys")
    clock = WallClock(third)
    (third.path / "ahead").write_text(f"+{HOUR}")
    before = first.trader.deploy("", archive=SCREENER)["modelId"]
    due = next_run_of(first, before)
    server = third.up_in(*clock.around, **first.server.variables)
    wrong = Member(server, Trader(server), first.database)
    try:
        wait_for(lambda: len(first.hosts()) == 3)
        for one in (first, wrong):
            wait_for(lambda one=one: {it["state"] for it in one.hosts().values()} == {"well"})
        after = wrong.trader.deploy("", archive=SCREENER)["modelId"]
        for model in (before, after):
            assert abs(next_run_of(first, model) - time.time()) < HOUR / 2
        assert (next_run_of(first, before) - due) % 60 == 0
        rows = wrong.trader.get("/api/health")["rows"]
        (said,) = [one["says"] for one in rows if one["name"] == "clock"]
        assert "jumped" in said or "seconds ahead of that of the database" in said
        for one in (first, second):
            one.server.end(signal.SIGTERM)
        wait_for(wrong.leads)
    finally:
        wrong.trader.client.close()
