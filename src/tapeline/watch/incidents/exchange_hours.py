"""When exchanges are open, for the rules whose hours are theirs. Another process knows that; while
it fails, the rules that need it are unknown and say so, and all others are evaluated."""

from collections.abc import Callable, Iterable

from tapeline.background import cause_of
from tapeline.thread_pools import in_thread, threads
from tapeline.watch.heavy.process import Heavy, NoCalendar
from tapeline.watch.rules.hours import Span, Window, of_sessions

KNOWN_FOR = 86_400.0  # seconds after which a calendar is asked for again
UNKNOWN_FOR = 30.0  # seconds after which one that could not be asked for is


class ExchangeHours:
    def __init__(self, heavy: Heavy, note: Callable[[BaseException, str], None]) -> None:
        """`note` hears of failures, each about one calendar."""
        self._heavy, self._note = heavy, note
        self._thread = threads(1, "hours of exchanges")
        self._known: dict[str, tuple[float, list[Span] | str]] = {}
        """Until when it counts, and the sessions of each, or why there are none."""

    def close(self) -> None:
        self._thread.shutdown(wait=False)

    async def learn(self, calendars: Iterable[str], now: float) -> None:
        failure: str | None = None
        for name in calendars:
            until, _ = self._known.get(name, (0.0, ""))
            if now < until <= now + KNOWN_FOR:  # the clock may have been set back
                continue
            if failure is None:
                failure = await self._ask(name, now)
            if failure is not None:
                # Nobody waits once more for the same process: all rules wait meanwhile.
                self._known[name] = now + UNKNOWN_FOR, failure

    async def _ask(self, name: str, now: float) -> str | None:
        """What kept it from being asked for."""
        try:
            found = await in_thread(self._thread, self._heavy.sessions, name, now)
        except NoCalendar as error:
            self._known[name] = now + KNOWN_FOR, str(error)
        except Exception as error:  # noqa: BLE001 - the rules with these hours alone are unknown
            self._note(error, f"calendar {name}")
            return cause_of(error)
        else:
            self._known[name] = now + KNOWN_FOR, found
        return None

    def window(self, name: str, now: float) -> Window | str:
        """Whether it is open, or why nobody knows."""
        _, known = self._known[name]
        return known if isinstance(known, str) else of_sessions(known, now)
