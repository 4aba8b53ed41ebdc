"""What a link shows: a live record or a backtest."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from tapeline.errors import NotShared
from tapeline.recently_used import RecentlyUsed
from tapeline.results.changes.stored import Changes
from tapeline.sharing.exhibits import redaction
from tapeline.sharing.exhibits.answers import (
    Exported,
    SharedBenchmark,
    SharedCorrections,
    SharedCurve,
    SharedDrawdown,
    SharedHead,
    SharedLines,
    SharedMetrics,
    SharedPeriods,
    SharedPositions,
    SharedSeals,
    SharedTrades,
    SharedTrips,
)
from tapeline.sharing.exhibits.replay import Replays
from tapeline.sharing.links import delay
from tapeline.sharing.links.links import Share
from tapeline.store.encryption import Cipher
from tapeline.store.tables.tape import checkpoints
from tapeline.tape import tapes
from tapeline.tape.reading import channels
from tapeline.tape.roots import proofs

KEPT = 200  # pictures and lists of symbols
PREVIEWED = 100  # trades, round trips and lines in one object
DETAIL = 1_000


Kept = RecentlyUsed[tuple[object, ...], object]
"""Results that are the same for every visitor."""


class ChartRange(NamedTuple):
    """Which part of a curve, and in how many points."""

    points: int = DETAIL
    start: float | None = None
    end: float | None = None


class Arrow(NamedTuple):
    """Orders of one side at one place of a curve."""

    time: float
    side: str
    orders: int = 1


class Arrows(NamedTuple):
    items: list[Arrow]
    left_out: int = 0
    """How many older trades are not among them."""


class ExhibitContext(NamedTuple):
    """The services that exhibits need."""

    cipher: Cipher
    key_id: str
    """Of the key that signs checkpoints."""
    late_after: float
    replays: Replays
    kept: Kept
    changes: Changes


class Exhibit(ABC):
    def __init__(self, connection: Connection, share: Share, context: ExhibitContext) -> None:
        self.connection = connection
        self.share = share
        self.choices = share.choices
        self.context = context
        self.found = tapes.of_model(connection, share.model_id)
        self.cut = delay.cut(connection, self.found, share.choices)

    @property
    def edition(self) -> object:
        """Identifies the content, which must not change between the first page of a list and its
        last."""
        return self.choices

    @property
    @abstractmethod
    def head(self) -> SharedHead: ...

    @abstractmethod
    def curve(self, wanted: ChartRange) -> SharedCurve: ...

    @abstractmethod
    def drawdown(self, wanted: ChartRange) -> SharedDrawdown: ...

    @abstractmethod
    def benchmark(self, points: int) -> SharedBenchmark:
        """Beside buying and holding what was traded."""

    @abstractmethod
    def periods(self) -> SharedPeriods: ...

    @property
    @abstractmethod
    def metrics(self) -> SharedMetrics: ...

    @abstractmethod
    def trades(self, before: int | None, limit: int) -> SharedTrades: ...

    @abstractmethod
    def arrows(self) -> Arrows:
        """Orders or trades along the whole curve."""

    def round_trips(self, _before: int | None, _limit: int) -> SharedTrips:
        raise NotShared

    def positions(self) -> SharedPositions:
        raise NotShared

    def corrections(self, _before: int | None, _limit: int) -> SharedCorrections:
        raise NotShared

    @property
    @abstractmethod
    def log_channel(self) -> int: ...

    def logs(self, before: int | None, limit: int) -> SharedLines:
        if not self.choices.shows_texts:
            raise NotShared
        end = self.cut.seq + 1
        some = channels.newest(
            self.connection,
            self.found.tape,
            self.log_channel,
            before=end if before is None else min(before, end),
            limit=limit,
        )
        following = None if some.next is None else str(some.next)
        return SharedLines([redaction.line(record) for record in some.records], following)

    def everything(self, wanted: ChartRange, most: int = PREVIEWED) -> Exported:
        def unless_hidden(make: Callable[[], object]) -> object:
            try:
                return make()
            except NotShared:
                return None

        return Exported(
            shared=self.head,
            curve=self.curve(wanted),
            drawdown=self.drawdown(wanted),
            benchmark=unless_hidden(lambda: self.benchmark(wanted.points)),  # type: ignore[arg-type]
            periods=self.periods(),
            metrics=self.metrics,
            trades=self.trades(None, most),
            round_trips=unless_hidden(lambda: self.round_trips(None, most)),  # type: ignore[arg-type]
            positions=unless_hidden(self.positions),  # type: ignore[arg-type]
            changes=unless_hidden(lambda: self.corrections(None, most)),  # type: ignore[arg-type]
            logs=unless_hidden(lambda: self.logs(None, most)),  # type: ignore[arg-type]
        )

    @property
    def title(self) -> str:
        """A name may contain a symbol; if symbols are hidden, only a title that was chosen for the
        link is shown."""
        if self.share.title is not None:
            return self.share.title
        if self.choices.shows_symbols:
            return self.share.model_name
        return "A live record" if self.share.backtest_id is None else "A backtest"

    @property
    def as_of(self) -> float:
        return time.time() if self.cut.moment is None else self.cut.moment

    def seals(self) -> SharedSeals:
        here = [checkpoints.c.tape == self.found.tape, checkpoints.c.seq <= self.cut.seq]
        if self.cut.moment is not None:
            here.append(checkpoints.c.at <= self.cut.moment)
        row = self.connection.execute(
            select(
                func.max(checkpoints.c.seq).label("seq"),
                func.min(checkpoints.c.at).label("first"),
                func.max(checkpoints.c.at).label("last"),
            ).where(*here)
        ).one()
        stamped = proofs.newest(self.connection, self.found.tape, *self.cut)
        return SharedSeals(
            events=self.cut.seq,
            sealed=row.seq or 0,
            first_signed_at=row.first,
            last_signed_at=row.last,
            key_id=self.context.key_id,
            stamped=stamped[0] if stamped else 0,
            stamped_at=stamped[1] if stamped else None,
        )
