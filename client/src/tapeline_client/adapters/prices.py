"""Prices that an exchange's library fetches anyway: reported by themselves, each of them once."""

from __future__ import annotations

import inspect
import math
import time
from typing import Any, Callable, Iterable, Sequence

from tapeline_client.errors import TapelineError
from tapeline_client.reporting import logger

MOST = 1000
"""Bars of a first answer that are sent: a history of years is for the model, not for its chart."""
OFTEN, SELDOM = 60.0, 1.0
"""Seconds: a mark comes when the price changed, a second after the last one at the soonest, and
every minute when it did not."""
NEVER = (-math.inf, 0.0)


class Prices:
    """What was sent of each symbol, so that only news are sent."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._newest: dict[tuple[str, int], float] = {}
        self._marked: dict[str, tuple[float, float]] = {}

    def age(self, symbol: Any) -> float:
        """Seconds since the last mark."""
        return time.monotonic() - self._marked.get(str(symbol), NEVER)[0]

    def mark(self, symbol: Any, price: Any) -> None:
        now, value = time.monotonic(), number(price)
        at, last = self._marked.get(str(symbol), NEVER)
        if value and value > 0 and (now - at > OFTEN or (value != last and now - at > SELDOM)):
            self._marked[str(symbol)] = (now, value)
            self._client.mark_price(str(symbol), value)

    def bars(self, symbol: Any, seconds: Any, rows: Iterable[Sequence[Any]]) -> int:
        """Rows of start, open, high, low, close and volume; return how many were news. The newest
        one known is sent again, because it may have grown since."""
        key = (str(symbol), int(seconds))
        known = self._newest.get(key, -math.inf)
        news = [row for row in map(_row, rows) if row is not None and row[0] >= known]
        news = sorted(news, key=lambda row: row[0])[-MOST:]
        if not news:
            return 0
        volumes = [row[5] for row in news]
        columns = [[row[place] for row in news] for place in range(5)]
        has_volume = any(one is not None for one in volumes)
        self._client.bars(*key, *columns, volume=volumes if has_volume else None)
        self._newest[key] = news[-1][0]
        return len(news)


def tap(thing: Any, name: str, hear: Callable[..., Any]) -> None:
    """Call `hear` with the answer and the arguments of a method, also of one that is awaited. Once
    for each object; what goes wrong there does not disturb the caller."""
    inner = getattr(thing, name, None)
    if inner is None or getattr(inner, "is_overheard", False):
        return

    def heard(*args: Any, **keys: Any) -> Any:
        answer = inner(*args, **keys)
        if inspect.isawaitable(answer):
            return _later(answer, args, keys)
        _tell(answer, args, keys)
        return answer

    async def _later(answer: Any, args: Any, keys: Any) -> Any:
        found = await answer
        _tell(found, args, keys)
        return found

    def _tell(answer: Any, args: Any, keys: Any) -> None:
        try:
            hear(answer, *args, **keys)
        except (TapelineError, TypeError, ValueError, KeyError, AttributeError) as error:
            logger.warning("%s was not reported: %s", name, error)

    heard.is_overheard = True  # type: ignore[attr-defined]
    setattr(thing, name, heard)


def number(given: Any) -> float | None:
    try:
        found = float(given)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def _row(row: Sequence[Any]) -> Any:
    """None for a bar that an exchange left incomplete, or that contradicts itself."""
    start, opened, high, low, close = found = [number(one) for one in row[:5]]
    if None in found:
        return None
    if not (low <= opened <= high and low <= close <= high):  # type: ignore[operator]
        return None
    volume = number(row[5]) if len(row) > 5 else None
    return [start, opened, high, low, close, volume if volume is None or volume >= 0 else None]
