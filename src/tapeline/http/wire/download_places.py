"""Places for downloads: each keeps memory until its reader has everything, and readers may be slow.

Tenants share them as they share threads (`tapeline/turns.py`): none of them can take every place,
and the next free one goes to the tenant with the fewest. Several tenants could still hold all of
them for hours. So whoever has waited for a moment takes a place from somebody who has more: from a
slow reader, or, having none at all, from anybody with several. The same holds between the projects
of a tenant, the visitors of its links and their networks. A download that loses its place is cut
off.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from time import monotonic

from tapeline.errors import Overloaded
from tapeline.fair_line import Owner
from tapeline.tape.fair_budget import patience
from tapeline.turns import Turns

OF_A_DOWNLOAD = 16_000_000
"""Bytes of memory: what is read at once, its lines, and those that the reader has not taken yet."""
WAITED = 5.0  # seconds: most downloads end sooner, and nobody loses anything
SLOW = 100_000  # bytes a second
STEP = 1_000_000  # bytes, after which the speed of a reader is measured anew
LEVELS = 3  # of an owner: tenant, project or visitors, key or network


class Place:
    def __init__(self, owner: Owner, granted: "asyncio.Future[None]") -> None:
        self.owner = owner
        self.granted = granted
        self.limit: asyncio.Timeout | None = None
        """Of the download, once it has begun."""
        self.is_lost = False
        self._sent = 0
        self._waited = 0.0
        """For the reader, and not for what makes the file."""
        self._sending: float | None = None

    @contextmanager
    def sending(self, size: int) -> Iterator[None]:
        """While so many bytes are on their way."""
        if self._sent >= STEP:
            self._sent, self._waited = 0, 0.0
        self._sent += size
        self._sending = monotonic()
        try:
            yield
        finally:
            self._waited += monotonic() - self._sending
            self._sending = None

    @property
    def waited(self) -> float:
        return self._waited + (monotonic() - self._sending if self._sending else 0.0)

    @property
    def is_slow(self) -> bool:
        return self.waited * SLOW > max(STEP, self._sent)

    def lose(self) -> None:
        if self.limit is not None:
            self.is_lost = True
            self.limit.reschedule(asyncio.get_running_loop().time())


class Places:
    def __init__(self, count: int, seconds: float) -> None:
        """Whoever waits longer than so many seconds is told to come back."""
        self._patience = seconds
        self._turns: Turns[Place] = Turns(count, apart=())
        self._taken: list[Place] = []

    @asynccontextmanager
    async def take(self, owner: Owner) -> AsyncIterator[Place]:
        """Raises Overloaded if there is none, or if it is lost to somebody else."""
        place = Place(owner, asyncio.get_running_loop().create_future())
        await self._wait(place)
        begun = monotonic()
        try:
            async with asyncio.timeout(None) as place.limit:
                yield place
        except TimeoutError:
            if place.limit is not None and place.limit.expired():
                raise Overloaded from None
            raise
        finally:
            self._free(place, monotonic() - begun)

    async def _wait(self, place: Place) -> None:
        self._turns.add(place.owner, place)
        self._admit()
        try:
            async with patience(self._patience):
                while not place.granted.done():
                    await asyncio.wait([place.granted], timeout=WAITED)
                    self._make_room(place)
        except BaseException:
            # It may have been granted in the moment in which nobody waited for it any more.
            if not place.granted.cancel():
                self._free(place, 0.0)
            raise

    def _admit(self) -> None:
        while (found := self._turns.begin()) is not None:
            owner, place = found
            if place.granted.done():  # nobody waits for it any more
                self._turns.end(owner, 0.0)
                continue
            self._taken.append(place)
            place.granted.set_result(None)

    def _free(self, place: Place, seconds: float) -> None:
        self._taken.remove(place)
        self._turns.end(place.owner, seconds)
        self._admit()

    def _make_room(self, waiting: Place) -> None:
        """One at a time: the next waits until this one's place was given to somebody."""
        if waiting.granted.done() or any(one.is_lost for one in self._taken):
            return
        if (found := self._to_lose(waiting.owner)) is not None:
            found.lose()

    def _to_lose(self, owner: Owner) -> Place | None:
        among = self._taken
        for level in range(LEVELS):
            has = Counter(one.owner[level] for one in among)
            own = has[owner[level]]
            found = [one for one in among if _yields(one, has[one.owner[level]], own)]
            if found:
                return max(found, key=lambda one: (has[one.owner[level]], one.waited))
            among = [one for one in among if one.owner[level] == owner[level]]
        return None


def _yields(place: Place, its: int, own: int) -> bool:
    """To somebody whose group has `own` places, where its own group has `its`."""
    has_several_more = its > own + 1
    if own:
        return has_several_more and place.is_slow
    return has_several_more or place.is_slow
