"""PostgreSQL: the only file that knows its driver."""

import selectors
import socket
import threading
from collections.abc import Callable, Iterable, Sequence

import psycopg
from psycopg import sql
from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import ConnectionPoolEntry

from tapeline.background import Background
from tapeline.errors import InvalidSetting, Unavailable
from tapeline.logs import Log
from tapeline.store.backends import failures

log = Log(__name__)


class TablesChanged(Unavailable):
    """A newer Tapeline has changed the tables of this database. Upgrade this server, too."""


MIGRATION_LOCK = 0x7461_7065  # "tape": any number that nobody else's advisory lock has
SERVERS_LOCK = 0x7461_7066  # shared by the writers of all servers
CLAIM_LOCKS = 0x686F_7374  # "host": the first half of the locks that hold names
# On the database's side: without it, the database needs hours to notice that a server lost power.
SOON_NOTICED = (
    "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3"
    " -c tcp_user_timeout=10000"
)
FROZEN_AFTER = 4_000
"""Milliseconds without a statement after which the database ends a write that has begun. A server
that is frozen or cut off in the middle of one would keep its locks, and all others would wait."""
REVISIONS = "alembic_version"
APPLICATION = "tapeline"
SECRETS = ("password", "sslpassword")
TRIED_AGAIN = 1.0  # seconds after a connection was lost or refused
HEARD_EVERY, WITHIN = 5.0, 30.0  # seconds between signs of life, and until one is missed


def writing_engine(url: str, busy_seconds: int) -> Engine:
    # Overrides settings of the role and the database: an answered event is on the disk.
    return _engine(url, 1, f"-c lock_timeout={busy_seconds * 1000} -c synchronous_commit=on")


def reading_engine(url: str, busy_seconds: int, readers: int) -> Engine:
    # One snapshot per request, and a writing statement in a read is a bug that must not pass.
    return _engine(
        url,
        readers,
        f"-c statement_timeout={max(busy_seconds, 30) * 1000} -c default_transaction_read_only=on"
        " -c default_transaction_isolation=repeatable\\ read",
    )


def serve(writing: Engine, reading: Engine, known: str) -> None:
    """For the connections of a server, whose newest known revision of the tables is `known`. The
    writer never pauses inside of a transaction, and says for as long as it is connected that
    somebody writes (`has_alone`)."""

    @event.listens_for(writing, "connect")
    def _(dbapi_connection: psycopg.Connection, _record: ConnectionPoolEntry) -> None:
        dbapi_connection.execute(f"set idle_in_transaction_session_timeout = {FROZEN_AFTER}")
        dbapi_connection.execute(f"select pg_advisory_lock_shared({SERVERS_LOCK})")
        _refuse_changed(dbapi_connection, known)

    @event.listens_for(reading, "connect")
    def _(dbapi_connection: psycopg.Connection, _record: ConnectionPoolEntry) -> None:
        _refuse_changed(dbapi_connection, known)


def _refuse_changed(connection: psycopg.Connection, known: str) -> None:
    """Tables change in a way that an earlier version must not meet only while none is connected:
    so one that was cut off finds out here."""
    row = connection.execute(f"select obj_description(to_regclass('{REVISIONS}'))").fetchone()
    connection.commit()
    if row is not None and row[0] is not None and row[0] > known:
        connection.close()
        raise TablesChanged


def has_alone(connection: Connection) -> bool:
    """Whether no other server has a writer now, nor gets one before this transaction ends."""
    got = connection.scalar(text("select pg_try_advisory_xact_lock(:lock)"), {"lock": SERVERS_LOCK})
    return bool(got)


def note_oldest(connection: Connection, revision: str) -> None:
    """Servers that do not know this revision must not use the tables. In a comment, because it is
    about the tables, and is not to move with their rows."""
    literal = sql.Literal(revision).as_string()
    connection.execute(text(f"comment on table {REVISIONS} is {literal}"))


def take_time(connection: Connection) -> None:
    """For a transaction that computes for long between its statements."""
    connection.execute(text("set local idle_in_transaction_session_timeout = 0"))


def name_of(url: str) -> str:
    """The address without its password, wherever the password is written."""
    shown = _parsed(url).set(drivername="postgresql").difference_update_query(SECRETS)
    return shown.render_as_string(hide_password=True)


def process_of(connection: Connection) -> int:
    """The server process at the other end."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver.info.backend_pid


def others(connection: Connection) -> int:
    """Connections to this database that are Tapeline's and not this one."""
    count: int = connection.execute(
        text(
            "select count(*) from pg_stat_activity where datname = current_database()"
            " and application_name = :name and pid <> pg_backend_pid()"
        ),
        {"name": APPLICATION},
    ).scalar_one()
    return count


def copy_rows(connection: Connection, table: Table, rows: Iterable[Sequence[object]]) -> None:
    """Insert whole rows by COPY, several times as fast as statements."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    names = sql.SQL(", ").join(sql.Identifier(column.name) for column in table.columns)
    statement = sql.SQL("copy {} ({}) from stdin").format(sql.Identifier(table.name), names)
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def lock_for_migration(connection: Connection) -> None:
    """Held until the connection closes; other servers that start now wait here."""
    # No timeout here: the first server may migrate for long.
    connection.execute(text("set statement_timeout = 0"))
    connection.execute(text("select pg_advisory_lock(:lock)"), {"lock": MIGRATION_LOCK})


def _parsed(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        # Not shown: a URL that cannot be parsed may have a password anywhere.
        raise InvalidSetting(
            "database must be a URL such as postgresql://user:password@host:5432/name; characters"
            " like @, / and : in the password are written as %40, %2F and %3A.",
            field="database",
        ) from None


def _engine(url: str, connections: int, options: str) -> Engine:
    parsed = _parsed(url).set(drivername="postgresql+psycopg")
    engine = create_engine(
        parsed.difference_update_query(["options"]),
        pool_size=connections,
        max_overflow=0,
        connect_args={
            # Ours come last and win; an operator's own, such as a search_path, stay.
            "options": f"{parsed.query.get('options', '')} {options}".strip(),
            "connect_timeout": 5,
            "application_name": APPLICATION,
            # A server that vanished is noticed within seconds, not hours.
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 10_000,
        },
    )

    @event.listens_for(engine, "connect")
    def _(dbapi_connection: psycopg.Connection, _record: ConnectionPoolEntry) -> None:
        # Server-side prepared statements break behind transaction-pooling proxies.
        dbapi_connection.prepare_threshold = None

    return engine


class Claims:
    """Names that this server holds for as long as one connection lives. The database releases them
    when the server is gone, also after a crash."""

    def __init__(self, url: str) -> None:
        self._engine = _engine(url, 1, SOON_NOTICED)
        self._names: set[str] = set()
        self._lost: set[str] = set()
        """Of these names, those that another server took while we were cut off."""
        self._connection: Connection | None = None
        self._lock = threading.Lock()

    def take(self, name: str) -> bool:
        """Whether the name is ours now."""
        with self._lock:
            got = name in self._names - self._lost or self._take(name)
            if got:
                self._names.add(name)
            return got

    def give_back(self, name: str) -> None:
        """Without a connection there is nothing to release: the database has done it."""
        with self._lock:
            self._names.discard(name)
            self._lost.discard(name)
            if self._connection is not None:
                try:
                    self._advise(self._connection, "pg_advisory_unlock", name)
                except failures.Failure:
                    self._drop()

    def renew(self) -> None:
        """Reconnect if the connection was lost, and with it the names."""
        with self._lock:
            if self._connection is None or not _is_there(self._connection):
                self._drop()
                self._take_again(self._names)

    def has_lost(self, name: str) -> bool:
        """Whether another server holds it although it was ours, as of now."""
        self.renew()
        with self._lock:
            self._take_again(self._lost & {name})
            return name in self._lost

    def _take_again(self, names: Iterable[str]) -> None:
        for name in names:
            if self._take(name):
                self._lost.discard(name)
            elif name not in self._lost:
                self._lost.add(name)
                log.error("name_taken_by_another_server", name=name)

    def close(self) -> None:
        with self._lock:
            self._drop()
            self._engine.dispose()

    def _take(self, name: str) -> bool:
        if self._connection is None:
            made = self._engine.connect()
            self._connection = made.execution_options(isolation_level="AUTOCOMMIT")
        return self._advise(self._connection, "pg_try_advisory_lock", name)

    @staticmethod
    def _advise(connection: Connection, function: str, name: str) -> bool:
        statement = text(f"select {function}(:space, hashtext(:name))")
        return bool(connection.scalar(statement, {"space": CLAIM_LOCKS, "name": name}))

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.invalidate()  # closed, not pooled: the locks go with it
            self._connection.close()
            self._connection = None


def claimed(connection: Connection, names: list[str]) -> set[str]:
    """Those of these names that any server holds now."""
    statement = text(
        "select name from unnest(cast(:names as text[])) as name"
        " where hashtext(name)::bigint & 4294967295 in ("
        "select objid::bigint from pg_locks where locktype = 'advisory' and granted"
        " and database = (select oid from pg_database where datname = current_database())"
        " and classid::bigint = :space)"
    )
    return set(connection.scalars(statement, {"space": CLAIM_LOCKS, "names": names}))


def _is_there(connection: Connection) -> bool:
    try:
        return bool(connection.scalar(text("select 1")))
    except failures.Failure:
        return False


class Listener:
    """One connection that listens to other servers' notices, in its own thread.

    A lost connection is opened again. Listeners hear of both, because notices sent in between are
    lost.
    """

    def __init__(
        self,
        background: Background,
        url: str,
        channel: str,
        on_words: Callable[[str], None],
        on_change: Callable[[bool], None],
    ) -> None:
        self._engine = _engine(url, 1, "")
        self._channel = channel
        self._on_words = on_words
        self._on_change = on_change
        self._closing = threading.Event()
        self._here, self._there = socket.socketpair()
        self._work = background.thread(
            "listener", self._turn, every=TRIED_AGAIN, within=WITHIN, interrupt=self._interrupt
        )

    def close(self) -> None:
        """Call it after the thread has ended with the other background work."""
        self._here.close()
        self._there.close()

    def _interrupt(self) -> None:
        self._closing.set()
        self._there.send(b".")

    def _turn(self) -> None:
        try:
            self._listen()
        finally:
            self._on_change(False)
            self._engine.dispose()

    def _listen(self) -> None:
        with self._engine.connect() as connection:
            driver = connection.connection.driver_connection
            assert isinstance(driver, psycopg.Connection)
            driver.rollback()
            driver.autocommit = True
            driver.execute(f'listen "{self._channel}"')
            self._work.recovered()
            self._on_change(True)
            try:
                self._hear(driver)
            finally:
                connection.invalidate()  # not for the pool: it listens, and may be broken

    def _hear(self, driver: psycopg.Connection) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(driver.fileno(), selectors.EVENT_READ)
            selector.register(self._here, selectors.EVENT_READ)
            while not self._closing.is_set():
                selector.select(HEARD_EVERY)
                self._work.beat()
                for one in driver.notifies(timeout=0):
                    self._on_words(one.payload)
