"""Writes a backup under its final name: a folder, or one encrypted file."""

from pathlib import Path
from typing import NamedTuple

from tapeline.backups import drafts, encrypting, making, needed_keys, walking
from tapeline.backups.checking import Checked
from tapeline.backups.drafts import BackupFailed
from tapeline.settings import Settings

SCRATCH = "backing-up"


class Written(NamedTuple):
    checked: Checked | None
    size: int
    left_out: str
    """A sentence about what of models is not in it; empty if all is."""


def folder(
    chosen: Settings,
    target: Path,
    *,
    tapes: int | None = None,
    keep_broken: bool = False,
    with_database: bool = True,
) -> Written:
    with drafts.named_when_complete(target) as draft:
        checked, left_out = making.make(chosen, draft, tapes=tapes, with_database=with_database)
        if not keep_broken:
            _refuse_useless(checked, draft)
        size = sum(
            one.stat(follow_symlinks=False).st_size
            for one in walking.entries(draft)
            if not one.is_dir(follow_symlinks=False)
        )
    return Written(checked, size, left_out)


def encrypted(
    chosen: Settings,
    target: Path,
    recipients: str,
    *,
    tapes: int | None = None,
    keep_broken: bool = False,
    with_database: bool = True,
) -> Written:
    """The readable copy is made and checked in the data directory, which is as secret as the copy;
    never where the backups are."""
    keys = encrypting.public_keys(recipients)
    here = chosen.data / SCRATCH
    here.mkdir(mode=0o700, exist_ok=True)
    drafts.sweep(here, ".*")
    with drafts.scratch(here / target.name) as plain:
        checked, left_out = making.make(chosen, plain, tapes=tapes, with_database=with_database)
        if not keep_broken:
            _refuse_useless(checked, plain)
        return Written(checked, encrypting.pack(plain, target, keys), left_out)


def _refuse_useless(checked: Checked | None, draft: Path) -> None:
    """One that `restore` would refuse must not get a name: it would push a good one out."""
    lacking = checked.lacking if checked else needed_keys.lacking(None, draft / "keys")
    if lacking:
        raise BackupFailed(
            f"No server could go on with this backup. {' '.join(lacking)} {needed_keys.FIX}"
        )
    if checked:
        checked.refuse_broken()
