"""Runs the checks, at most once a second however many ask, and waits for none of them for ever."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from time import monotonic, time

import msgspec

from tapeline.background import cause_of
from tapeline.health.checklist import CHECKS, Check
from tapeline.health.parts import Parts
from tapeline.health.verdict import RANK, State, Verdict, red
from tapeline.thread_pools import in_thread, threads

DEADLINE = 10.0  # seconds for all of them
READY_WITHIN = 2.0  # seconds for the essential ones, when somebody asks whether we are ready
KEPT = 1.0  # seconds for which an answer is reused
NAME = "health check"
LOG = "See the server's log for `work_failed` with work=health check."
NOT_LOOKED = f"The essential health checks have not ended within {READY_WITHIN:g} seconds."
HANGS = "Something that it looks at hangs: look at the disk and the database first."


class Row(msgspec.Struct, frozen=True):
    """One check and what it says now."""

    name: str
    state: State
    says: str
    fix: str
    """What to do; empty when the row is green."""


class Examination(msgspec.Struct, frozen=True):
    at: float
    rows: list[Row]
    figures: dict[str, float]

    @property
    def state(self) -> State:
        """The worst of all rows."""
        return max((row.state for row in self.rows), key=lambda one: RANK[one])


class Health:
    def __init__(self, parts: Parts, checks: tuple[Check, ...] = CHECKS) -> None:
        self.parts = parts
        self._checks = checks
        self._under_way: asyncio.Task[None] | None = None
        self._begun_at = 0.0
        self._verdicts: dict[str, Verdict] = {}
        """Of the examination under way, or of the last one."""
        self._essential: asyncio.Task[dict[str, Verdict]] | None = None
        self._essential_begun_at = 0.0
        # One for each of the two: neither waits for anything else that a server does in threads.
        self._threads = threads(2, "health checks")

    async def examine(self) -> Examination:
        """What every check says now. A check that hangs is red, and does not hide the others."""
        under_way = self._begun()
        left = self._begun_at + DEADLINE - monotonic()
        # Not cancelled when it hangs: a thread cannot be, and one that hangs is enough.
        await asyncio.wait([under_way], timeout=max(0.0, left))
        found = {one.name: self._verdicts.get(one.name, _unanswered()) for one in self._checks}
        rows = [Row(name, it.state, it.says, it.fix) for name, it in found.items()]
        figures = {name: value for it in found.values() for name, value in it.figures.items()}
        return Examination(time(), rows, figures)

    async def trouble(self) -> str | None:
        """Why the server is not ready: the first essential check that is red."""
        looking = self._looking_at_essential()
        not_stored = await self.parts.probe.trouble()
        if not_stored:
            return not_stored
        left = self._essential_begun_at + READY_WITHIN - monotonic()
        await asyncio.wait([looking], timeout=max(0.0, left))
        if not looking.done():
            return NOT_LOOKED
        return next((one.says for one in looking.result().values() if one.state == "red"), None)

    def _looking_at_essential(self) -> "asyncio.Task[dict[str, Verdict]]":
        if self._essential is None or self._essential.done():
            self._essential_begun_at = monotonic()
            self._essential = self.parts.background.begin(NAME, self._look_at_essential())
        return self._essential

    async def _look_at_essential(self) -> dict[str, Verdict]:
        verdicts: dict[str, Verdict] = {}
        essential = [one for one in self._checks if one.essential]
        await in_thread(self._threads, self._look, essential, self.parts, verdicts)
        return verdicts

    def _begun(self) -> "asyncio.Task[None]":
        now, under_way = monotonic(), self._under_way
        if under_way is None or (under_way.done() and now - self._begun_at >= KEPT):
            self._begun_at, self._verdicts = now, {}
            under_way = self.parts.background.begin(NAME, self._examine(self._verdicts))
            self._under_way = under_way
        return under_way

    async def _examine(self, verdicts: dict[str, Verdict]) -> None:
        parts = replace(self.parts, not_stored=await self.parts.probe.trouble())
        await in_thread(self._threads, self._look, self._checks, parts, verdicts)

    def _look(self, checks: Iterable[Check], parts: Parts, verdicts: dict[str, Verdict]) -> None:
        for check in checks:
            try:
                verdicts[check.name] = check.look(parts)
            except Exception as error:  # noqa: BLE001 - about this check; the others go on
                self.parts.background.kind(NAME).note(error, check.name)
                verdicts[check.name] = red(f"It cannot be checked: {cause_of(error)}.", LOG)


def _unanswered() -> Verdict:
    return red(f"The check has not ended within {DEADLINE:g} s.", HANGS)
