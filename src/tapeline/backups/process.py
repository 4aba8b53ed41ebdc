"""A process of its own that makes one scheduled backup, so that no request and no write waits.

Run as `python -m tapeline.backups.process`: the order comes as JSON on standard input, because it
may have the database's password in it, and the answer goes to standard output.
"""

import os
import re
import signal
import socket
import sys
import time
from pathlib import Path
from types import FrameType

import msgspec

from tapeline import deep_folders, host_faults, lifetime
from tapeline.backups import drafts, rotation, writing
from tapeline.backups.drafts import BackupFailed
from tapeline.backups.records import Made
from tapeline.errors import Problem
from tapeline.settings import Settings

NICE = 10
CHECKED = 20  # tapes and archives


class Order(msgspec.Struct, frozen=True):
    data: str
    database: str
    folder: str
    keep: str
    recipients: str
    """Public keys; empty: not encrypted."""
    installation: str
    parent: int
    times: dict[str, float] = {}
    """When older backups were really made, by their names; others are as old as they say."""
    blobs: str = ""
    """Where archives are kept, if not in the data directory."""


class Answer(msgspec.Struct):
    made: Made | None = None
    why: str = ""


def main() -> None:
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    # A backup that outlives its server would run beside the next server's.
    signal.signal(signal.SIGTERM, _stop)
    lifetime.end_with(order.parent)
    os.nice(NICE)
    os.umask(0o077)
    try:
        answer = Answer(carry_out(order))
    except Problem as problem:
        answer = Answer(why=problem.message)
    sys.stdout.buffer.write(msgspec.json.encode(answer))


def carry_out(order: Order) -> Made:
    """Make, check, name; then remove the old ones that no rule keeps."""
    began, started, folder = time.time(), time.monotonic(), Path(order.folder)
    chosen = Settings(data=Path(order.data), database=order.database)
    _require_archives(order)
    with drafts.refusals(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        drafts.sweep(folder, re.escape(rotation.beginning(order.installation)) + ".*")
        name = rotation.name_for(order.installation, began, encrypted=bool(order.recipients))
        if order.recipients:
            written = writing.encrypted(chosen, folder / name, order.recipients, tapes=CHECKED)
        else:
            written = writing.folder(chosen, folder / name, tapes=CHECKED)
    checked = written.checked
    assert checked is not None
    return Made(
        at=began,
        path=str(folder / name),
        host=socket.gethostname(),
        seconds=time.monotonic() - started,
        bytes=written.size,
        content=checked.content,
        tapes=checked.tapes,
        remarks=f"{written.left_out} {_remove_old(folder, order, name, began)}".strip(),
    )


def _require_archives(order: Order) -> None:
    """The server has made this folder. A backup without it would look like one whose archives are
    in object storage, and would push a complete one out."""
    if not order.blobs and not (Path(order.data) / "blobs").is_dir():
        raise BackupFailed(
            "The folder blobs of the data directory, with the archives of versions, is gone. Put it"
            " back from an earlier backup."
        )


def _remove_old(folder: Path, order: Order, new: str, began: float) -> str:
    """Why some could not be removed; empty if all went well. The new one is there in any case."""
    names = [one.name for one in folder.iterdir()]
    backups = rotation.ours(names, order.installation, order.times | {new: began}, until=began)
    try:
        for name in rotation.expired(backups, order.keep):
            # Under its name it stays complete until it is gone.
            gone = drafts.draft_of(folder / name)
            (folder / name).rename(gone)
            (folder / f"{name}{rotation.DIGEST}").unlink(missing_ok=True)
            deep_folders.remove(gone)
    except OSError as error:
        fault = host_faults.fault_of(error)
        return f"Old backups could not be removed: {fault.says if fault else error.strerror}"
    return ""


def _stop(_number: int, _frame: FrameType | None) -> None:
    """So that drafts are removed."""
    sys.exit(1)


if __name__ == "__main__":
    main()
