"""Scheduled backups: made by the server, checked, rotated, and honest about what went wrong."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tapeline import compose
from tapeline.background import Background
from tapeline.backups import records, rotation
from tapeline.backups.keeper import Keeper
from tapeline.backups.manifest import Content
from tapeline.backups.records import HOUR, Failed, Made, Standing
from tapeline.health.storing.backup import judged
from tapeline.settings import Settings
from tapeline.store import facts
from tests.backups.conftest import Installation, forge, gets, installed, names_in
from tests.conftest import run, running
from tests.waiting import wait_for

NOW = 1_800_000_000.0
MADE = Made(NOW, "/backup/one", "here", 1.0, 1000, Content(1, 2, NOW), 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backups"


@contextmanager
def kept(
    installation: Installation, folder: Path, *, on_hold: bool = False, keep: str = "2 last"
) -> Iterator[Keeper]:
    """The keeper of a server that has just started."""
    chosen = replace(installation.settings, backup_folder=str(folder), backup_keep=keep)
    with compose.open_store(chosen) as store:
        yield Keeper(chosen, store, Background(), lambda: on_hold)


@pytest.fixture(autouse=True)
def without_backups(request: pytest.FixtureRequest) -> None:
    """Tests share an installation; each begins without a backup."""
    for name in ("installation", "on_sqlite"):
        if name in request.fixturenames:
            shared: Installation = request.getfixturevalue(name)
            remember(shared, None)


def remember(installation: Installation, made: Made | None) -> None:
    with compose.open_store(installation.settings) as store:
        for name in (records.LAST, records.FAILURE):
            store.write_now(facts.forget, name)
        if made is not None:
            store.write_now(records.keep, made)


def aged(made: Made) -> Made:
    """As if it had been made a day earlier."""
    return msgspec.structs.replace(made, at=made.at - 24 * HOUR, steady=made.since - 24 * HOUR)


def turn(of: Keeper) -> Standing:
    run(of.turn())
    return of.standing


def test_a_backup_is_made_checked_and_can_be_restored(
    installation: Installation, folder: Path, tmp_path: Path
) -> None:
    with kept(installation, folder) as keeper:
        standing = turn(keeper)
    assert standing.failure is None
    assert standing.last is not None
    (name,) = names_in(folder)
    assert standing.last.path == str(folder / name)
    assert standing.last.tapes == 1
    told = gets("restore", standing.last.path, "--data", str(tmp_path / "new"))
    assert told["events"] == standing.last.content.events


def test_the_next_one_waits_for_its_time_and_old_ones_go(
    on_sqlite: Installation, folder: Path
) -> None:
    with kept(on_sqlite, folder) as keeper:
        last = turn(keeper).last
        assert turn(keeper).last == last
        assert last is not None
        first = Path(last.path).name
        other = first.replace(first.split("-")[1], "another")
        old = [first.rpartition("-")[0] + f"-2026010{day}T000000Z" for day in (1, 2, 3)]
        for name in (*old, other, f".{first}.999.part"):  # the last of a process that was killed
            (folder / name / "keys").mkdir(parents=True)
        remember(on_sqlite, aged(last))
        wait_for(lambda: int(time.time()) > int(last.at))  # their names have seconds
        again = turn(keeper).last
        assert again is not None
    assert names_in(folder) == sorted([first, Path(again.path).name, other])


def test_a_clock_that_jumps_makes_none_and_hides_none(
    on_sqlite: Installation, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jump, real = 0.0, time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    with kept(on_sqlite, folder) as keeper:
        first = turn(keeper).last
        for days in (3, 0, -3):
            jump = days * 24 * HOUR
            assert turn(keeper).last == first
            age = keeper.standing.age(keeper.now())
            assert age is not None
            assert age < HOUR


def test_a_backup_of_a_clock_that_was_ahead_does_not_push_out_the_next(
    on_sqlite: Installation, folder: Path
) -> None:
    with kept(on_sqlite, folder, keep="1 last") as keeper:
        made = turn(keeper).last
        assert made is not None
        at = time.time() + 24 * HOUR
        ahead = Path(made.path).with_name(
            rotation.name_for(made.path.split("-")[-2], at, encrypted=False)
        )
        Path(made.path).rename(ahead)
        remember(on_sqlite, msgspec.structs.replace(aged(made), at=at, path=str(ahead)))
        newest = turn(keeper).last
        assert newest is not None
    assert names_in(folder) == [Path(newest.path).name] != [ahead.name]


def test_a_failure_is_told_and_counted_and_the_next_attempt_waits(
    on_sqlite: Installation, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with kept(on_sqlite, tmp_path / "file" / "backups") as keeper:
        standing = turn(keeper)
        assert standing.last is None
        assert standing.failure is not None
        assert "cannot be written: Not a directory" in standing.failure.why
        assert standing.is_too_old(time.time())
        turn(keeper)
        assert keeper.failures == 1, "not at every look"
    (tmp_path / "file").unlink()
    with kept(on_sqlite, tmp_path / "file" / "backups") as keeper:  # after a restart
        standing = turn(keeper)
    assert standing.last is not None
    assert standing.failure is None


def test_a_broken_tape_fails_the_backup_and_pushes_out_no_older_one(
    empty: Callable[[str, Path], Settings], password_hash: str, folder: Path, tmp_path: Path
) -> None:
    broken = installed(empty("sqlite", tmp_path / "data"), password_hash)
    forge(tmp_path / "data")
    with kept(broken, folder) as keeper:
        standing = turn(keeper)
    assert standing.failure is not None
    assert f"The tape of model {broken.model_id} is broken" in standing.failure.why
    assert names_in(folder) == []


def test_a_copy_on_hold_makes_none(on_sqlite: Installation, folder: Path) -> None:
    """It would push the backups of its original out of a folder that both use."""
    with kept(on_sqlite, folder, on_hold=True) as keeper:
        assert turn(keeper).last is None
    assert not folder.exists()


def test_of_two_servers_on_one_database_the_second_finds_it_made(
    installations: Callable[[str], Installation], folder: Path
) -> None:
    """The one that leads makes it (`once`), and each may come to lead."""
    shared = installations("postgresql")
    remember(shared, None)
    with kept(shared, folder) as one, kept(shared, folder) as other:
        run(one.turn())
        run(other.turn())
        assert len(names_in(folder)) == 1
        last = other.standing.last
        assert last is not None
        remember(shared, None)
        wait_for(lambda: int(time.time()) > int(last.at))  # their names have seconds
        run(other.turn())
        run(one.turn())
        assert len(names_in(folder)) == 2


def test_the_server_makes_one_by_itself_and_metrics_show_it(
    on_sqlite: Installation, folder: Path
) -> None:
    chosen = replace(on_sqlite.settings, backup_folder=str(folder), metrics_token="secret")
    with running(chosen) as service, service.client(Authorization="Bearer secret") as client:
        wait_for(lambda: "tapeline_backup_age_seconds" in client.get("/metrics").text)
        text = client.get("/metrics").text
    assert "tapeline_backup_too_old 0.0" in text
    assert "tapeline_backup_failures_total 0.0" in text


def test_a_backup_that_vanished_is_noticed_everywhere_and_made_again(
    on_sqlite: Installation, folder: Path
) -> None:
    chosen = replace(on_sqlite.settings, backup_folder=str(folder))
    with kept(on_sqlite, folder) as keeper, compose.open_store(chosen) as store:
        made = turn(keeper).last
        assert made is not None
        shutil.rmtree(made.path)
        standing = store.read_now(records.standing, chosen)
        assert standing.is_gone
        assert standing.is_too_old(keeper.now())
        assert "is gone" in standing.sentence(keeper.now())
        assert judged(standing, keeper.now()).state == "red"
        again = turn(keeper)
        assert not again.is_gone
        assert again.last is not None
        assert Path(again.last.path).exists()


def test_doctor_tells_about_the_last_backup(on_sqlite: Installation, folder: Path) -> None:
    def told(**variables: str) -> tuple[str, str]:
        found = gets("doctor", *on_sqlite.options, **variables)
        (one,) = [one for one in found if one["topic"] == "backup"]
        return one["state"], one["says"]

    wanted = {"TAPELINE_BACKUP_FOLDER": str(folder)}
    assert told() == ("note", "no backups are scheduled")
    assert told(**wanted) == ("good", "no backup was made yet")
    folder.mkdir()
    remember(on_sqlite, msgspec.structs.replace(MADE, at=time.time(), path=str(folder)))
    assert told(**wanted)[0] == "good"
    remember(on_sqlite, msgspec.structs.replace(MADE, at=time.time() - 49 * HOUR))
    state, says = told(**wanted)
    assert state == "weak"
    assert "older than twice the schedule" in says


def test_a_backup_is_due_after_its_hours_and_too_old_after_twice_as_many() -> None:
    standing = Standing(24 * HOUR, MADE)
    assert not standing.is_due(NOW + 23 * HOUR)
    assert standing.is_due(NOW + 24 * HOUR)
    assert not standing.is_too_old(NOW + 47 * HOUR)
    assert standing.is_too_old(NOW + 49 * HOUR)
    assert standing.is_due(NOW - HOUR), "the clock was ahead when it was made"


def test_without_a_schedule_nothing_is_due_or_too_old() -> None:
    standing = Standing(None, MADE, Failed(NOW, "The disk is full.", "here"))
    assert not standing.is_due(NOW + 1e9)
    assert not standing.is_too_old(NOW + 1e9)
