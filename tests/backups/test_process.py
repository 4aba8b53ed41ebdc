"""A scheduled backup that is killed or runs out of space leaves nothing under a final name."""

import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from tapeline.backups.process import Answer, Order, carry_out
from tests import needs
from tests.acceptance.conftest import SLOW_MACHINE, wait_for
from tests.backups.conftest import Installation, names_in

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
    ("shutil.rmtree", "20260101T000000Z"),  # named; an old one is being removed
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
    if event == "shutil.rmtree":
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
