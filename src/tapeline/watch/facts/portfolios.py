"""Projects, or all of them, as one account: for limits about more than one model.

The arithmetic is that of the portfolio's page. Many models cost something, so a portfolio is
computed anew no sooner than its cost allows: in between, its last figures count.
"""

from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, select

from tapeline.recently_used import RecentlyUsed
from tapeline.results.portfolio.member import Head, Holdings, heads
from tapeline.store.tables.core import projects

if TYPE_CHECKING:
    from tapeline.results.portfolio.portfolio import Outline

SHARE = 0.02  # of the time, at most, for one portfolio
LONGEST_REST = 10.0  # seconds
REMEMBERED = 1_000  # portfolios
DAY = 86_400.0


class Outlined(NamedTuple):
    outline: "Outline"
    again_in: float | None
    """Seconds after which to look again, where these figures are not those of this moment."""


class _Known(NamedTuple):
    state: Any
    outline: "Outline"
    until: float
    """By the steady clock: sooner it is not computed anew."""


class Portfolios:
    def __init__(self) -> None:
        self._holdings = Holdings()
        self._known = RecentlyUsed[str, list[_Known]](REMEMBERED, lambda _: 1)

    def of(self, connection: Connection, project: str, now: float) -> Outlined:
        """`project`: its id, or empty for all of them."""
        place = self._known.get(project, list)
        if place and monotonic() < place[0].until:
            found = heads(connection, _projects(connection, project))
            fresh = place[0].state == _state(found, now)
            return Outlined(place[0].outline, None if fresh else place[0].until - monotonic())
        from tapeline.results.portfolio import portfolio  # noqa: PLC0415 - imports numpy

        started = monotonic()
        found = heads(connection, _projects(connection, project))
        state = _state(found, now)
        if place and place[0].state == state:
            return Outlined(place[0].outline, None)
        outline = portfolio.outline(connection, found, self._holdings, None, now)
        ended = monotonic()
        rest = min(LONGEST_REST, (ended - started) / SHARE)
        place[:] = [_Known(state, outline, ended + rest)]
        return Outlined(outline, None)


def _projects(connection: Connection, project: str) -> list[str]:
    if project:
        return [project]
    return list(connection.scalars(select(projects.c.id).order_by(projects.c.id)))


def _state(found: list[Head], now: float) -> Any:
    return int(now // DAY), tuple(one.key for one in found), tuple(one.name for one in found)
