"""Which launches of this host are alive, and which of them have written something."""

from collections.abc import Iterable
from typing import NamedTuple

from tapeline.background import Work
from tapeline.runs.engines.engine import Engine
from tapeline.runs.run import Run


class Look(NamedTuple):
    """What this host sees of its launches."""

    alive: dict[str, bool]
    unread: set[str]
    """Runs that are alive and have written something."""
    unknown: dict[str, Exception]
    """Runs that could not be checked: nothing is decided about them."""


def look(engine: Engine, runs: Iterable[Run], at_journals: bool, work: Work) -> Look:
    """A failure about one run is noted with the work, and the others are seen."""
    found = Look({}, set(), {})
    for run in runs:
        try:
            alive = engine.is_alive(run)
            if alive and at_journals and engine.has_news(run):
                found.unread.add(run.id)
        except Exception as error:  # noqa: BLE001 - of one run; the others can be seen
            work.note(error, run.id)
            found.unknown[run.id] = error
        else:
            found.alive[run.id] = alive
    return found
