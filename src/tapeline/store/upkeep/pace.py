"""How much of a long job to do in one write: as much as takes a few milliseconds, then a rest.

Everybody who writes waits for the step that is under way. A disk that was fast a moment ago may be
slow now, so each step is measured and the next one fits.
"""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from tapeline.store.store import Store

STEP = 0.012  # seconds that a step should hold the writer, until it is committed
REST = 2.0  # times as long as a step took: others have most of the time

P = ParamSpec("P")
T = TypeVar("T")


class Pace:
    def __init__(self, fewest: int, most: int, rest: float = REST) -> None:
        self.size = fewest
        """Of the next step."""
        self._rest = rest
        self._fewest = fewest
        self._most = most

    async def step(
        self,
        store: Store,
        job: Callable[Concatenate[Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Write, adapt the size of the next step, and rest. The commit counts: it writes all that
        the step changed to the disk. The next step begins when that is copied into the database,
        so the log never has much more than one step."""
        asked = began = monotonic()

        def timed(connection: Connection) -> T:
            nonlocal began
            began = monotonic()
            return job(connection, *args, **kwargs)

        answer = await store.write(timed)
        ended = monotonic()
        self.adapt(ended - began)
        await store.copy_log()
        await asyncio.sleep(self._rest * (ended - asked))
        return answer

    def adapt(self, seconds: float) -> None:
        """To a step of this size that took so long: at most twice as much, at once much less."""
        fitting = self.size * STEP / max(seconds, STEP / 2)
        self.size = int(min(self._most, max(self._fewest, fitting)))
