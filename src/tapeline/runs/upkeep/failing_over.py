"""Takes over the runs of nodes that did not renew their leases, without anybody who says so.

Their shims have ended the models by then: there, a lease is counted from earlier, and is shorter. A
live model goes on as a new run on any node, a backtest starts again as one, and a schedule goes on
with its next time. If a node's own report is quicker (its shim wrote that the lease ran out),
nothing is left to take over: the same run starts again, and a scheduled one has ended. After the
database was away that is the rule, because `DatabaseTime` waits.
"""

from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection

from tapeline.background import Background
from tapeline.errors import Unavailable
from tapeline.runs import leases
from tapeline.runs.journals.late import NOT_RENEWED
from tapeline.runs.journals.meaning import NEXT_TIME, RunUpdate
from tapeline.runs.leases import MARGIN, Lapsed
from tapeline.runs.run import Run
from tapeline.runs.supervision import desired
from tapeline.runs.supervision.collecting import NOTHING, Taken
from tapeline.runs.upkeep import taking_over
from tapeline.runs.upkeep.database_time import DatabaseTime, elapsed
from tapeline.runs.upkeep.taking_over import TakingOver
from tapeline.store.backends import common_time
from tapeline.store.store import Store
from tapeline.tape.append.appending import Appender
from tapeline.tape.append.watchers import Watchers

EVERY, WITHIN = 1.0, 60.0  # seconds
MOST_STARTS = 3
"""Of a backtest: one that takes its node down with it must not take down all of them."""


class Unsure(Unavailable):
    """Runs whose leases have run out are not taken over: the database answers too slowly, or its
    clock jumps again and again."""


class FailingOver:
    """`seconds` are those of a lease."""

    def __init__(
        self,
        store: Store,
        appender: Appender,
        watchers: Watchers,
        background: Background,
        data: Path,
        seconds: float,
    ) -> None:
        self._store = store
        self._appender = appender
        self._lasting = seconds + MARGIN
        self._time = DatabaseTime(self._lasting)
        self._unsure_since: float | None = None
        self._lapsed: dict[str, Lapsed] = {}
        # Beside the takeovers: one that takes long, or waits after a failure, costs no certainty.
        background.loop("clock of leases", self.listen, every=EVERY, within=WITHIN, once=True)
        self.taking_over = TakingOver(
            store, watchers, background, data, "failover", EVERY, self._find_or_tell, self._take
        )

    async def listen(self) -> None:
        self._time.heard(*await self._store.read(_asked))

    async def _find_or_tell(self) -> list[str]:
        found = await self._find()
        since = self._unsure_since
        if since is not None and elapsed() - since > 2 * self._lasting:
            raise Unsure
        return found

    async def _find(self) -> list[str]:
        lapsed, asked = await self._store.read(_expired)
        is_sure = self._time.heard(*asked)
        self._lapsed = {one.run_id: one for one in lapsed}
        if is_sure or not lapsed:
            self._unsure_since = None
        elif self._unsure_since is None:
            self._unsure_since = elapsed()
        return list(self._lapsed) if is_sure else []

    def _take(self, connection: Connection, run_id: str) -> Taken:
        run, lapsed = taking_over.held(connection, run_id), self._lapsed[run_id]
        # The very lease that had run out when the time was sure, whatever time it is now.
        if run is None or (run.fence, run.lease_until) != (lapsed.fence, lapsed.until):
            return NOTHING
        return take(connection, self._appender, run)


def _expired(connection: Connection) -> tuple[list[Lapsed], tuple[float, float, float]]:
    """The time last: a clock that was set before these were compared with it is found out."""
    return leases.expired(connection), _asked(connection)


def _asked(connection: Connection) -> tuple[float, float, float]:
    """By our clock, the database's, and ours again. Waiting for a connection is no part of it."""
    return elapsed(), common_time.now(connection), elapsed()


def take(connection: Connection, appender: Appender, run: Run) -> Taken:
    """Take over a launch that is known to have ended with its lease."""
    assert run.lease_until is not None
    at = run.lease_until - MARGIN  # at the latest, by its shim
    moment = datetime.fromtimestamp(run.lease_until, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    lost = f"Its node {run.host} {NOT_RENEWED}, which ran out at {moment}."
    why = f"It goes on with run {run.id}, whose node {run.host} {NOT_RENEWED}."

    def fill(made: RunUpdate) -> None:
        if run.desired == "stopped":
            made.failed_over(f"{_sentence(run.reason or 'Stopped')} {lost}", at, goes_on=False)
        elif run.kind == "screener":
            made.failed_over(f"{lost} {NEXT_TIME}", at, goes_on=False)
        elif run.kind == "live":
            after = desired.succeed(connection, run, why)
            made.failed_over(f"{lost} Run {after} goes on.", at, goes_on=True)
        elif desired.starts_of(connection, run) < MOST_STARTS:
            after = desired.test_again(connection, run, why)
            made.failed_over(f"{lost} Run {after} starts it again.", at, goes_on=True)
        else:
            given_up = f"It is given up: {MOST_STARTS} nodes were lost while they ran it."
            made.failed_over(f"{lost} {given_up}", at, goes_on=False)

    return taking_over.end(connection, appender, run, fill)


def _sentence(reason: str) -> str:
    """People end theirs with a full stop or without."""
    return reason if reason.endswith((".", "!", "?")) else f"{reason}."
