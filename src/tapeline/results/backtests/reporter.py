"""Makes reports in the background: small ones in a thread, large ones in a separate process.

`python -m tapeline.results.backtests.reporter FOLDER` is that process. It reads the result's pieces
from `FOLDER/pieces`, writes the report's rows to `FOLDER/rows` and prints the report as JSON.
"""

import asyncio
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, NamedTuple

import msgspec
from sqlalchemy import Connection, select

from tapeline import memory
from tapeline.background import Background
from tapeline.errors import Overloaded, Unavailable
from tapeline.fair_line import Owner
from tapeline.results.backtests import reports
from tapeline.results.backtests.reports import Series
from tapeline.results.backtests.trade_marks import TradeMarks
from tapeline.results.metrics.report_fields import INDEX, Report, Row
from tapeline.results.performance.live_metrics import LiveMetrics
from tapeline.store.store import Store
from tapeline.store.tables.tape import pieces as piece_rows
from tapeline.tape.backtest_results.preparing import FRAME, Piece, read_pieces
from tapeline.tape.helper_processes import AT_REST, outcome
from tapeline.tape.memory_budget import MemoryBudget
from tapeline.thread_pools import in_thread, threads

MODULE = "tapeline.results.backtests.reporter"
SMALL = 20_000  # account values, trades and indicators' values that a thread handles quickly
REPORTS = Owner("reports")
OF_A_VALUE = 110  # bytes of memory that a report takes for each of them
LOOKED_EVERY = 5.0  # seconds: other servers and the runner add results too
WITHIN = 600.0
APART_WITHIN = 500.0  # seconds: a process that hangs must not keep the others' reports waiting
TRIED_AGAIN = (30.0, 3600.0)  # seconds after the first failure, and at most
PUT_AT_ONCE = 1_000_000  # bytes in one write: others must not wait for a whole report
PATIENCE = 60.0  # seconds that a request waits for its report
FAILED = "These figures could not be computed; the server's log says why."


class _Failed(NamedTuple):
    times: int
    again_at: float


class Reporter:
    def __init__(
        self, store: Store, spool: Path, background: Background, memory: MemoryBudget
    ) -> None:
        self.live = LiveMetrics()
        self.trades = TradeMarks()
        self.patience = PATIENCE
        self._store = store
        self._spool = spool
        self._memory = memory
        self._making: dict[str, asyncio.Task[None]] = {}
        self._failed: dict[str, _Failed] = {}
        self._background = background
        self._work = background.loop(
            "reports", self._report_all, every=LOOKED_EVERY, within=WITHIN, once=True
        )
        self._thread = threads(1, "reports")
        self._one_at_a_time: asyncio.Semaphore | None = None

    def wake(self) -> None:
        """There is a new result."""
        self._work.wake()

    async def ready(self, upload: str) -> None:
        """Wait until the report exists; make it now unless somebody already does."""
        await asyncio.shield(self._task(upload))

    def has_failed(self, upload: str) -> bool:
        """Whether the last try to make it failed; it will be tried again."""
        failed = self._failed.get(upload)
        return failed is not None and monotonic() < failed.again_at

    async def _report_all(self) -> None:
        if not await self._store.read(_has_results):
            return
        while True:
            found = await self._store.read(reports.pending, len(self._failed) + 20)
            missing = [upload for upload in found if not self.has_failed(upload)]
            if not missing:
                return
            for upload in missing:
                await asyncio.shield(self._task(upload))
                self._work.beat()

    def _task(self, upload: str) -> "asyncio.Task[None]":
        if upload not in self._making:
            task = self._background.begin("report", self._make(upload), upload)
            self._making[upload] = task
            task.add_done_callback(lambda _: self._making.pop(upload, None))
        return self._making[upload]

    async def _make(self, upload: str) -> None:
        if self._one_at_a_time is None:
            self._one_at_a_time = asyncio.Semaphore(1)
        async with self._one_at_a_time:
            found = await self._store.read(reports.source, upload)
            if found is None or self.has_failed(upload):
                return
            try:
                if _size(found.header) <= SMALL:
                    await self._make_here(upload, found.header)
                else:
                    await self._make_apart(upload, found.header)
            except reports.Gone:
                self._failed.pop(upload, None)
            except Exception as error:
                if isinstance(error, Unavailable) and not isinstance(error, Overloaded):
                    raise  # everybody's trouble; what is too large for the memory is its own
                await self._note(upload, error)
            else:
                self._failed.pop(upload, None)

    async def _note(self, upload: str, error: Exception) -> None:
        """This result's trouble alone: the others have their turn, and it is tried again."""
        if await self._store.read(reports.source, upload) is None:
            return  # it was cleared while we read it
        times = self._failed[upload].times + 1 if upload in self._failed else 1
        self._failed[upload] = _Failed(times, monotonic() + _put_off(times))
        self._background.kind("report").note(error, upload)

    async def _make_here(self, upload: str, header: dict[str, Any]) -> None:
        from tapeline.results.backtests import report  # noqa: PLC0415 - start-up stays light

        def make() -> tuple[Report, list[Row]]:
            lists = self._store.read_now(_all_pieces, upload)
            made, rows = report.make(lambda name: lists[name], header)
            return made, list(rows)

        made, rows = await in_thread(self._thread, make)
        await self._save(upload, made, rows)

    async def _make_apart(self, upload: str, header: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory(dir=self._spool) as name:
            folder = Path(name)
            await in_thread(self._thread, self._spool_pieces, upload, header, folder)
            async with self._memory.need(REPORTS, AT_REST + _size(header) * OF_A_VALUE):
                printed = await _run_apart(folder)
            made = msgspec.json.decode(printed, type=Report)
            with (folder / "rows").open("rb") as file:
                await self._save(upload, made, _read_rows(file))

    async def _save(self, upload: str, made: Report, rows: Iterable[Row]) -> None:
        await self._store.write(reports.begin, upload)
        portion, size = [], 0
        last: dict[Series, int] = {}
        for row in rows:
            portion.append(row)
            last[row.name, row.level] = max(row.piece, last.get((row.name, row.level), 0))
            size += len(row.content)
            if size >= PUT_AT_ONCE:
                await self._store.write(reports.put, upload, portion)
                portion, size = [], 0
        await self._store.write(reports.put, upload, portion)
        await self._store.write(reports.finish, upload, made, last)

    def _spool_pieces(self, upload: str, header: dict[str, Any], folder: Path) -> None:
        (folder / "header").write_bytes(msgspec.json.encode(header))
        with (folder / "pieces").open("wb") as out:
            for key in self._store.read_now(_keys, upload):
                content = self._store.read_now(_content, upload, *key)
                if content is not None:
                    _write(out, Piece(key[0], key[1], 0, content))


def _put_off(times: int) -> float:
    """Seconds until another try: the cause may have been a full disk and not the result."""
    return min(TRIED_AGAIN[1], TRIED_AGAIN[0] * 2.0 ** min(times - 1, 20))


async def _run_apart(folder: Path) -> bytes:
    code, printed = await outcome(MODULE, folder, APART_WITHIN)
    if code != 0:
        raise ChildProcessError(f"the process that computes ended with {code}")
    return printed


def _size(header: dict[str, Any]) -> int:
    lists = [header.get("account_values"), header.get("trades")]
    lists += (header.get("indicators") or {}).values()
    return sum(one.get("count", 0) for one in lists if isinstance(one, dict))


def _has_results(connection: Connection) -> bool:
    """Before the first result nothing heavy is imported."""
    return connection.scalar(select(piece_rows.c.piece).limit(1)) is not None


def _keys(connection: Connection, upload: str) -> list[tuple[str, int]]:
    """Of the lists that a report needs; account values are also stored as doubles."""
    query = select(piece_rows.c.list, piece_rows.c.piece).where(
        piece_rows.c.upload == upload, piece_rows.c.list != "account_values"
    )
    ordered = query.order_by(piece_rows.c.list, piece_rows.c.piece)
    return [(row.list, row.piece) for row in connection.execute(ordered)]


def _content(connection: Connection, upload: str, name: str, number: int) -> bytes | None:
    found = connection.scalar(
        select(piece_rows.c.content).where(
            piece_rows.c.upload == upload,
            piece_rows.c.list == name,
            piece_rows.c.piece == number,
        )
    )
    return None if found is None else bytes(found)


def _all_pieces(connection: Connection, upload: str) -> dict[str, list[bytes]]:
    query = select(piece_rows.c.list, piece_rows.c.content).where(
        piece_rows.c.upload == upload, piece_rows.c.list != "account_values"
    )
    found: dict[str, list[bytes]] = defaultdict(list)
    for row in connection.execute(query.order_by(piece_rows.c.list, piece_rows.c.piece)):
        found[row.list].append(bytes(row.content))
    return found


def _write(out: BinaryIO, piece: Piece) -> None:
    frame = FRAME.pack(len(piece.list), piece.piece, piece.first, len(piece.content))
    out.write(frame + piece.list.encode() + piece.content)


def _read_rows(file: BinaryIO) -> Iterator[Row]:
    """A frame of a row has the level in the place of a piece's first index."""
    for piece in read_pieces(file):
        yield Row(piece.list, piece.first + INDEX, piece.piece, piece.content)


def _main(folder: Path) -> bytes:
    from tapeline.results.backtests import report  # noqa: PLC0415 - start-up stays light

    lists: dict[str, list[bytes]] = defaultdict(list)
    with (folder / "pieces").open("rb") as file:
        for piece in read_pieces(file):
            lists[piece.list].append(piece.content)
    header = msgspec.json.decode((folder / "header").read_bytes(), type=dict[str, Any])
    made, rows = report.make(lambda name: lists[name], header)
    with (folder / "rows").open("wb") as out:
        for row in rows:
            _write(out, Piece(row.name, row.piece, row.level - INDEX, row.content))
    return msgspec.json.encode(made)


if __name__ == "__main__":
    memory.be_expendable()
    sys.stdout.buffer.write(_main(Path(sys.argv[1])))
