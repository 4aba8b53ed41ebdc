"""Asks an exchange for the candles of markets that models use, on a schedule, one server at a time.

Another process asks (`exchange.py`); it exists only meanwhile. This one checks what it says, stores
it, and remembers what went wrong.
"""

import asyncio
import difflib
import os
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from importlib.util import find_spec
from pathlib import Path

import msgspec
from sqlalchemy import Connection

from tapeline.background import Background, Loop
from tapeline.errors import CannotStart, Problem
from tapeline.logs import Log
from tapeline.prices.arrivals import Pushed
from tapeline.prices.folding import store_now
from tapeline.prices.source import candles, standing, wanted
from tapeline.prices.source.messages import (
    HOUR,
    Asked,
    Away,
    Candles,
    Listing,
    Order,
    Refused,
    Said,
    Wanted,
)
from tapeline.prices.source.standing import SHARED, Market, Standing
from tapeline.prices.source.wanted import More
from tapeline.settings import Settings
from tapeline.store.backends import steady
from tapeline.store.store import Store

log = Log(__name__)

NAME = "price source"
LOOKED_EVERY, FIRST_AFTER, WITHIN = 5.0, 5.0, 300.0  # seconds
SHORTEST_TURN = 120.0
OVERTIME = 90.0  # seconds that the process may take longer than it was told to
LONGEST_LINE = 4_000_000  # bytes

News = Callable[[str, list[str]], Awaitable[None]]
"""An exchange, and markets of it that have new prices."""


class SourceFailed(Problem):
    """The exchange that prices come from gives no answer."""


class PriceSource:
    def __init__(
        self, settings: Settings, store: Store, background: Background, more: More, news: News
    ) -> None:
        """`more`: symbols that projects need besides those they trade."""
        self._exchange, self._url = settings.price_source, settings.price_source_url
        self._every = 60.0 * settings.price_source_minutes
        self._store = store
        self._more = more
        self._news = news
        self._work: Loop | None = None
        if self._exchange:
            refuse_unknown(self._exchange)
            self._work = background.loop(
                NAME,
                self.turn,
                every=LOOKED_EVERY,
                first_after=FIRST_AFTER,
                within=WITHIN,
                once=True,
            )

    async def turn(self) -> None:
        """Ask for what is due, if anything is."""
        if await self._store.read(standing.is_due, self._exchange):
            await self.ask()

    async def ask(self) -> None:
        """Whatever the schedule says of the exchange; each of its markets has one of its own."""
        markets = await self._store.read(wanted.markets, self._more)
        due = await self._store.read(standing.due, self._exchange, markets, time.time())
        report = _Report(markets, due)
        if due:
            await self._listen(report)
        await self._store.write(self._noted, report)
        if report.away and self._work is not None:
            self._work.note(SourceFailed(f"{self._exchange}: {report.away}"))
        if report.changed:
            await self._news(self._exchange, sorted(report.changed))

    async def _listen(self, report: "_Report") -> None:
        """Until the process ends. It is given so much time that turns do not overlap."""
        seconds = max(SHORTEST_TURN, self._every)
        order = Order(self._exchange, self._url, os.getpid(), seconds, report.due)
        try:
            async with asyncio.timeout(seconds + OVERTIME):
                async with aclosing(_said(order)) as every:
                    async for said in every:
                        await self._take(said, report)
                        self._beat()
        except TimeoutError:
            report.away = "It did not answer in time."
        except SourceFailed as problem:
            report.away = problem.message

    def _beat(self) -> None:
        if self._work is not None:
            self._work.beat()

    async def _take(self, said: Said, report: "_Report") -> None:
        if isinstance(said, Listing):
            report.listed = said.names
        elif isinstance(said, Candles) and said.market in report.markets:
            await self._store_candles(said, report)
        elif isinstance(said, Asked):
            report.asked.add(said.market)
        elif isinstance(said, Refused):
            report.problems[said.market] = said.why
        elif isinstance(said, Away):
            report.away = said.why

    async def _store_candles(self, said: Candles, report: "_Report") -> None:
        now = time.time()
        found = candles.checked(said.rows, now)
        if found.wrong:
            report.wrong[said.market] = found.sentence()
        if found.bars:
            pushed = Pushed(said.market, self._exchange, said.interval, "", found.bars, now)
            await store_now(self._store, SHARED, [pushed])
            report.changed.add(said.market)

    def _noted(self, connection: Connection, report: "_Report") -> None:
        known = standing.of(connection, self._exchange)
        report.note(known, steady.now(connection), self._every, time.time())
        standing.keep(connection, self._exchange, known)


class _Report:
    """What came of one turn."""

    def __init__(self, markets: list[str], due: list[Wanted]) -> None:
        self.markets, self.due = set(markets), due
        self.listed: dict[str, str] | None = None
        self.asked: set[str] = set()
        self.changed: set[str] = set()
        self.problems: dict[str, str] = {}
        self.wrong: dict[str, str] = {}
        self.away = ""

    def note(self, known: Standing, now: float, every: float, wall: float) -> None:
        known.problem = self.away
        known.failures = known.failures + 1 if self.away else 0
        known.due_at = now + standing.pause(every, known.failures)
        if self.listed is not None:
            known.answered_at = wall
        # What nobody uses any more is forgotten; its bars stay as long as others do.
        known.markets = {one: known.markets.get(one, Market()) for one in sorted(self.markets)}
        for one in self.due:
            self._note_market(known.markets[one.market], one, now, every, wall)

    def _note_market(
        self, market: Market, one: Wanted, now: float, every: float, wall: float
    ) -> None:
        if self.listed is not None:
            market.name = self.listed.get(one.market, "")
        if one.market in self.asked:
            market.asked_at, market.answered_at, market.failures = now, wall, 0
            market.problem = self.wrong.get(one.market, "")
            market.due_at = 0.0
            if HOUR in one.since:
                market.seldom_at = now
        elif one.market in self.problems:
            market.asked_at, market.failures = now, market.failures + 1
            market.problem = self.problems[one.market]
            market.due_at = now + standing.pause(every, market.failures)


def refuse_unknown(exchange: str) -> None:
    """At the start. The library itself is not imported: it would cost a second and 60 MB."""
    found = find_spec("ccxt")
    if found is None or found.origin is None:
        raise CannotStart(
            "The setting price_source needs the package ccxt, which is not installed."
            " Install it with: pip install 'tapeline[prices]'"
        )
    known = {one.stem for one in Path(found.origin).parent.glob("[a-z]*.py")}
    if exchange not in known:
        near = difflib.get_close_matches(exchange, sorted(known), n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise CannotStart(f"price_source is {exchange!r}, which ccxt does not know.{hint}")


async def _said(order: Order) -> AsyncGenerator[Said]:
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "tapeline.prices.source.exchange"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=LONGEST_LINE,
        env={},  # a library of others has no use for our secrets
    )
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        with suppress(ConnectionError):  # it ended at once: its exit status tells
            child.stdin.write(msgspec.json.encode(order))
            await child.stdin.drain()
        child.stdin.close()
        while line := await child.stdout.readline():
            yield msgspec.json.decode(line, type=Said)
        if await child.wait():
            raise SourceFailed("The process that asks it failed; the server's log may say why.")
    except (ValueError, msgspec.MsgspecError) as error:  # a line too long, or not of ours
        raise SourceFailed("It said more than can be read.") from error
    finally:
        if child.returncode is None:  # nobody listens any more
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
