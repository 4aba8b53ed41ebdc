"""`tapeline backup` onto a disk that fails: one sentence about it, and nothing is left there."""

import shutil
from pathlib import Path

import pytest

from tests import needs
from tests.acceptance.conftest import Home

pytestmark = needs.root("needs root, for a disk of its own")


def backup_on(disk: str, home: Home) -> str:
    """What the command says where this disk is the target; the folder must be empty after it."""
    place = home.path / "disk"
    place.mkdir(exist_ok=True)
    script = f'mount -t tmpfs -o {disk} none {place} && ("$@"; code=$?; ls -A {place}; exit $code)'
    around = ("unshare", "--mount", "sh", "-c", script, "sh")
    ended = home.run_in(*around, command=("backup", f"{place}/bk"))
    assert (ended.returncode, ended.stdout) == (1, "")
    return ended.stderr.removeprefix(f"tapeline: {place}/bk cannot be written: ")


@pytest.fixture
def home_with_data(home: Home, sqlite_template: Path) -> Home:
    home.data.mkdir(mode=0o700)
    shutil.copy(sqlite_template, home.data / "tapeline.db")
    return home


def test_a_full_disk_is_said_and_what_to_do(home_with_data: Home) -> None:
    full = "No space left on device. Free some space on it, or choose another place.\n"
    assert backup_on("size=64k", home_with_data) == full
    (home_with_data.data / "blobs").mkdir()
    (home_with_data.data / "blobs/archive").write_bytes(bytes(500_000))
    assert backup_on("size=64k", home_with_data) == full


def test_a_read_only_disk_is_said_and_not_the_data_directory(home_with_data: Home) -> None:
    said = backup_on("ro", home_with_data)
    assert said.startswith("Read-only file system. Mount it writable")
    assert "--data" not in said
