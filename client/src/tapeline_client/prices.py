"""Bars and indicators as methods, for the price charts of a model."""

from __future__ import annotations

import math
import time as clock
from abc import ABC, abstractmethod
from typing import Any, Iterable, Mapping

from tapeline_client import checks
from tapeline_client.errors import InvalidEvent

INTERVALS = {"1m": 60, "5m": 300, "15m": 900, "1h": 3600, "4h": 14400, "1d": 86400}
LONGEST = 31 * 86400
PORTION = 1000
"""Bars in one event: the queue of a model with little disk holds several of them."""
COLUMNS = ("open", "high", "low", "close")


class PriceEvents(ABC):
    """Prices are for charts only: they are not on the tape. `Events` has all other methods."""

    @abstractmethod
    def _push(self, path: str, body: Mapping[str, Any], at: Any = None) -> None: ...

    def bar(
        self,
        symbol: str,
        interval: Any,
        open: Any,
        high: Any,
        low: Any,
        close: Any,
        volume: Any = None,
        *,
        time: Any = None,
    ) -> None:
        """A bar of a symbol's prices. `interval` is `1m`, `5m`, `15m`, `1h`, `4h`, `1d` or seconds.
        `time` is its start; by default, the bar is the one under way. Sent again, it replaces the
        one before."""
        seconds = interval_of(interval)
        prices = dict(zip(COLUMNS, (open, high, low, close)))
        body: dict[str, Any] = {"symbol": checks.text(symbol, "symbol"), "interval": seconds}
        body.update({key: checks.number(value, key) for key, value in prices.items()})
        _check_bar(body["open"], body["high"], body["low"], body["close"], "")
        if volume is not None:
            body["volume"] = _volume(volume)
        if time is None:
            time = clock.time() // seconds * seconds
        self._push("/v1/live/bar", body, time)

    def bars(
        self,
        symbol: str,
        interval: Any,
        time: Iterable[Any],
        open: Iterable[Any],
        high: Iterable[Any],
        low: Iterable[Any],
        close: Iterable[Any],
        volume: Iterable[Any] | None = None,
    ) -> None:
        """Many bars of one symbol and interval, as columns: lists, arrays or columns of a
        DataFrame. `time` has their starts."""
        named = {"symbol": checks.text(symbol, "symbol"), "interval": interval_of(interval)}
        columns: dict[str, list[Any]] = {"time": [_start(one, n) for n, one in enumerate(time)]}
        for key, values in zip(COLUMNS, (open, high, low, close)):
            columns[key] = [checks.number(one, f"{key}[{n}]") for n, one in enumerate(values)]
        if volume is not None:
            columns["volume"] = [_volume(one) for one in volume]
        count = len(columns["time"])
        for key, values in columns.items():
            if len(values) != count:
                raise InvalidEvent(f"`{key}` has {len(values)} values and `time` has {count}.")
        opens, highs, lows, closes = (columns[key] for key in COLUMNS)
        for n in range(count):
            _check_bar(opens[n], highs[n], lows[n], closes[n], f"Bar {n}: ")
        for first in range(0, count, PORTION):
            some = {key: values[first : first + PORTION] for key, values in columns.items()}
            self._push("/v1/live/bars", {**named, **some})

    def indicator(
        self,
        name: str,
        value: Any,
        *,
        symbol: str | None = None,
        pane: str | None = None,
        time: Any = None,
    ) -> None:
        """A point of a line over the price chart, or under it in a `pane` of another name than
        `price`. None is a gap in the line. Without a symbol it is shown with every symbol."""
        body: dict[str, Any] = {"name": checks.text(name, "name"), "value": _value(value)}
        if symbol is not None:
            body["symbol"] = checks.text(symbol, "symbol")
        if pane is not None:
            body["pane"] = checks.text(pane, "pane")
        self._push("/v1/live/indicator", body, time)


def interval_of(value: Any) -> int:
    """Seconds, of a name or of a number of them."""
    if isinstance(value, str) and value in INTERVALS:
        return INTERVALS[value]
    found = 0.0 if isinstance(value, str) else checks.number(value, "interval")
    if not 1 <= found <= LONGEST or found != int(found):
        names = ", ".join(INTERVALS)
        raise InvalidEvent(f"`interval` must be {names} or whole seconds, not {value!r:.100}.")
    return int(found)


def _check_bar(open: float, high: float, low: float, close: float, where: str) -> None:
    if not (low <= open <= high and low <= close <= high):
        raise InvalidEvent(
            f"{where}open {open}, high {high}, low {low} and close {close} contradict each other."
        )


def _start(value: Any, index: int) -> float:
    found = checks.moment(value, f"time[{index}]")
    if isinstance(found, str):
        raise InvalidEvent(f"`time[{index}]` must be a time, not a text.")
    return found


def _volume(value: Any) -> float | None:
    if _is_missing(value):
        return None
    found = checks.number(value, "volume")
    if found < 0:
        raise InvalidEvent(f"`volume` must not be negative, not {value!r}.")
    return found


def _value(value: Any) -> float | None:
    """An indicator has no value until it has seen enough prices; libraries say so with NaN."""
    return None if _is_missing(value) else checks.number(value, "value")


def _is_missing(value: Any) -> bool:
    try:
        return value is None or math.isnan(value)
    except (TypeError, ValueError, OverflowError):
        return False
