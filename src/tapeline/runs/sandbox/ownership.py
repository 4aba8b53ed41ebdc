"""Gives the folder of a model to the user that the model runs as.

A copy that was made without owners belongs to the person who copied it, and the model could not
write there. Never follows a link: the content is the model's.
"""

import os
import stat
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path

from tapeline.runs.sandbox.foreign_copies import Parts, Place, is_too_long

FIRST_UID = 1_900_000_000  # far from the ids of people, services and containers


def uid_of(number: int) -> int | None:
    """Of the model with this number, as root; any other user runs all models as itself."""
    return FIRST_UID + number if os.geteuid() == 0 else None


def give(folder: Path, uid: int) -> int:
    """Give everything in it to a user; return how much did not belong to them. A file with other
    names is left alone: they may be in folders of others. What goes meanwhile is no error: another
    run of the model may be writing there."""
    given = 0
    waiting: list[Parts] = [()]
    with ExitStack() as open_ones:
        place = Place(folder)
        open_ones.callback(place.close)
        while waiting:
            parts = waiting.pop()
            with suppress(FileNotFoundError) if parts else nullcontext():
                opened = place.go(parts)
                if os.fstat(opened).st_uid != uid:
                    os.fchown(opened, uid, uid)
                    given += 1
                for name in os.listdir(opened):  # noqa: PTH208 - of a descriptor
                    with suppress(FileNotFoundError):
                        status = os.stat(name, dir_fd=opened, follow_symlinks=False)
                        if not stat.S_ISDIR(status.st_mode):
                            given += _is_given(opened, name, status, uid)
                        elif not is_too_long((*parts, name)):  # which no copy holds
                            waiting.append((*parts, name))
    return given


def _is_given(folder: int, name: str, status: os.stat_result, uid: int) -> bool:
    if status.st_uid == uid or status.st_nlink != 1:
        return False
    os.chown(name, uid, uid, dir_fd=folder, follow_symlinks=False)
    return True
