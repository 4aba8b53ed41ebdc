"""The names of scheduled backups, and which of them are kept.

The name tells whose backup it is and when it was made, so that two installations can share a folder
and nobody has to open a backup to know its age. While the clock was wrong names were too, so the
server remembers when it really made them.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

ENCRYPTED = ".tar.age"
DIGEST = ".sha256"
_NAME = re.compile(rf"tapeline-([a-z0-9]+)-(\d{{8}}T\d{{6}}Z)(?:{re.escape(ENCRYPTED)})?")
_STAMP = "%Y%m%dT%H%M%SZ"

# A period is what the backups of one hour, day or week have in common.
_PERIODS: dict[str, Callable[[datetime], object]] = {
    "last": lambda at: at,
    "hourly": lambda at: (at.date(), at.hour),
    "daily": lambda at: at.date(),
    "weekly": lambda at: at.isocalendar()[:2],
    "monthly": lambda at: (at.year, at.month),
    "yearly": lambda at: at.year,
}


class Kept(NamedTuple):
    """A backup in a folder."""

    at: datetime
    name: str


def beginning(installation: str) -> str:
    return f"tapeline-{installation}-"


def name_for(installation: str, at: float, *, encrypted: bool) -> str:
    stamp = datetime.fromtimestamp(at, UTC).strftime(_STAMP)
    return beginning(installation) + stamp + (ENCRYPTED if encrypted else "")


def ours(
    names: Iterable[str],
    installation: str,
    times: Mapping[str, float] | None = None,
    until: float = math.inf,
) -> list[Kept]:
    """The backups of this installation, newest first. `times` says when some were really made; the
    others are older than `until`, whatever their names say."""
    known = times or {}
    mine = [one for one in map(_NAME.fullmatch, names) if one and one[1] == installation]
    stamps = {one[0]: known.get(one[0], min(_told(one[2]), until - 1)) for one in mine}
    return sorted(
        (Kept(datetime.fromtimestamp(at, UTC), name) for name, at in stamps.items()), reverse=True
    )


def _told(stamp: str) -> float:
    return datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC).timestamp()


def expired(backups: list[Kept], keep: str) -> list[str]:
    """Those that no rule of "7 daily, 4 weekly" keeps; the backups come newest first.

    "7 daily" keeps the newest backup of each of the seven newest days that have one.
    """
    kept = {one.name for one in backups[:1]}
    for rule in keep.split(","):
        count, kind = rule.split()
        newest: dict[object, str] = {}
        for one in backups:
            newest.setdefault(_PERIODS[kind](one.at), one.name)
        kept.update(list(newest.values())[: int(count)])
    return [one.name for one in backups if one.name not in kept]
