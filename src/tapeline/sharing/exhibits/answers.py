"""Every answer that a stranger can get, field by field. What is not named here is not shown.

A field is null when the link hides it or nobody knows it. Without numpy: start-up stays light.
"""

from typing import Any, Literal

import msgspec

from tapeline.results.changes.change import Change
from tapeline.results.changes.listing import ChangeCounts
from tapeline.results.metrics.report_fields import Drawdown, Shown
from tapeline.results.pnl.account import Positions
from tapeline.results.pnl.late_entries import Late
from tapeline.results.pnl.summary import Counts
from tapeline.tape.backtest_results.series import Point

Unit = Literal["money", "percent", "index"]
"""`percent`: rebased to 100 at the start. `index`: 100 is the distance from the lowest to the
highest value, where no capital is known that a percentage could be of."""


class Hidden(msgspec.Struct, kw_only=True):
    """What the owner chose. The capital is not among it."""

    percent_only: bool
    hide_symbols: bool
    hide_sizes: bool
    hide_logs: bool
    delay_hours: int


class SharedFigure(msgspec.Struct, kw_only=True):
    name: str
    display_name: str
    value: float | None
    type: str
    text: str
    """As people read it."""
    explanation: str
    reason: str | None = None


class SharedLifecycle(msgspec.Struct, kw_only=True):
    running: bool | None = None
    start_at: float | None = None
    end_at: float | None = None


class SharedTrials(msgspec.Struct):
    count: int
    """Backtests that were tried on the model."""
    deflated_sharpe: float | None
    explanation: str
    reason: str | None = None


class SharedSeals(msgspec.Struct, kw_only=True):
    """What vouches for it. `…/record` has all of it, to be checked offline."""

    events: int
    """On the tape, as far as this link looks."""
    sealed: int
    """Up to which event a signature vouches for them."""
    first_signed_at: float | None
    last_signed_at: float | None
    key_id: str
    stamped: int
    """Up to which event an outside authority has confirmed the time; 0 without time stamps."""
    stamped_at: float | None


class SharedNotComputed(msgspec.Struct, kw_only=True):
    """A symbol that no figure includes, because its numbers would be wrong."""

    symbol: str | None
    reason: str
    """Without what the link hides."""
    fills: int


class SharedCorrection(Change, frozen=True, kw_only=True):
    """What a live model reported or changed after the fact. Values that the link hides are null,
    and `id` belongs to the link."""


class SharedCorrections(msgspec.Struct):
    items: list[SharedCorrection]
    next: str | None
    unlisted: int = 0
    """Older changes that are counted and not listed: the newest 10,000 are."""


class SharedReported(msgspec.Struct, kw_only=True):
    """Profit and loss twice, in the first currency."""

    unit: Literal["money", "percent"]
    """`percent`: a share of the capital, 0.1 is 10 %."""
    first: float | None
    """As first reported: without what was reported or changed after the fact."""
    now: float | None
    """As it stands."""
    reason: str | None = None
    """Why there is none."""
    first_currency: str | None = None
    """Of `first`, where it is another one, and symbols are shown."""


class SharedUnexplained(msgspec.Struct, kw_only=True):
    """The account's value as the exchange said it, less what reported orders and cash explain."""

    unit: Literal["money", "percent"]
    """`percent`: a share of the value that the exchange said."""
    time: float
    difference: float
    reported: float | None
    """What the exchange said, where amounts are shown."""
    items: list[Point]
    """The difference over time."""


class SharedSettings(msgspec.Struct, kw_only=True):
    """A change of the account's settings, which changes how its whole history is read."""

    received_at: float
    positions: Positions | None
    """Null if they were not changed."""
    capital_change: Literal["set", "removed"] | None
    capital: float | None
    """To what it was set, where amounts are shown."""
    currency: str | None


class SharedHead(msgspec.Struct, kw_only=True):
    kind: Literal["live", "backtest"]
    title: str
    hidden: Hidden
    as_of: float
    """When this was true; with a delay, so many hours ago."""
    expires_at: float | None
    first: float | None
    """The times of the first and the last value."""
    last: float | None
    symbols: list[str]
    exchanges: list[str]
    currency: str | None
    """Of amounts of money; null where none are shown or the name would tell."""
    base: float | None
    """The capital that percentages are of, where money is shown."""
    source: Literal["computed", "model", "off", "backtest"]
    lifecycle: SharedLifecycle | None
    figures: list[SharedFigure]
    trades: int
    late: int
    """Orders that were reported or changed long after their own time."""
    changes: ChangeCounts = msgspec.field(default_factory=ChangeCounts)
    """The same of everything that counts; `…/changes` lists them."""
    reported: SharedReported | None = None
    """Of a live record."""
    unexplained: SharedUnexplained | None = None
    """Null where nobody said what the exchange says, or no capital is known."""
    late_entries: Late = msgspec.field(default_factory=Late)
    """The same of what else changes the books."""
    counts: Counts
    trials: SharedTrials | None
    seals: SharedSeals
    not_computed: list[SharedNotComputed] = []
    """Symbols that no figure and no curve here includes."""
    by_currency: dict[str, float] = {}
    """Profit and loss in each currency, where amounts are shown. Figures and curve are in the first
    of them alone: currencies are never added up."""
    settings: list[SharedSettings] = []
    """Changes of how positions are kept and of the capital, newest first."""
    other_currencies: int = 0
    """How many currencies the figures and the curve do not include."""


class SharedMark(msgspec.Struct, kw_only=True):
    kind: Literal["version", "downtime"]
    time: float
    until: float | None
    version: int | None


class SharedCurve(msgspec.Struct, kw_only=True):
    unit: Unit
    items: list[Point]
    total: int
    marks: list[SharedMark]


class SharedDrawdown(msgspec.Struct, kw_only=True):
    unit: Unit
    """`percent`: shares of the highest value so far, 0.1 is 10 %."""
    items: list[Point]
    deepest: list[Drawdown]
    reason: str | None


class SharedBenchmark(msgspec.Struct, kw_only=True):
    """Buying and holding the symbols that were traded, at the prices that the link shows."""

    symbols: list[str]
    without_price: list[str]
    """Traded symbols that no price is known of; they are not in it."""
    items: list[Point]
    """Its return at the close of each day on which both have a value, from the first of them on."""
    account: list[Point]
    """The account's return on the same days."""
    metrics: dict[str, Shown]
    reason: str | None
    """Why there is nothing to compare."""


class SharedYear(msgspec.Struct):
    year: int
    value: float | None
    months: list[float | None]


class SharedPeriods(msgspec.Struct):
    years: list[SharedYear]
    reason: str | None


class SharedMetrics(msgspec.Struct):
    computed: dict[str, Shown]
    custom: dict[str, Any]
    """The model's own, where nothing at all is hidden."""


class SharedTrade(msgspec.Struct, kw_only=True):
    """An order of a live model, or a trade of a backtest."""

    id: str | None
    index: int
    """Its place: on the tape, or in the list of the backtest."""
    symbol: str | None
    exchange: str | None
    type: str | None
    side: str | None
    status: str | None
    time: float | None
    received_at: float | None
    late_by: float | None
    """Seconds from the time that it claims to the last change of it, if they are too many."""
    price: float | None
    size: float | None
    funds: float | None
    fee: float | None
    profit: float | None
    estimated: bool | None
    assumed: bool | None
    annotation: str | None
    currency: str | None = None
    """Of amounts of money, where they are shown; as `C1`, … where symbols are hidden."""
    is_computed: bool = True
    """False for an order of a symbol that is not computed: its profit is null."""
    ordered: float | None = None
    """The size of the order; `size` is what was filled of it."""
    changes: list[SharedCorrection] = []
    """What was reported or changed after the fact."""


class SharedTrip(msgspec.Struct, kw_only=True):
    index: int
    symbol: str | None
    entry_time: float
    exit_time: float
    entry_price: float | None
    exit_price: float | None
    size: float | None
    fees: float | None
    profit: float | None
    profit_percent: float | None


class SharedPosition(msgspec.Struct, kw_only=True):
    symbol: str | None
    size: float | None
    value: float | None
    average_price: float | None
    last_price: float | None
    last_price_time: float | None
    realized: float | None
    unrealized: float | None
    fees: float | None
    fills: int
    currency: str | None = None
    """Of amounts of money, where they are shown; as `C1`, … where symbols are hidden."""


class SharedLine(msgspec.Struct, kw_only=True):
    line: str
    type: str
    time: float
    received_at: float
    seq: int


class SharedTrades(msgspec.Struct):
    items: list[SharedTrade]
    next: str | None


class SharedTrips(msgspec.Struct):
    items: list[SharedTrip]
    next: str | None


class SharedLines(msgspec.Struct):
    items: list[SharedLine]
    next: str | None


class SharedPositions(msgspec.Struct):
    items: list[SharedPosition]


class Exported(msgspec.Struct, kw_only=True):
    """All of it in one object: an export, and the preview of a link that is not made yet."""

    shared: SharedHead
    curve: SharedCurve
    drawdown: SharedDrawdown
    benchmark: SharedBenchmark | None
    periods: SharedPeriods
    metrics: SharedMetrics
    trades: SharedTrades
    round_trips: SharedTrips | None
    positions: SharedPositions | None
    changes: SharedCorrections | None
    logs: SharedLines | None
    """Null where the link does not show them."""


class SharedChange(msgspec.Struct, kw_only=True):
    """What a stream says of an order, as it was posted or updated."""

    id: str
    symbol: str | None
    exchange: str | None
    side: str | None
    status: str | None
    price: float | None
    size: float | None
    funds: float | None
    fee: float | None
    late_by: float | None
    annotation: str | None
    time: float
    received_at: float
    seq: int


class SharedPrice(msgspec.Struct, kw_only=True):
    symbol: str | None
    price: float | None
    time: float
    received_at: float
    seq: int


class SharedState(SharedLifecycle, kw_only=True):
    time: float
    received_at: float
    seq: int
