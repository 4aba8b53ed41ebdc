"""What an account is worth, how far it fell, what the day and the week brought.

Of a model: from the sketches of its curve, whatever its history. Of a project, or of all: as the
portfolio's page has it. What arrives late counts at its own time, and money that comes or goes is
no profit: these are the lines of the pages.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import Connection

from tapeline.results.pnl import summary
from tapeline.tape.events import kinds
from tapeline.tape.reading import channels
from tapeline.watch.facts.fact import Fact, Gathering, Sources, Subject

if TYPE_CHECKING:
    from tapeline.results.performance.evidence import Evidence
    from tapeline.results.performance.standing import Lines

BASIS = frozenset({"books", kinds.ACCOUNT_SETTINGS.name, kinds.SET_PNL.name, kinds.AUTO_PNL.name})

LOOKED_AT = 20  # account values: the newest by arrival, of which one is the newest by time


class Reported(msgspec.Struct, frozen=True):
    """The account as the exchange said last, and less what we computed for that moment."""

    time: float
    value: float
    difference: float


class Money(msgspec.Struct, frozen=True, kw_only=True):
    standing: "Any"
    """A `Standing`; None where nothing is known, and `trouble` says why."""
    trouble: str | None = None
    reported: Reported | None = None
    left_out: Mapping[str, str] = {}
    """Of a portfolio: models that it does not include, and why."""
    again_in: float | None = None


class _Said(msgspec.Struct):
    value: float
    currency: str | None = None


_said = msgspec.json.Decoder(_Said)


def gather(gathering: Gathering) -> Mapping[str, Money]:
    return _gathered(gathering, reports=0)


def gather_reported(gathering: Gathering) -> Mapping[str, Money]:
    """With what the exchange said."""
    return _gathered(gathering, reports=LOOKED_AT)


def _gathered(gathering: Gathering, reports: int) -> Mapping[str, Money]:
    connection, sources, now = gathering.connection, gathering.sources, gathering.now
    found = {}
    for subject in gathering.wanted:
        if subject.kind in ("project", "all"):
            found[subject.id] = of_portfolio(connection, sources, subject, now)
        elif subject.tape is not None:
            found[subject.id] = of_model(connection, subject.tape, now, reports)
    return found


def of_portfolio(connection: Connection, sources: Sources, subject: Subject, now: float) -> Money:
    outline, again_in = sources.portfolios.of(connection, subject.id, now)
    if outline.standing is None:
        from tapeline.results.portfolio.portfolio import NOTHING  # noqa: PLC0415 - imports numpy

        return Money(standing=None, trouble=NOTHING, again_in=again_in)
    return Money(standing=outline.standing, left_out=outline.left_out, again_in=again_in)


def of_model(connection: Connection, tape: int, now: float, reports: int) -> Money:
    from tapeline.results.performance import standing as standings  # noqa: PLC0415 - imports numpy

    newest = newest_reports(connection, tape, reports) if reports else []
    moments = [standings.day_of(now), standings.week_of(now), *(time for time, _ in newest)]
    found = evidence_around(connection, tape, moments)
    if found.not_computed:
        one = found.not_computed[0]
        return Money(standing=None, trouble=f"{one.symbol} is not computed: {one.reason}")
    unpriced = [one.symbol for one in found.books if one.state.size and one.state.price is None]
    if unpriced:
        return Money(standing=None, trouble=f"No price of {unpriced[0]} is known.")
    lines, reason = lines_of(found)
    if lines is None:
        return Money(standing=None, trouble=reason)
    reached = standings.standing(lines, found.currency, reason, now)
    return Money(standing=reached, reported=_reported(newest, lines, found.currency))


def evidence_around(connection: Connection, tape: int, moments: list[float]) -> "Evidence":
    """As the page of a model has it, but for what lies between extremes."""
    from tapeline.results.performance import evidence  # noqa: PLC0415 - imports numpy

    kept = evidence.kept_around(connection, tape, moments)
    return evidence.assembled(kept, summary.own_of(connection, tape))


def lines_of(found: "Evidence") -> "tuple[Lines | None, str | None]":
    """And why there is none, or none in percent."""
    from tapeline.results.metrics.account import Lacking  # noqa: PLC0415
    from tapeline.results.performance import evidence, standing  # noqa: PLC0415 - imports numpy

    try:
        return standing.of_account(found.line()), None
    except Lacking as lacking:
        if lacking.reason not in (evidence.NO_CAPITAL,):
            return None, lacking.reason  # several currencies, or nothing is computed
        return standing.of_money(found.steps[0], found.profits), lacking.reason


def newest_reports(connection: Connection, tape: int, most: int) -> list[tuple[float, _Said]]:
    """By time, the newest last."""
    some = channels.newest(connection, tape, kinds.ACCOUNT_VALUE.channel, before=None, limit=most)
    # As on the page: nobody says today what an exchange will say tomorrow.
    dated = [(min(one.time, one.received_at), one.seq, one.body) for one in some.records]
    return [(time, _said.decode(body)) for time, _, body in sorted(dated)]


def _reported(
    newest: list[tuple[float, _Said]], lines: "Lines", currency: str | None
) -> Reported | None:
    said = [(time, one) for time, one in newest if one.currency in (None, currency)]
    if not said or lines.value is None or not len(lines.times):
        return None
    time, one = said[-1]
    place = max(0, int(lines.times.searchsorted(time, side="right")) - 1)
    return Reported(time, one.value, one.value - float(lines.value[place]))


def _is_older(found: Money) -> bool:
    return found.again_in is not None


MONEY = Fact(name="money", gather=gather, changed_by=BASIS, is_partial=_is_older)
# A reported value changes nothing in the books.
REPORTED_MONEY = Fact(
    name="reported_money",
    gather=gather_reported,
    changed_by=BASIS | {kinds.ACCOUNT_VALUE.name},
    is_partial=_is_older,
)
