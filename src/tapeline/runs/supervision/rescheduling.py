"""Works out schedules anew after a jump of the clock, which makes runs due at once, or tomorrow.

Servers that share a database go by its clock: a run must not be early because of the host that took
it.
"""

from tapeline.runs.supervision import desired
from tapeline.store.jumps import Jumps
from tapeline.store.store import Store


class Rescheduling:
    def __init__(self, store: Store) -> None:
        self._store, self._jumps = store, Jumps(store)
        self._jumped: int | None = None
        """Jumps that schedules already know of."""

    async def turn(self) -> float:
        """Before each decision: the time by which schedules are right."""
        now, jumped = await self._jumps.look()
        if jumped == self._jumped:
            return now
        # At the start only too late ones: a server that was down at a tick runs it now.
        is_start = self._jumped is None
        await self._store.write(desired.work_out_schedules, now, earlier_only=is_start)
        self._jumped = jumped
        return now
