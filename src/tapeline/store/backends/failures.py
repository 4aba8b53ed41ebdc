"""Classifies failures of the database: an outage, worth another try, or our own bug."""

from time import monotonic

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from tapeline import host_faults
from tapeline.store.backends import sqlite

# Raised when a database is full, locked, read-only, restarting or gone.
Failure = (DBAPIError, PoolTimeout, OSError)

UNREACHABLE = "The database cannot be reached."
POSTGRESQL = {
    "25006": "PostgreSQL takes no writes at the moment.",
    "53100": "The disk of PostgreSQL is full.",
    "53300": "PostgreSQL has no free connection.",
    "55P03": "Another process has locked the database.",
    "57014": "PostgreSQL is too slow.",
    "57P01": "PostgreSQL is shutting down.",
    "57P03": "PostgreSQL is starting or shutting down.",
}
LONGEST_REASON = 300
QUIET_SECONDS = 5.0  # between two log lines about the same outage


class LogLimiter:
    """Lets one log line through and then none for a while, because an outage hits every request."""

    def __init__(self) -> None:
        self._spoken_at = float("-inf")

    def may_log(self) -> bool:
        now = monotonic()
        if now - self._spoken_at < QUIET_SECONDS:
            return False
        self._spoken_at = now
        return True


def is_outage(error: BaseException) -> bool:
    """Whether the database, rather than our own statement, is at fault."""
    if isinstance(error, PoolTimeout | ConnectionError | TimeoutError):
        return True
    if isinstance(error, OSError):  # a file that a job looked for is not the database
        return host_faults.fault_of(error) is not None
    if not isinstance(error, DBAPIError):
        return False
    # SQLite calls a misspelt column an OperationalError too; only its number tells them apart.
    number: int | None = getattr(error.orig, "sqlite_errorcode", None)
    if number is not None:
        return number & 0xFF in sqlite.OUTAGES
    # PostgreSQL says "read-only" and "shutting down" with other classes than OperationalError.
    return (
        isinstance(error, OperationalError)
        or error.connection_invalidated
        or _sqlstate(error) == "25006"
        or _sqlstate(error)[:2] in {"08", "53", "57", "58"}
    )


def is_worth_another_try(error: BaseException) -> bool:
    """A dead connection, or a deadlock that PostgreSQL resolved by choosing us."""
    return isinstance(error, DBAPIError) and (
        error.connection_invalidated or _sqlstate(error) in {"40001", "40P01"}
    )


def cause(error: BaseException) -> str:
    """Why nothing can be stored, as a sentence without paths or addresses: strangers may read
    it."""
    if fault := host_faults.fault_of(error):
        return fault.says
    number: int | None = getattr(getattr(error, "orig", error), "sqlite_errorcode", None)
    if number is not None:
        return sqlite.OUTAGES.get(number & 0xFF, UNREACHABLE)
    if not isinstance(error, DBAPIError):
        return "The database is too slow." if isinstance(error, PoolTimeout) else UNREACHABLE
    return POSTGRESQL.get(_sqlstate(error), "PostgreSQL cannot be reached.")


def reason(error: BaseException) -> str:
    """What the database said, on one line and without our statement or its values."""
    text = " ".join(str(getattr(error, "orig", None) or error).split())
    return text[:LONGEST_REASON] or type(error).__name__


def _sqlstate(error: DBAPIError) -> str:
    return getattr(error.orig, "sqlstate", None) or ""
