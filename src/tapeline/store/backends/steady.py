"""The time for durations that outlive a process, such as how long a request's answer is kept.

A job has it from its connection, as it would have the database's own time.
"""

from typing import cast

from sqlalchemy import Connection, Engine

from tapeline.clock import Clock

OPTION = "tapeline_clock"


def attach(clock: Clock, *engines: Engine) -> None:
    for engine in engines:
        engine.update_execution_options(**{OPTION: clock})


def clock_of(connection: Connection) -> Clock:
    return cast("Clock", connection.get_execution_options()[OPTION])


def now(connection: Connection) -> float:
    """Epoch seconds that never jump, for stamps that only we compare."""
    return clock_of(connection).now()


def with_pauses(connection: Connection) -> float:
    """The same, and the time in which the machine was off counts too: for credentials."""
    return clock_of(connection).with_pauses()


def shown(connection: Connection, stamp: float) -> float:
    """A stamp of `with_pauses`, as people read it."""
    return clock_of(connection).shown(stamp)


def put_right(connection: Connection, stamp: float) -> float:
    """A wall-clock stamp, had the clock been set then as it is now."""
    return clock_of(connection).put_right(stamp)


def ago(connection: Connection, seconds: float) -> float:
    """The wall-clock stamp of a moment that is really this long ago."""
    return clock_of(connection).ago(seconds)
