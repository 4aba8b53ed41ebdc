"""Shared by the adapters of backtests: times, curves, metrics, and sending a result."""

from __future__ import annotations

import datetime
import math
import re
import uuid
from typing import Any, Iterable, Mapping

import tapeline_client
from tapeline_client.encoding import seconds
from tapeline_client.errors import InvalidEvent
from tapeline_client.events import Events

DAY = 86400.0


def unexpected(what: str, wanted: str, package: str) -> InvalidEvent:
    """The error for an object that the adapter does not support."""
    return InvalidEvent(
        f"This is not a {what}: pass {wanted}. Install the package with: pip install {package}"
    )


def moment(value: Any) -> float:
    """Epoch seconds of an index's entry. One without a zone is UTC, as pandas has it."""
    try:
        if isinstance(value, datetime.datetime):
            zoned = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
            return seconds(zoned)
        if isinstance(value, datetime.date):
            midnight = datetime.time(tzinfo=datetime.timezone.utc)
            return datetime.datetime.combine(value, midnight).timestamp()
        if type(value).__name__ == "Period":
            return moment(value.to_timestamp())
        if isinstance(value, str):
            return moment(datetime.datetime.fromisoformat(value))
        found = seconds(value)
    except (TypeError, ValueError, OverflowError, AttributeError):
        found = math.nan
    if not math.isfinite(found):
        raise InvalidEvent(f"{value!r:.60} is not a time: the index must hold dates.")
    return found


def times_of(index: Iterable[Any]) -> list[float]:
    """An index of dates as epoch seconds. Bar numbers are not dates."""
    kind = str(getattr(index, "dtype", ""))
    if kind.startswith(("int", "uint", "float")):
        raise InvalidEvent("The index holds numbers, not dates: give the data an index of dates.")
    return [moment(one) for one in index]


def curve(times: Iterable[float], values: Iterable[Any]) -> list[dict[str, float | None]]:
    return [{"time": at, "value": number(value)} for at, value in zip(times, values)]


def number(value: Any) -> float | None:
    """None for anything but a finite number."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def metric(name: str, value: Any, kind: str) -> dict[str, Any]:
    return {"value": value, "display_name": name, "type": kind}


def days(value: Any) -> float | None:
    """A timedelta, pandas' too; None for anything else, and for one that is not known."""
    total = getattr(value, "total_seconds", None)
    found = number(total()) if callable(total) else None
    return None if found is None else found / DAY


def word(name: str) -> str:
    """A name for a key: `Max. Drawdown [%]` is `max_drawdown`."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"\[.*?\]", "", name).lower()).strip("_")


def plain_metrics(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Numbers as metrics; existing metrics stay as they are."""
    return {
        key: value if isinstance(value, Mapping) else metric(key, number(value), "number")
        for key, value in (given or {}).items()
    }


def send(
    result: Mapping[str, Any],
    client: Events | None,
    backtest_id: str | None,
    seconds_taken: float | None,
    description: str | None,
) -> str:
    """Push a result with its status; return its id."""
    events: Any = client or tapeline_client._default
    known = events._backtest(backtest_id or uuid.uuid4().hex)
    events.backtest_result(result, backtest_id=known)
    events.backtest_status(
        True, "Completed", time_elapsed=seconds_taken, description=description, backtest_id=known
    )
    return str(known)
