"""Makes reports beside the service: small ones in a thread, large ones in a process of their own.

`python -m tapeline.results.reporter FOLDER` is that process. It reads the result's pieces from
`FOLDER/pieces`, writes the report's rows to `FOLDER/rows` and prints the report as JSON.
"""

import asyncio
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from sqlalchemy import Connection, select

from tapeline.errors import Unavailable
from tapeline.logs import Log
from tapeline.results import reports
from tapeline.results.live import LiveMetrics
from tapeline.results.records import INDEX, Report, Row
from tapeline.store.store import Store
from tapeline.store.tape_tables import pieces as piece_rows
from tapeline.tape.preparing import FRAME, Piece, read_pieces

log = Log(__name__)

SMALL = 20_000  # account values, trades and indicators' values that a thread is quick with
LOOKED_EVERY = 5.0  # seconds: other servers and the runner bring results too
SWEPT_EVERY = 12  # looks
PUT_AT_ONCE = 1_000_000  # bytes in one write: others must not wait for a whole report
PATIENCE = 60.0  # seconds that a request waits for its report
FAILED = "These figures could not be computed; the server's log says why."


class Reporter:
    def __init__(self, store: Store, spool: Path) -> None:
        self.live = LiveMetrics()
        self.patience = PATIENCE
        self._store = store
        self._spool = spool
        self._making: dict[str, asyncio.Task[None]] = {}
        self._failed: set[str] = set()
        self._news: asyncio.Event | None = None
        self._one_at_a_time: asyncio.Semaphore | None = None

    async def keep_reporting(self) -> None:
        """Runs as long as the service does."""
        self._news = asyncio.Event()
        looks = 0
        try:
            while True:
                with suppress(Unavailable):
                    await self._report_all()
                    if looks % SWEPT_EVERY == 0:
                        await self.sweep()
                looks += 1
                self._news.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOKED_EVERY):
                        await self._news.wait()
        finally:
            for task in list(self._making.values()):
                task.cancel()
            await asyncio.gather(*self._making.values(), return_exceptions=True)

    def wake(self) -> None:
        """There is a new result."""
        if self._news is not None:
            self._news.set()

    async def ready(self, upload: str) -> None:
        """Wait until the report is there; make it now if nobody is at it."""
        await asyncio.shield(self._task(upload))

    def has_failed(self, upload: str) -> bool:
        return upload in self._failed

    async def sweep(self) -> None:
        """Clear what belongs to no result any more, in small portions."""
        while not await self._store.read(reports.is_clear):
            await self._store.write(reports.clear_some)

    async def _report_all(self) -> None:
        if not await self._store.read(_has_results):
            return
        while True:
            found = await self._store.read(reports.pending, len(self._failed) + 20)
            missing = [upload for upload in found if upload not in self._failed]
            if not missing:
                return
            for upload in missing:
                await asyncio.shield(self._task(upload))

    def _task(self, upload: str) -> "asyncio.Task[None]":
        if upload not in self._making:
            task = asyncio.create_task(self._make(upload))
            self._making[upload] = task
            task.add_done_callback(lambda _: self._making.pop(upload, None))
        return self._making[upload]

    async def _make(self, upload: str) -> None:
        if self._one_at_a_time is None:
            self._one_at_a_time = asyncio.Semaphore(1)
        async with self._one_at_a_time:
            found = await self._store.read(reports.source, upload)
            if found is None or upload in self._failed:
                return
            try:
                if _size(found.header) <= SMALL:
                    await self._make_here(upload, found.header)
                else:
                    await self._make_apart(upload, found.header)
            except Unavailable:
                raise
            except Exception as error:
                self._failed.add(upload)
                log.error("report_not_made", exc_info=error, upload=upload)

    async def _make_here(self, upload: str, header: dict[str, Any]) -> None:
        from tapeline.results import report  # noqa: PLC0415 - start-up stays light

        def make() -> tuple[Report, list[Row]]:
            lists = self._store.read_now(_all_pieces, upload)
            made, rows = report.make(lambda name: lists[name], header)
            return made, list(rows)

        made, rows = await asyncio.to_thread(make)
        await self._save(upload, made, rows)

    async def _make_apart(self, upload: str, header: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory(dir=self._spool) as name:
            folder = Path(name)
            await asyncio.to_thread(self._spool_pieces, upload, header, folder)
            printed = await _run_apart(folder)
            made = msgspec.json.decode(printed, type=Report)
            with (folder / "rows").open("rb") as file:
                await self._save(upload, made, _read_rows(file))

    async def _save(self, upload: str, made: Report, rows: Iterable[Row]) -> None:
        await self._store.write(reports.begin, upload)
        portion, size = [], 0
        for row in rows:
            portion.append(row)
            size += len(row.content)
            if size >= PUT_AT_ONCE:
                await self._store.write(reports.put, upload, portion)
                portion, size = [], 0
        await self._store.write(reports.put, upload, portion)
        await self._store.write(reports.finish, upload, made)

    def _spool_pieces(self, upload: str, header: dict[str, Any], folder: Path) -> None:
        (folder / "header").write_bytes(msgspec.json.encode(header))
        with (folder / "pieces").open("wb") as out:
            for key in self._store.read_now(_keys, upload):
                content = self._store.read_now(_content, upload, *key)
                if content is not None:
                    _write(out, Piece(key[0], key[1], 0, content))


async def _run_apart(folder: Path) -> bytes:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-m", "tapeline.results.reporter", str(folder),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        printed, _ = await child.communicate()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()
        raise
    if child.returncode != 0:
        raise ChildProcessError(f"the process that computes ended with {child.returncode}")
    return printed


def _size(header: dict[str, Any]) -> int:
    lists = [header.get("account_values"), header.get("trades")]
    lists += (header.get("indicators") or {}).values()
    return sum(one.get("count", 0) for one in lists if isinstance(one, dict))


def _has_results(connection: Connection) -> bool:
    """Before the first result nothing heavy is imported."""
    return connection.scalar(select(piece_rows.c.piece).limit(1)) is not None


def _keys(connection: Connection, upload: str) -> list[tuple[str, int]]:
    """Of the lists that a report needs; the account values are there as doubles too."""
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
    """In a frame the level stands where a piece has the index of its first item."""
    for piece in read_pieces(file):
        yield Row(piece.list, piece.first + INDEX, piece.piece, piece.content)


def _main(folder: Path) -> bytes:
    from tapeline.results import report  # noqa: PLC0415 - start-up stays light

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
    os.nice(5)  # nobody waits for a report as urgently as others wait for the service
    sys.stdout.buffer.write(_main(Path(sys.argv[1])))
