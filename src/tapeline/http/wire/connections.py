"""All open connections together: how many there are, and how much memory their requests hold.

Anybody can open connections and begin requests, so both are limited. At a limit, a newcomer takes
the place of the connection that has kept us waiting longest: half-open requests go before
connections between two requests, and a request that is being carried out never goes.
"""

import asyncio
import ipaddress
import os
from collections import Counter, deque
from enum import IntEnum
from typing import NamedTuple, Protocol

from uvicorn.middleware.proxy_headers import _TrustedHosts

from tapeline import descriptors
from tapeline.errors import Overloaded, Problem, TooManyConnections
from tapeline.logs import Log
from tapeline.settings import Settings

log = Log(__name__)

LOOKED_EVERY = 1.0  # seconds
GIVEN = 2.0  # seconds that an unfinished request may hold memory while others need it
MOST_UNREAD = 64_000_000  # bytes of answers in total that clients have not read
TOLD_EVERY = 60.0  # seconds between two log lines about the same problem


class Waits(IntEnum):
    """What a connection makes the server wait for; the first ones are ended first."""

    HEAD = 0
    BODY = 1
    NEXT = 2


class Stand(NamedTuple):
    """What a connection makes the server wait for, and since when."""

    waits: Waits
    since: float


class Guest(Protocol):
    """One connection."""

    held: int
    """Bytes of memory that its unfinished requests use."""
    unread: int
    """Bytes of answers that its client has not read; counted once it has stopped reading."""

    def look(self, now: float) -> Stand | None:
        """What it makes the server wait for, if anything. Ends it if that takes too long."""

    def end(self, problem: Problem | None) -> None:
        """Close it now and free its memory."""


class Connections:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.held = 0
        self.refused: Counter[str] = Counter()
        """Refused or ended connections, by error code."""
        self._guests: dict[Guest, str | None] = {}
        self._by_address: Counter[str] = Counter()
        self._uncounted = (
            _TrustedHosts(settings.uncounted_addresses),
            # Parsed by uvicorn's own class, so that the two cannot disagree.
            _TrustedHosts(settings.trusted_proxies or []),
        )
        self._waiting: deque[tuple[Stand, Guest]] = deque()
        self._is_looking = False
        self._told: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._guests)

    def join(self, guest: Guest, address: str, descriptor: int) -> None:
        counted = self._counted(address)
        if counted and self._by_address[counted] >= self.settings.max_connections_address:
            raise self._refusal(TooManyConnections(), counted)
        if self._is_full(descriptor) and not self._end_oldest():
            raise self._refusal(Overloaded(), "connections")
        self._guests[guest] = counted
        if counted:
            self._by_address[counted] += 1
        if not self._is_looking:
            self._is_looking = True
            asyncio.get_running_loop().call_later(LOOKED_EVERY, self._look)

    def leave(self, guest: Guest) -> None:
        counted = self._guests.pop(guest, None)
        if counted:
            self._by_address[counted] -= 1
            if not self._by_address[counted]:
                del self._by_address[counted]

    def hold(self, size: int) -> None:
        """Count bytes that a connection has just added."""
        self.held += size
        if self.held > self.settings.max_held:
            self._free_memory()
            if self.held > self.settings.max_held:
                raise self._refusal(Overloaded(), "memory")

    def release(self, size: int) -> None:
        self.held -= size

    def ended(self, problem: Problem) -> None:
        """Count a refused or ended connection, for the metrics."""
        self.refused[problem.code()] += 1

    def _counted(self, address: str) -> str | None:
        """The key an address is counted under; None if it stands for many clients."""
        if not address or any(address in some for some in self._uncounted):
            return None
        try:
            parsed = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return address
        if isinstance(parsed, ipaddress.IPv4Address):
            return address
        if parsed.ipv4_mapped:
            return self._counted(str(parsed.ipv4_mapped))
        # Providers give each customer a whole /64 network.
        return str(ipaddress.ip_network((parsed, 64), strict=False))

    def _is_full(self, descriptor: int) -> bool:
        """The kernel hands out the lowest free descriptor, so a high one means few are left."""
        full = len(self._guests) >= self.settings.max_connections
        return full or descriptor >= descriptors.for_connections()

    def _look(self) -> None:
        """One timer for all connections: far cheaper than one per request."""
        loop = asyncio.get_running_loop()
        self._is_looking = bool(self._guests)
        if self._is_looking:  # first, so that a failure below does not stop the timer
            loop.call_later(LOOKED_EVERY, self._look)
        now = loop.time()
        stands = [(stand, guest) for guest in list(self._guests) if (stand := guest.look(now))]
        stands.sort(key=lambda one: one[0])
        self._waiting = deque(stands)
        self._free_descriptors()
        self._end_unread()

    def _end_oldest(self) -> bool:
        now = asyncio.get_running_loop().time()
        while self._waiting:
            _, guest = self._waiting.popleft()
            if guest in self._guests and guest.look(now) is not None:
                self._end(guest, "connections")
                return True
        return False

    def _free_memory(self) -> None:
        now = asyncio.get_running_loop().time()
        slow = [
            guest
            for stand, guest in self._waiting
            if guest.held and stand.waits is not Waits.NEXT and stand.since < now - GIVEN
        ]
        for guest in slow:
            if self.held <= self.settings.max_held:
                return
            if guest in self._guests:
                self._end(guest, "memory")

    def _free_descriptors(self) -> None:
        """Other work may have used up the reserved descriptors in the meantime."""
        for _ in range(max(0, _lowest_free() - descriptors.for_connections())):
            if not self._end_oldest():
                return

    def _end_unread(self) -> None:
        unread = sorted(
            (guest for guest in self._guests if guest.unread), key=lambda guest: guest.unread
        )
        total = sum(guest.unread for guest in unread)
        while total > MOST_UNREAD:
            guest = unread.pop()
            total -= guest.unread
            self._end(guest, "unread answers")

    def _end(self, guest: Guest, why: str) -> None:
        guest.end(self._refusal(Overloaded(), why))

    def _refusal(self, problem: Problem, why: str) -> Problem:
        now = asyncio.get_running_loop().time()
        if now - self._told.get(problem.code() + why, -TOLD_EVERY) >= TOLD_EVERY:
            if len(self._told) > len(self._guests) + 1_000:
                self._told.clear()
            self._told[problem.code() + why] = now
            log.warning(
                "connections_refused",
                code=problem.code(),
                why=why,
                connections=len(self._guests),
                held=self.held,
            )
        return problem


def _lowest_free() -> int:
    try:
        descriptor = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return descriptors.limit()
    os.close(descriptor)
    return descriptor
