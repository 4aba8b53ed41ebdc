"""Holds: files that work on a full disk, survive damage, and are gone when they are lifted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tapeline.runs import holds
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
def test_a_full_disk_can_be_put_on_hold(disk: Disk) -> None:
    holds.reserve(disk.path)
    disk.fill()
    holds.put(disk.path, holds.ALL, "The disk is full.")
    found = holds.on_all(disk.path)
    assert found is not None
    assert found.why == "The disk is full."
