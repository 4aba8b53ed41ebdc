"""Carries out halts, on every server: stops what starts all the same, and proves the ends.

The server whose machine had a run asks its kernel: only there the lock and the processes are seen.
Of a node that is gone nobody can ask; there a lease that has run out is the proof.
What is proven goes onto the model's tape, where the next checkpoint signs it.
"""

import asyncio
import time
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, or_, select, tuple_, update

from tapeline.background import Background
from tapeline.errors import Problem
from tapeline.runs.leases import MARGIN
from tapeline.runs.run import Run
from tapeline.runs.runner import Runner
from tapeline.store.backends import common_time
from tapeline.store.rows import record
from tapeline.store.store import Store
from tapeline.store.tables.runs import runs
from tapeline.store.tables.watch import halted_models, halts
from tapeline.tape.append.appending import Appended, Appender
from tapeline.tape.append.watchers import Watchers
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.reading import channels
from tapeline.tape.tapes import open_tape
from tapeline.thread_pools import briefly, in_thread, threads
from tapeline.watch.halts import declaring, on_machine
from tapeline.watch.halts import halt as records
from tapeline.watch.halts.halt import ELSEWHERE, Halt, HaltedModel
from tapeline.watch.halts.scopes import Scopes

EVERY, WITHIN = 1.0, 30.0  # seconds
ANSWERED_WITHIN = 1.0  # seconds that whoever halts waits, at most, for what is true without it
FOLLOWED_FOR = 3600.0  # seconds after it was resumed, for ends that are still to be proven
AT_ONCE = 20  # statements in one transaction: the writer is everybody's
ELSEWHERE_AT_ONCE = 200  # models that run elsewhere, looked at in one turn: it may be all of them

_encode = msgspec.json.Encoder().encode


class Open(msgspec.Struct, frozen=True):
    """A model in a halt of which not everything is done."""

    halt: Halt
    row: HaltedModel
    run: Run | None


class Known(msgspec.Struct, frozen=True):
    now: float
    """By the database's clock, as leases are."""
    unenforced: list[Halt]
    open: list[Open]
    """Every run, and the next portion of models that run elsewhere."""
    last: tuple[str, str] | None
    """The last of that portion; None if there are no more, so that the first come next."""
    stopped_elsewhere: frozenset[str]
    """Models that run elsewhere and have said that they stopped."""


class Halts:
    def __init__(
        self,
        store: Store,
        runner: Runner,
        appender: Appender,
        watchers: Watchers,
        background: Background,
    ) -> None:
        self._store = store
        self._runner = runner
        self._appender = appender
        self._watchers = watchers
        self._background = background
        self._thread = threads(1, "proofs of ends")
        self._scopes = Scopes(lambda: store.read(records.scopes_in_force))
        self._last: tuple[str, str] | None = None
        self._work = background.loop("halts", self._turn, every=EVERY, within=WITHIN)

    def covers(self, project_id: str) -> bool:
        """Whether models of this project are to stop. For every event: it asks nobody."""
        return self._scopes.cover(project_id)

    async def look_at_once(self) -> None:
        """After a halt or its end: the next event that this server answers knows of it, unless this
        fails or takes long. The halt stands all the same, and the next turn looks again."""
        self.wake()
        try:
            async with asyncio.timeout(ANSWERED_WITHIN):
                await self._scopes.look()
        except (Problem, TimeoutError) as error:
            self._work.note(error)

    def wake(self) -> None:
        self._work.wake()

    async def _turn(self) -> None:
        await self._scopes.look()
        await self._record_halt_of_machine()
        since = self._store.clock.ago(FOLLOWED_FOR)
        known = await self._store.read(_read, since, self._last)
        self._last = known.last
        for halt in known.unenforced:
            await self._store.write(declaring.stop_what_runs, halt)
            self._runner.wake()
        unstated = [one for one in known.open if one.row.stated_at is None]
        for start in range(0, len(unstated), AT_ONCE):
            await self._append(self._state, unstated[start : start + AT_ONCE])
        for one in known.open:
            try:
                await self._settle(one, known)
            except Exception as error:  # noqa: BLE001 - the others are settled all the same
                self._work.note(error, one.row.model_id)

    async def _record_halt_of_machine(self) -> None:
        hold, here = await briefly(self._runner.hold), self._runner.host_name
        if not here or self._runner.is_untouched_copy():
            return  # nothing runs here, or what runs is the original's
        halted = hold if hold is not None and hold.is_halt else None
        if not await self._store.read(on_machine.is_recorded, here, halted):
            await self._store.write(on_machine.write, here, halted)

    async def _settle(self, one: Open, known: Known) -> None:
        """Write how it ended, once that is proven, or said by a model that runs elsewhere."""
        if one.row.stopped_at is not None:
            return
        if one.run is None:
            if one.row.run_id != ELSEWHERE:
                return  # the run was deleted with its model
            if one.row.model_id in known.stopped_elsewhere:
                await self._append(self._stopped, one, time.time(), "It said that it stopped.", {})
            return
        if one.halt.host is not None:
            await self._settle_on_machine(one, one.run)
            return
        if one.run.ended_at is None:
            return
        if one.run.launches == 0:
            how = "It had not started."
            await self._append(self._stopped, one, one.run.ended_at, how, {"never_launched": True})
        elif shown := await self._proof(one.run, known.now):
            shown |= {"host": one.run.host, "key": "refused"}
            how = _how(one.halt, one.run)
            await self._append(self._stopped, one, one.run.ended_at, how, shown)

    async def _proof(self, run: Run, now: float) -> dict[str, Any]:
        """That nothing of a run is left which has ended; empty if there is none yet."""
        if self._runner.has(run):
            found = await in_thread(self._thread, self._runner.proof_of_end, run)
            return msgspec.structs.asdict(found) if found.is_one else {}
        if run.lease_until is not None:
            # The kernel is asked by the server that leads; where it cannot be, the lease says so.
            is_over = run.lease_until + MARGIN < now and self._background.leads()
            return {"at": now, "lease_ended_at": run.lease_until} if is_over else {}
        return {"at": now, "withdrawn": True} if run.host is None else {}

    async def _settle_on_machine(self, one: Open, run: Run) -> None:
        """The run itself goes on after the halt; only its processes have ended."""
        if not self._runner.has(run) or one.halt.resumed_at is not None:
            return
        proof = await in_thread(self._thread, self._runner.proof_of_end, run)
        if proof.is_one:
            how = "It was stopped on its machine."
            await self._append(self._stopped, one, proof.at, how, msgspec.structs.asdict(proof))

    async def _append(self, act: Any, *args: Any) -> None:
        for one in await self._store.write(act, *args):
            self._watchers.publish(one.model_id, one.records)

    def _state(self, connection: Connection, some: list[Open]) -> list[Appended]:
        """That they are halted, on their tapes. Another server may have been faster."""
        made = []
        for one in some:
            if _claim(connection, one.row, halted_models.c.stated_at, stated_at=time.time()):
                halt = one.halt
                # A tape may be shown to anybody; why all are halted is the operator's business.
                own = {"why": halt.why} if halt.project_id else {}
                more = {"scope": halt.scope, "at": halt.at, **own}
                made.append(_event(connection, one, "halt", more))
        return self._written(connection, made)

    def _stopped(
        self, connection: Connection, one: Open, at: float, how: str, proof: dict[str, Any]
    ) -> list[Appended]:
        settled = {"stopped_at": at, "how": how, "proof": proof}
        if not _claim(connection, one.row, halted_models.c.stopped_at, **settled):
            return []
        # A tape may be shown to anybody: names of hosts are for the members.
        more = {"at": at, "how": how, "proof": {k: v for k, v in proof.items() if k != "host"}}
        return self._written(connection, [_event(connection, one, "stopped", more)])

    def _written(self, connection: Connection, events: list[Event]) -> list[Appended]:
        said = [Submission([event], None) for event in events]
        return self._appender.append(connection, said)[1] if said else []


def _read(connection: Connection, followed_since: float, after: tuple[str, str] | None) -> Known:
    followed = or_(halts.c.resumed_at.is_(None), halts.c.resumed_at > followed_since)
    query = (
        select(halted_models)
        .join(halts, halts.c.id == halted_models.c.halt_id)
        .where(halted_models.c.stopped_at.is_(None), followed)
    )
    rows = _rows(connection, query.where(halted_models.c.run_id != ELSEWHERE))
    place = tuple_(halted_models.c.halt_id, halted_models.c.model_id)
    beyond = [] if after is None else [place > after]
    elsewhere = _rows(
        connection,
        query.where(halted_models.c.run_id == ELSEWHERE, *beyond)
        .order_by(halted_models.c.halt_id, halted_models.c.model_id)
        .limit(ELSEWHERE_AT_ONCE),
    )
    last = None
    if len(elsewhere) == ELSEWHERE_AT_ONCE:
        last = (elsewhere[-1].halt_id, elsewhere[-1].model_id)
    return Known(
        common_time.now(connection),
        declaring.unenforced(connection),
        _open(connection, rows + elsewhere),
        last,
        _stopped(connection, elsewhere),
    )


def _rows(connection: Connection, query: Select[Any]) -> list[HaltedModel]:
    return [record(HaltedModel, row) for row in connection.execute(query)]


def _open(connection: Connection, rows: list[HaltedModel]) -> list[Open]:
    if not rows:
        return []
    named = select(halts).where(halts.c.id.in_({one.halt_id for one in rows}))
    started = select(runs).where(runs.c.id.in_({one.run_id for one in rows}))
    found = {row.id: record(Halt, row) for row in connection.execute(named)}
    going = {row.id: record(Run, row) for row in connection.execute(started)}
    return [Open(found[one.halt_id], one, going.get(one.run_id)) for one in rows]


def _stopped(connection: Connection, rows: list[HaltedModel]) -> frozenset[str]:
    """Those that have said that they stopped."""
    said = channels.lifecycles(connection, [one.model_id for one in rows]) if rows else {}
    return frozenset(one for one, state in said.items() if state.get("running") is False)


def _claim(connection: Connection, row: HaltedModel, column: Any, **values: Any) -> bool:
    """Whether this server writes it first."""
    written = connection.execute(
        update(halted_models)
        .where(
            halted_models.c.halt_id == row.halt_id,
            halted_models.c.model_id == row.model_id,
            halted_models.c.run_id == row.run_id,
            column.is_(None),
        )
        .values(**values)
    )
    return written.rowcount == 1


def _event(connection: Connection, one: Open, stated: str, more: dict[str, Any]) -> Event:
    now, run = time.time(), one.row.run_id or None
    fields = {"stated": stated, "halt": one.halt.id, "run": run, **more}
    tape = open_tape(connection, one.row.model_id)
    return Event(tape, kinds.STATEMENT, fields, _encode(fields), now, now, run_id=run)


def _how(halt: Halt, run: Run) -> str:
    after = max(0.0, (run.ended_at or halt.at) - halt.at)
    code = "" if run.exit_code is None else f" with exit code {run.exit_code}"
    return f"It ended {after:.1f} s after the halt{code}."
