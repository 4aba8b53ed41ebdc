"""PostgreSQL: finds out whether a commit took place if the connection was lost before its answer.

A 503 says that nothing was stored, so it must be true. Each transaction leaves its number in a row
of its server; the row exists afterwards if, and only if, the rest does too. The transaction's id
would not be enough: after a crash PostgreSQL may reuse it.
"""

from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, select, text
from sqlalchemy.exc import DataError, DBAPIError

from tapeline.errors import Unavailable
from tapeline.ids import new_id
from tapeline.polling import poll
from tapeline.store import upsert
from tapeline.store.backends import postgres
from tapeline.store.tables.core import facts

PATIENCE = 10.0  # seconds: enough for a restart of the database, not for a repair
PAUSE = 0.1

STATUS = text("select pg_xact_status(cast(:transaction as xid8))")
# A commit whose answer is lost may still be under way, or may never have arrived and keep its
# locks until the network gives up. Ending that server process settles it either way.
END_IT = text(
    "select pg_terminate_backend(pid) from pg_stat_activity"
    " where pid = :process and backend_xid = cast(cast(:transaction as xid8) as xid)"
)


@dataclass(frozen=True)
class Mark:
    """One transaction: the row it leaves, and how to find it while it is under way."""

    number: str
    transaction: str
    process: int


class Witness:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._name = f"last_commit_of:{new_id()}"
        self._number = 0

    def mark(self, connection: Connection) -> Mark:
        """The last statement of a transaction."""
        self._number += 1
        number = str(self._number)
        row = upsert.insert(connection, facts).values(name=self._name, value=number)
        row = row.on_conflict_do_update(index_elements=["name"], set_={"value": number})
        transaction = connection.scalar(row.returning(text("pg_current_xact_id()::text")))
        return Mark(number, str(transaction), postgres.process_of(connection))

    def was_committed(self, mark: Mark) -> bool | None:
        """None when the database does not come back in time."""
        return poll(
            lambda: self._outcome(mark),
            within=PATIENCE,
            every=PAUSE,
            done=lambda outcome: outcome is not None,
        )

    def forget(self) -> None:
        """A server that shuts down cleanly leaves no row behind."""
        if self._number:
            with suppress(DBAPIError, Unavailable), self._engine.begin() as connection:
                connection.execute(delete(facts).where(facts.c.name == self._name))

    def _outcome(self, mark: Mark) -> bool | None:
        with suppress(DBAPIError, Unavailable), self._engine.connect() as connection:
            over = self._is_over(connection, mark)
            # In this order: the row of a transaction that was over a moment ago is visible now.
            if self._left_its_row(connection, mark):
                return True
            if over:
                return False
        return None

    def _is_over(self, connection: Connection, mark: Mark) -> bool:
        this = {"process": mark.process, "transaction": mark.transaction}
        try:
            status = connection.scalar(STATUS, this)
        except DataError:
            # "In the future": the database crashed and has forgotten that it gave out this id.
            connection.rollback()
            return True
        if status != "in progress":
            return True
        connection.execute(END_IT, this)
        return False

    def _left_its_row(self, connection: Connection, mark: Mark) -> bool:
        left = connection.scalar(select(facts.c.value).where(facts.c.name == self._name))
        return bool(left == mark.number)
