"""Pieces of results, written in portions; nobody sees them until their event is on the tape."""

import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread

from tapeline.errors import Problem
from tapeline.fair_line import Owner
from tapeline.ids import new_id
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.tape.backtest_results import result_pieces
from tapeline.tape.backtest_results.preparing import Piece, prepare_apart, prepare_here, read_pieces
from tapeline.tape.helper_processes import Helpers
from tapeline.tape.spool import Spool

SMALL = 256 * 1024
STAGED_AT_ONCE = 1_000_000  # bytes in one write: other events must not wait for a whole result


@dataclass(frozen=True)
class Staging:
    """What every stage needs."""

    settings: Settings
    store: Store
    helpers: Helpers
    rooms: Spool
    """Where bodies too large for memory wait."""
    on_kept: Callable[[], None]
    """Called when a result has become visible."""

    @property
    def spool(self) -> Path:
        return self.rooms.folder

    def begin(self, tape: int, owner: Owner) -> "Stage":
        return Stage(self, tape, owner)


class Stage:
    """The results of one request or run: they become visible with their events, all or none."""

    def __init__(self, staging: Staging, tape: int, owner: Owner) -> None:
        self.staging = staging
        self.tape = tape
        self.owner = owner
        """Whose large bodies these are."""
        self._uploads: list[str] = []

    @property
    def newest(self) -> str:
        return self._uploads[-1]

    async def take(self, content: bytes | memoryview) -> dict[str, Any]:
        """Check a result and stage its pieces; the header of the event that will show them."""
        if len(content) > SMALL:
            with self.staging.rooms.room(self.owner) as room:
                room.grow(len(content))
                # Up to 100 MB: not on the event loop.
                await anyio.to_thread.run_sync((room.folder / "body").write_bytes, content)
                return await self.take_folder(room.folder, {}, lenient=False)
        return await self.take_parts(bytes(content), {}, {}, lenient=False)

    async def take_parts(
        self,
        content: bytes | None,
        fields: dict[str, Any],
        files: dict[str, bytes],
        *,
        lenient: bool,
    ) -> dict[str, Any]:
        """The same for a small one, whose long lists may have come as separate parts."""
        depth = self.staging.settings.max_depth
        header, pieces = prepare_here(content, fields, files, lenient=lenient, max_depth=depth)
        await self._put(pieces)
        return header

    async def take_file(self, file: Path, more: dict[str, Any]) -> dict[str, Any]:
        """The same for a file; `more` adds or replaces fields."""
        content = await anyio.to_thread.run_sync(_read_small, file)
        if content is not None:
            return await self.take_parts(content, more, {}, lenient=False)
        with tempfile.TemporaryDirectory(dir=self.staging.spool) as name:
            await anyio.to_thread.run_sync(shutil.copyfile, file, Path(name) / "body")
            return await self.take_folder(Path(name), more, lenient=False)

    async def take_folder(
        self, folder: Path, fields: dict[str, Any], *, lenient: bool
    ) -> dict[str, Any]:
        """The same for what is spooled in a folder, by way of another process."""
        header = await prepare_apart(
            self.staging.helpers,
            folder,
            self.owner,
            fields,
            lenient=lenient,
            max_depth=self.staging.settings.max_depth,
        )
        with (folder / "pieces").open("rb") as packed:
            await self._put(read_pieces(packed))
        return header

    def keep(self) -> None:
        """Their events are stored."""
        if self._uploads:
            self.staging.on_kept()
        self._uploads.clear()

    async def discard(self) -> None:
        """Discard what was staged for events that were refused, or that were stored before."""
        for upload in self._uploads:
            with suppress(Problem):  # the client knows already that the store is down
                await self.staging.store.write(result_pieces.discard, self.tape, upload)
        self._uploads.clear()

    async def _put(self, pieces: Iterable[Piece]) -> None:
        upload, portion, size = new_id(), [], 0
        self._uploads.append(upload)
        for piece in pieces:
            portion.append(piece)
            size += len(piece.content)
            if size >= STAGED_AT_ONCE:
                await self.staging.store.write(result_pieces.stage, self.tape, upload, portion)
                portion, size = [], 0
        if portion:
            await self.staging.store.write(result_pieces.stage, self.tape, upload, portion)


def _read_small(file: Path) -> bytes | None:
    with file.open("rb") as opened:
        content = opened.read(SMALL + 1)
    return content if len(content) <= SMALL else None
