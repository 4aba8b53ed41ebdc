"""PostgreSQL: the only file that knows its driver."""

import psycopg
from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.pool import ConnectionPoolEntry

MIGRATION_LOCK = 0x7461_7065  # "tape": any number that nobody else's advisory lock has


def writing_engine(url: str, busy_seconds: int) -> Engine:
    return _engine(url, 1, f"-c lock_timeout={busy_seconds * 1000}")


def reading_engine(url: str, busy_seconds: int, readers: int) -> Engine:
    # One snapshot per request, and a writing statement in a read is a bug that must not pass.
    return _engine(
        url,
        readers,
        f"-c statement_timeout={max(busy_seconds, 30) * 1000} -c default_transaction_read_only=on"
        " -c default_transaction_isolation=repeatable\\ read",
    )


def lock_for_migration(connection: Connection) -> None:
    """Held until the connection closes; other servers that start now wait here."""
    connection.execute(text("select pg_advisory_lock(:lock)"), {"lock": MIGRATION_LOCK})


def _engine(url: str, connections: int, options: str) -> Engine:
    driver_url = make_url(url).set(drivername="postgresql+psycopg")
    engine = create_engine(
        driver_url,
        pool_size=connections,
        max_overflow=0,
        connect_args={
            "options": options,
            "connect_timeout": 5,
            "application_name": "tapeline",
            # A server that vanished without a word is noticed within seconds, not hours.
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
