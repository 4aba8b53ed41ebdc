"""Holds: files that work on a full disk, survive damage, and are gone when they are lifted."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal

from tapeline.background import Background
from tapeline.polling import poll
from tapeline.runs.holding import hold_socket, holds
from tapeline.runs.holding.hold_socket import Request
from tapeline.runs.holding.server_holds import ServerHolds
from tests import needs
from tests.store.disk import Disk


def test_a_hold_is_there_until_it_is_lifted(tmp_path: Path) -> None:
    assert holds.on_all(tmp_path) is None
    holds.put(tmp_path, holds.ALL, "Maintenance.")
    holds.put(tmp_path, "somemodel", "It went mad.")
    assert set(holds.of(tmp_path)) == {holds.ALL, "somemodel"}
    found = holds.on_all(tmp_path)
    assert found is not None
    assert found.sentence().endswith("UTC: Maintenance.")
    holds.lift(tmp_path)
    holds.lift(tmp_path)
    assert set(holds.of(tmp_path)) == {"somemodel"}


def test_a_damaged_hold_still_holds(tmp_path: Path) -> None:
    holds.put(tmp_path, holds.ALL, "Maintenance.")
    file = tmp_path / holds.FOLDER / holds.ALL
    file.write_bytes(bytes(50))
    assert holds.on_all(tmp_path) is not None
    file.unlink()
    file.mkdir()
    assert holds.on_all(tmp_path) is not None


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    (tmp_path / "disk").mkdir()
    made = Disk(tmp_path / "disk", 1)
    yield made
    made.unmount()


@needs.root("mounts a disk")
def test_a_full_disk_can_be_put_on_hold_as_often_as_it_is_full(disk: Disk) -> None:
    for _ in range(2):
        holds.reserve(disk.path)
        disk.fill()
        holds.put(disk.path, holds.ALL, "The disk is full.")
        found = holds.on_all(disk.path)
        assert found is not None
        assert found.why == "The disk is full."
        holds.lift(disk.path)
        disk.free()


@needs.root("mounts a disk")
def test_a_full_disk_takes_more_holds_than_it_has_reserves(disk: Disk) -> None:
    holds.reserve(disk.path)
    disk.fill()
    for name in ("first", "second", holds.ALL):
        holds.put(disk.path, name, "It went mad.")
    disk.fill()
    holds.put(disk.path, holds.ALL, "Again.")
    assert {name: one.why for name, one in holds.of(disk.path).items()} == {
        "first": "It went mad.",
        "second": holds.UNTOLD,
        holds.ALL: holds.UNTOLD,
    }
    with pytest.raises(OSError, match="No space left"):
        holds.reserve(disk.path)


@needs.root("mounts a disk")
def test_a_hold_that_cannot_be_written_names_the_cause(disk: Disk) -> None:
    (disk.path / holds.FOLDER).touch()
    disk.fill()
    with pytest.raises(OSError, match="File exists"):
        holds.put(disk.path, holds.ALL, "Maintenance.")
    (disk.path / holds.FOLDER).unlink()
    disk.remount("nr_inodes=2")
    with pytest.raises(OSError, match="No space left"):  # and not that there is no reserve
        holds.put(disk.path, holds.ALL, "Maintenance.")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerHolds]:
    background = Background()
    made = ServerHolds(tmp_path, background)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(background.running()),
    ):
        assert poll(lambda: hold_socket.ask(tmp_path) is not None, within=60, every=0.01)
        yield made
    made.close()


def test_a_server_is_told_of_a_hold_and_writes_it_once_the_disk_takes_it(
    server: ServerHolds, tmp_path: Path
) -> None:
    mine = holds.new("The disk is read-only.")
    told = hold_socket.ask(tmp_path, Request(holds.ALL, mine))
    assert told == {holds.ALL: mine}
    assert server.on_all() == mine
    server.keep()
    assert holds.on_all(tmp_path) == mine
    assert hold_socket.ask(tmp_path) == {}
    server.lift(holds.ALL)
    assert server.on_all() is None


def test_a_hold_that_the_disk_never_took_can_be_lifted(server: ServerHolds, tmp_path: Path) -> None:
    with replaced(tmp_path / holds.FOLDER / "somemodel"):
        mine = holds.new("It went mad.")
        hold_socket.ask(tmp_path, Request("somemodel", mine))
        with pytest.raises(IsADirectoryError):
            server.keep()
        told = hold_socket.ask(tmp_path, Request("somemodel"))
    assert (told, server.all()) == ({}, {})


def test_a_server_keeps_its_reserve_at_all_times(server: ServerHolds, tmp_path: Path) -> None:
    reserve = tmp_path / holds.FOLDER / holds.RESERVE
    for content in (None, b"cut"):
        server.keep()
        assert reserve.stat().st_size == holds.RESERVED
        reserve.unlink()
        if content:
            reserve.write_bytes(content)
    server.keep()
    assert reserve.stat().st_size == holds.RESERVED


def test_without_a_server_nobody_is_told(tmp_path: Path) -> None:
    assert hold_socket.ask(tmp_path, Request(holds.ALL, holds.new("Anything."))) is None


@contextmanager
def replaced(path: Path) -> Iterator[None]:
    """A folder stands where a file should be written."""
    path.mkdir()
    yield
    path.rmdir()
