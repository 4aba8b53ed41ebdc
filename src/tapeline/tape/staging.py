"""Pieces of results, written in portions; nobody sees them until their event is on the tape."""

import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio.to_thread

from tapeline.errors import Problem
from tapeline.ids import new_id
from tapeline.store.store import Store
from tapeline.tape import uploads
from tapeline.tape.helper import Helpers
from tapeline.tape.preparing import Piece, prepare_apart, prepare_here, read_pieces

SMALL = 256 * 1024
STAGED_AT_ONCE = 1_000_000  # bytes in one write: others' events must not wait for a whole result


class Stage:
    def __init__(
        self, store: Store, helpers: Helpers, spool: Path, max_depth: int, tape: int
    ) -> None:
        self._helpers = helpers
        self.spool = spool
        self.max_depth = max_depth
        self._store = store
        self._tape = tape
        self._uploads: list[str] = []

    @property
    def newest(self) -> str:
        return self._uploads[-1]

    async def take(self, content: bytes) -> dict[str, Any]:
        """Check a result and stage its pieces; the header of the event that will show them."""
        if len(content) > SMALL:
            with tempfile.TemporaryDirectory(dir=self.spool) as name:
                # Up to 100 MB: not on the event loop.
                await anyio.to_thread.run_sync((Path(name) / "body").write_bytes, content)
                return await self.take_folder(Path(name), {}, lenient=False)
        header, pieces = prepare_here(content, {}, {}, lenient=False, max_depth=self.max_depth)
        await self.put(pieces)
        return header

    async def take_file(self, file: Path, more: dict[str, Any]) -> dict[str, Any]:
        """The same for a file, whose fields `more` adds to or replaces."""
        content = await anyio.to_thread.run_sync(_read_small, file)
        if content is not None:
            header, pieces = prepare_here(
                content, more, {}, lenient=False, max_depth=self.max_depth
            )
            await self.put(pieces)
            return header
        with tempfile.TemporaryDirectory(dir=self.spool) as name:
            await anyio.to_thread.run_sync(shutil.copyfile, file, Path(name) / "body")
            return await self.take_folder(Path(name), more, lenient=False)

    async def take_folder(
        self, folder: Path, fields: dict[str, Any], *, lenient: bool
    ) -> dict[str, Any]:
        """The same for what is spooled in a folder, by way of another process."""
        header = await prepare_apart(
            self._helpers, folder, fields, lenient=lenient, max_depth=self.max_depth
        )
        with (folder / "pieces").open("rb") as packed:
            await self.put(read_pieces(packed))
        return header

    async def put(self, pieces: Iterable[Piece]) -> None:
        upload, portion, size = new_id(), [], 0
        self._uploads.append(upload)
        for piece in pieces:
            portion.append(piece)
            size += len(piece.content)
            if size >= STAGED_AT_ONCE:
                await self._store.write(uploads.stage, upload, portion)
                portion, size = [], 0
        if portion:
            await self._store.write(uploads.stage, upload, portion)

    def keep(self) -> None:
        """Their events are stored."""
        self._uploads.clear()

    async def discard(self) -> None:
        """What was staged for events that are not stored, or were stored already."""
        for upload in self._uploads:
            with suppress(Problem):  # a store that is down has told the client already
                await self._store.write(uploads.discard, self._tape, upload)
        self._uploads.clear()


def _read_small(file: Path) -> bytes | None:
    with file.open("rb") as opened:
        content = opened.read(SMALL + 1)
    return content if len(content) <= SMALL else None
