"""The bell in the folder of runs: shims ring it when their journals grow."""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tapeline.background import Background

BELL = "bell"
LONGEST_NAME = 256
LOOKED_EVERY, WITHIN = 5.0, 15.0  # seconds


class Bell:
    def __init__(
        self, folder: Path, rung: Callable[[set[str]], None], background: Background
    ) -> None:
        """`rung` gets the runs whose journals have grown, in the event loop."""
        self._folder = folder
        self._rung = rung
        self._socket: socket.socket | None = None
        self._inode: int | None = None
        background.loop("bell", self._look, every=LOOKED_EVERY, within=WITHIN)

    async def _look(self) -> None:
        """Create it, and check that it is still where shims look for it."""
        loop = asyncio.get_running_loop()
        if self._socket is not None:
            if await asyncio.to_thread(_inode, self._folder) == self._inode:
                return
            loop.remove_reader(self._socket)
            self.close()
        self._socket = await asyncio.to_thread(_hung, self._folder)
        self._inode = await asyncio.to_thread(_inode, self._folder)
        loop.add_reader(self._socket, self._answer, self._socket)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _answer(self, bell: socket.socket) -> None:
        names = set()
        with suppress(BlockingIOError):
            while True:
                names.add(bell.recv(LONGEST_NAME).decode(errors="replace"))
        self._rung(names)


def _inode(folder: Path) -> int | None:
    try:
        return (folder / BELL).stat().st_ino
    except FileNotFoundError:
        return None


def _hung(folder: Path) -> socket.socket:
    """A datagram socket in the folder, whatever the length of the folder's name."""
    (folder / BELL).unlink(missing_ok=True)
    bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        bell.setblocking(False)
        descriptor = os.open(folder, os.O_PATH)
        try:
            bell.bind(f"/proc/self/fd/{descriptor}/{BELL}")
        finally:
            os.close(descriptor)
    except BaseException:
        bell.close()
        raise
    return bell
