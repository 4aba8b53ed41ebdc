"""What can be said of the data of a server that is down, and the advice that goes with it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tapeline.cli.operator import stored_findings
from tapeline.cli.operator.finding import Finding
from tapeline.settings import Settings
from tests import needs
from tests.store.disk import small_disk


def seen(data: Path) -> dict[str, Finding]:
    return {one.topic: one for one in stored_findings.of_data(Settings(data=data))}


@needs.root("needs root, for a disk of its own")
def test_a_full_or_read_only_disk_is_to_be_mended_and_no_backup_restored(
    tmp_path: Path, sqlite_template: Path
) -> None:
    with small_disk(tmp_path / "disk") as disk:
        shutil.copy(sqlite_template, disk.path / "tapeline.db")
        assert seen(disk.path)["database"].state == "good"
        disk.fill()
        full = seen(disk.path)["database"]
        assert full.state == "bad"
        assert full.fix.startswith("Free some space on its disk first")
        assert "restore" not in full.fix.lower()
        disk.free()
        assert seen(disk.path)["database"].state == "good"


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:5_000])


def overwrite(file: Path) -> None:
    file.write_bytes(b"not a database" * 1_000)


@pytest.mark.parametrize("damage", [cut, overwrite])
def test_a_malformed_database_calls_for_a_backup(
    damage: Callable[[Path], None], tmp_path: Path, sqlite_template: Path
) -> None:
    shutil.copy(sqlite_template, tmp_path / "tapeline.db")
    damage(tmp_path / "tapeline.db")
    assert seen(tmp_path)["database"].fix == "Restore a backup"


def test_a_key_that_is_damaged_is_named_with_the_command_to_type(
    tmp_path: Path, sqlite_template: Path
) -> None:
    shutil.copy(sqlite_template, tmp_path / "tapeline.db")
    assert "keys" not in seen(tmp_path), "an empty database needs none"
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "store.key").touch()
    found = seen(tmp_path)["keys"]
    assert found.state == "bad"
    assert found.says == "The key store.key, with which secrets are encrypted, is empty or damaged"
    assert found.fix.endswith(f"tapeline keys replace-lost --data {tmp_path}")
