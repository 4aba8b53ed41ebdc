"""Changes after the fact of what a record is counted in: its currency, and what cannot be computed.

A report that arrives in time can still change what everything before it means: a backtest in
another currency, a first bare ticker, a multiplier that makes a symbol impossible to compute.
No store here.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from tapeline.results.changes.change import About, Change, FieldChange
from tapeline.results.changes.folding import Folded, Named
from tapeline.results.pnl.books import Book, Name, Totals, name_of
from tapeline.results.pnl.model_currency import OWN, decided
from tapeline.results.pnl.summary import reason_of
from tapeline.results.rules.fills import Fill
from tapeline.results.rules.position import ONE, earned
from tapeline.results.rules.rates import Marks
from tapeline.results.rules.symbols import currency_of


class Tape(Protocol):
    """Where the events of a record are found again."""

    def arrival(self, seq: int) -> float:
        """When an event about an order or a position arrived."""

    def traded(self, until: int) -> Mapping[str, int]:
        """How many fills have numbers up to this one, by currency; the empty one is the model's
        own."""

    def first_in(self, currency: str, after: int) -> int | None:
        """The first fill with a higher number in a currency."""


class Basis(NamedTuple):
    """What a record was counted in as first reported, and what changed it since."""

    quote: str
    """The model's own currency."""
    main: str | None
    """The currency with the most fills; None before the first."""
    changes: list[Change]


def basis(folded: Folded, now: Sequence[Book], quote: str, tape: Tape) -> Basis:
    """`quote`: the model's own currency, as it stands."""
    start = folded.start
    fills = _fills(now)
    main = most(fills, quote)
    is_own = any(one.currency == OWN for one in now)
    if start.at is None or (len(fills) <= 1 and not is_own and not folded.assets):
        return Basis(quote, main, [])
    traded = tape.traded(start.until)
    totals = {name: Totals(fills=count) for name, count in traded.items()}
    if folded.bare is not None and folded.bare <= start.until:
        totals.setdefault(OWN, Totals()).opened += 1
    first = decided(start.asset, totals, start.account.capital)
    changes = []
    if _counts_in_own(now, folded):
        changes = _assets(folded, decided("", totals, start.account.capital))
        if not changes and first != quote:
            cause = OWN if OWN in fills and OWN not in totals else quote
            changes = _moved(folded, tape, cause, FieldChange("own_currency", first, quote))
    first = first if changes else quote
    before, first_main = most(traded, quote), main
    if before is not None and before != main:
        cause = OWN if main == quote and OWN in fills else (main or OWN)
        moved = _moved(folded, tape, cause, FieldChange("currency", before, main))
        first_main = most(traded, first) if moved else main
        changes += moved
    elif before is not None:
        first_main = most(traded, first)
    return Basis(first, first_main, changes)


def most(fills: Mapping[str, int], quote: str) -> str | None:
    """The currency with the most of them, by name."""
    named: dict[str, int] = {}
    for name, count in fills.items():
        named[name or quote] = named.get(name or quote, 0) + count
    return min(named, key=lambda name: (-named[name], name), default=None)


class LeftOut(NamedTuple):
    changes: list[Change]
    cuts: dict[Name, int]
    """Of books that cannot be computed any more: the number of the entry that is why."""


def left_out(
    folded: Folded,
    books: Iterable[Book],
    entries: Mapping[Name, Sequence[Named]],
    rates: Marks,
    quotes: tuple[str, str],
    tape: Tape,
) -> LeftOut:
    """`entries`: of all books that are not computed, as they stand. `quotes`: the model's own
    currency as first reported, and as it stands."""
    found, others = LeftOut([], {}), _by_book(folded.only_first())
    late_after = folded.start.late_after
    first, now = quotes
    for book in books:
        reason = reason_of(book, now)
        some = [one for one in entries.get(book.name, ()) if one[1].spec.side != "mark"]
        if reason is None or not some:
            continue
        some.sort(key=lambda one: one[1].tie)
        begun = tape.arrival(some[0][1].tie)
        here = [*folded.unchanged(some), *others.get(book.name, ())]
        here.sort(key=lambda one: one[1].tie)
        cut = _offender(here, rates, first)
        seq, received_at = _cause(folded, some, cut or _offender(here, rates, now), tape)
        if received_at - begun > late_after:
            fields = [FieldChange("reason", None, reason)]
            found.changes.append(_change(seq, received_at, "symbol", begun, fields, book.symbol))
        if cut is not None and tape.arrival(cut[1].tie) - begun > late_after:
            found.cuts[book.name] = cut[1].tie
    return found


def _by_book(some: Iterable[Named]) -> dict[Name, list[Named]]:
    found: dict[Name, list[Named]] = {}
    for one in some:
        if one[1].spec.side != "mark":
            found.setdefault(name_of(one[1]), []).append(one)
    return found


def _cause(
    folded: Folded, some: Sequence[Named], offender: Named | None, tape: Tape
) -> tuple[int, float]:
    """The event with which a book could not be computed any more, and its arrival. Where nothing
    that was first reported is why, it is the first of what came or was changed since."""
    if offender is not None:
        return offender[1].tie, tape.arrival(offender[1].tie)
    changed = [folded.orders.get(name) for name, _ in some if name is not None]
    found = [(one.seq, one.received_at) for one in changed if one is not None]
    found += [(one.tie, tape.arrival(one.tie)) for _, one in some if one.tie in folded.gone]
    last = some[-1][1].tie
    return min(found, default=(last, tape.arrival(last)))


def _offender(some: Iterable[Named], rates: Marks, quote: str) -> Named | None:
    """The first by arrival that does not fit to those before it."""
    multiplier = None
    for one in some:
        fill = one[1]
        said = fill.spec.multiplier
        if said is None and fill.spec.side != "position":
            said = ONE
        if multiplier is None:
            multiplier = said
        is_other = said is not None and said != multiplier
        is_claimed = fill.spec.claim is not None and fill.spec.claim != quote
        if is_other or is_claimed or fill.spec.problem is not None or _lacks_rate(fill, rates):
            return one
    return None


def _lacks_rate(fill: Fill, rates: Marks) -> bool:
    paid_in = fill.spec.paid_in
    if paid_in is None or not fill.spec.fee:
        return False
    return rates.at(paid_in, currency_of(fill.symbol), (fill.time, fill.tie)) is None


def _fills(now: Iterable[Book]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in now:
        if not one.is_cash and one.state.fills:
            found[one.currency] = found.get(one.currency, 0) + one.state.fills
    return found


def _counts_in_own(now: Iterable[Book], folded: Folded) -> bool:
    """Whether anything is counted in the model's own currency."""
    return folded.own.source == "model" or any(
        earned(one.state.cash) if one.is_cash else one.state.fills or one.state.is_opened
        for one in now
        if one.currency == OWN
    )


def _assets(folded: Folded, bare: str) -> list[Change]:
    """Backtests in another currency."""
    found = []
    before = folded.start.asset or bare
    for one in folded.assets:
        after = one.asset or bare
        if after != before:
            field = FieldChange("own_currency", before, after)
            at = one.received_at if folded.start.at is None else folded.start.at
            found.append(_change(one.seq, one.received_at, "account", at, [field]))
        before = after
    return found


def _moved(folded: Folded, tape: Tape, currency: str, field: FieldChange) -> list[Change]:
    """By what was traded since."""
    start = folded.start
    bare = folded.bare if folded.bare is not None and folded.bare > start.until else None
    seq = tape.first_in(currency, start.until) or bare
    if seq is None or start.at is None:  # nothing came since that could have moved it
        return []
    return [_change(seq, tape.arrival(seq), "account", start.at, [field])]


def _change(
    seq: int,
    received_at: float,
    about: About,
    fact: float,
    fields: list[FieldChange],
    symbol: str | None = None,
) -> Change:
    return Change(
        seq=seq,
        received_at=received_at,
        about=about,
        sort="changed",
        symbol=symbol,
        time=fact,
        late_by=max(0.0, received_at - fact),
        fields=fields,
    )
