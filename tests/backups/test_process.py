"""A scheduled backup that is killed, runs out of space or lacks a key leaves nothing under a final
name."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tapeline.backups.drafts import BackupFailed
from tapeline.backups.process import Answer, Order, carry_out
from tapeline.errors import Problem
from tests import needs
from tests.backups.conftest import Installation, gets, names_in, refused
from tests.waiting import SLOW_MACHINE, wait_for

# Kills itself like `kill -9`, at the first moment that Python reports this event with this text.
KILLED_AT = """
import os, signal, sys
event, text = sys.argv[1:]
def look(name, arguments):
    if name == event and text in repr(arguments):
        os.kill(os.getpid(), signal.SIGKILL)
from tapeline.backups import process
sys.addaudithook(look)
process.main()
"""


def order(installation: Installation, folder: Path, **more: object) -> Order:
    chosen = installation.settings
    made = Order(
        data=str(chosen.data),
        database=chosen.database,
        folder=str(folder),
        keep="1 last",
        recipients="",
        installation="abc",
        parent=os.getpid(),
    )
    return msgspec.structs.replace(made, **more)


def started(command: list[str], given: Order) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        command,
        input=msgspec.json.encode(given),
        capture_output=True,
        timeout=SLOW_MACHINE,
        check=False,
    )


STAGES = [
    ("os.mkdir", ".part"),  # its draft
    ("shutil.copyfile", "blobs"),
    ("sqlite3.connect", ".part"),  # the database is copied; the check opens it
    ("os.rename", ".part"),  # complete, but not named
    ("os.rmdir", "20260101T000000Z"),  # named; an old one is being removed
]


@pytest.mark.parametrize(("event", "text"), STAGES)
def test_a_killed_backup_leaves_nothing_half_written_and_the_next_one_clears_up(
    event: str, text: str, on_sqlite: Installation, tmp_path: Path
) -> None:
    archive = on_sqlite.settings.data / "blobs" / "an-archive"
    archive.parent.mkdir(exist_ok=True)
    archive.touch()
    old = "tapeline-abc-20260101T000000Z"
    (tmp_path / old / "keys").mkdir(parents=True)
    given = order(on_sqlite, tmp_path)
    killed = started([sys.executable, "-c", KILLED_AT, event, text], given)
    assert killed.returncode == -9, killed.stderr
    named = [one for one in names_in(tmp_path) if not one.startswith(".")]
    if event == "os.rmdir":
        assert len(named) == 1
        assert old not in named
    else:
        assert named == [old], "the old one stays until there is a new one"
    second = int(time.time())
    wait_for(lambda: int(time.time()) > second)  # their names have seconds
    carry_out(given)
    assert not [one for one in names_in(tmp_path) if one.startswith(".")]
    assert len(names_in(tmp_path)) == 1


def test_a_draft_of_a_process_that_lives_is_left_alone(
    on_sqlite: Installation, tmp_path: Path
) -> None:
    import fcntl

    draft = tmp_path / ".tapeline-abc-20260101T000000Z.1.part"
    draft.mkdir()
    descriptor = os.open(draft, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    carry_out(order(on_sqlite, tmp_path))
    assert draft.is_dir()
    os.close(descriptor)


def with_a_secret(installation: Installation, data: Path) -> Installation:
    """A copy that may be changed, in which both keys are needed."""
    shutil.copytree(installation.settings.data, data, ignore=shutil.ignore_patterns("runs"))
    with closing(sqlite3.connect(data / "tapeline.db")) as database, database:
        row = (installation.model_id, "TOKEN", "AAAA", 0.0)
        names = "model_id, name, value, changed_at"
        database.execute(f"insert into secrets ({names}) values (?, ?, ?, ?)", row)
    return replace(installation, settings=replace(installation.settings, data=data))


@pytest.mark.parametrize("key", ["store.key", "tape-signing.key"])
def test_a_backup_without_a_key_fails_names_it_and_pushes_no_older_one_out(
    key: str, on_sqlite: Installation, tmp_path: Path
) -> None:
    installation = with_a_secret(on_sqlite, tmp_path / "data")
    file, backups = installation.settings.data / "keys" / key, tmp_path / "backups"
    carry_out(order(installation, backups))
    before = names_in(backups)
    for lose, trouble in ((file.unlink, "missing"), (file.touch, "empty or damaged")):
        lose()
        said = rf"The key {key}, with which .* is {trouble}\. Put .* tapeline keys replace-lost"
        with pytest.raises(BackupFailed, match=said):
            carry_out(order(installation, backups))
        assert names_in(backups) == before
        by_hand = refused("backup", str(tmp_path / "by-hand"), *installation.options)
        assert f"The key {key}, with which" in by_hand
        kept = str(tmp_path / f"kept-{trouble}")
        told = gets("backup", kept, *installation.options, "--keep-broken")
        assert f"is {trouble}." in told["broken"][0]


def test_a_database_that_is_gone_is_not_backed_up_as_an_empty_one(
    on_sqlite: Installation, tmp_path: Path
) -> None:
    installation = with_a_secret(on_sqlite, tmp_path / "data")
    carry_out(order(installation, tmp_path / "backups"))
    before = names_in(tmp_path / "backups")
    for part in installation.settings.data.glob("tapeline.db*"):
        part.unlink()
    with pytest.raises(Problem, match=r"tapeline.db is gone"):
        carry_out(order(installation, tmp_path / "backups"))
    assert names_in(tmp_path / "backups") == before
    said = refused("backup", str(tmp_path / "by-hand"), *installation.options)
    assert said.startswith("There is no database in")
    assert not (installation.settings.data / "tapeline.db").exists()


def test_archives_that_are_gone_are_not_taken_for_archives_in_object_storage(
    on_sqlite: Installation, tmp_path: Path
) -> None:
    installation = with_a_secret(on_sqlite, tmp_path / "data")
    shutil.rmtree(installation.settings.data / "blobs")
    with pytest.raises(BackupFailed, match="The folder blobs of the data directory"):
        carry_out(order(installation, tmp_path / "backups"))
    assert carry_out(order(installation, tmp_path / "backups", blobs="s3://bucket")).tapes == 1


@needs.root("needs root, for a disk of its own")
@pytest.mark.parametrize(
    ("disk", "said"), [("size=64k", "No space left on device"), ("ro", "Read-only file system")]
)
def test_a_disk_that_takes_nothing_is_said(
    disk: str, said: str, on_sqlite: Installation, tmp_path: Path
) -> None:
    script = f'mount -t tmpfs -o {disk} none {tmp_path} && exec "$@"'
    command = [sys.executable, "-m", "tapeline.backups.process"]
    ended = started(
        ["unshare", "--mount", "sh", "-c", script, "sh", *command], order(on_sqlite, tmp_path)
    )
    answer = msgspec.json.decode(ended.stdout, type=Answer)
    assert answer.made is None
    assert said in answer.why


def test_a_process_whose_server_is_gone_does_nothing(
    on_sqlite: Installation, tmp_path: Path
) -> None:
    ended = started(
        [sys.executable, "-m", "tapeline.backups.process"],
        order(on_sqlite, tmp_path / "backups", parent=1),
    )
    assert ended.returncode == 1
    assert names_in(tmp_path) == []
