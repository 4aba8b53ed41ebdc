"""Writes a backup under its final name: a folder, or one encrypted file."""

from pathlib import Path

from tapeline.backups import drafts, encrypting, making, needed_keys
from tapeline.backups.checking import Checked
from tapeline.backups.drafts import BackupFailed
from tapeline.settings import Settings

SCRATCH = "backing-up"


def folder(
    chosen: Settings,
    target: Path,
    *,
    tapes: int | None = None,
    keep_broken: bool = False,
    with_database: bool = True,
) -> tuple[Checked | None, int]:
    """Return what was checked, and the size."""
    with drafts.named_when_complete(target) as draft:
        checked = making.make(chosen, draft, tapes=tapes, with_database=with_database)
        if not keep_broken:
            _refuse_useless(checked, draft)
        size = sum(file.lstat().st_size for file in draft.rglob("*") if not file.is_dir())
    return checked, size


def encrypted(
    chosen: Settings,
    target: Path,
    recipients: str,
    *,
    tapes: int | None = None,
    keep_broken: bool = False,
    with_database: bool = True,
) -> tuple[Checked | None, int]:
    """The readable copy is made and checked in the data directory, which is as secret as the copy;
    never where the backups are."""
    keys = encrypting.public_keys(recipients)
    here = chosen.data / SCRATCH
    here.mkdir(mode=0o700, exist_ok=True)
    drafts.sweep(here, ".*")
    with drafts.scratch(here / target.name) as plain:
        checked = making.make(chosen, plain, tapes=tapes, with_database=with_database)
        if not keep_broken:
            _refuse_useless(checked, plain)
        return checked, encrypting.pack(plain, target, keys)


def _refuse_useless(checked: Checked | None, draft: Path) -> None:
    """One that `restore` would refuse must not get a name: it would push a good one out."""
    lacking = checked.lacking if checked else needed_keys.lacking(None, draft / "keys")
    if lacking:
        raise BackupFailed(
            f"No server could go on with this backup. {' '.join(lacking)} {needed_keys.FIX}"
        )
    if checked:
        checked.refuse_broken()
