"""The connection of one server to PostgreSQL, which a test can cut and mend."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from sqlalchemy import make_url

NAME = ".s.PGSQL.5432"
"""Of the socket in the folder that a database URL names."""


class Cable:
    """While it is cut, nothing gets through and nobody is told, as when a switch loses its power:
    connections stay open, and new ones are not answered. What was on its way arrives later."""

    def __init__(self, folder: Path, database: str) -> None:
        url = make_url(database)
        self._target = str(Path(str(url.query["host"])) / NAME)
        through = url.update_query_dict({"host": str(folder)})
        self.database = through.render_as_string(hide_password=False)
        self._intact = threading.Event()
        self._intact.set()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / NAME))
        self._listener.listen(64)
        _in_background(self._accept)

    def cut(self) -> None:
        self._intact.clear()

    def mend(self) -> None:
        self._intact.set()

    def close(self) -> None:
        self.mend()
        # A thread inside accept() keeps a closed listener alive; shutting it down wakes the thread.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                _in_background(partial(self._connect, near))

    def _connect(self, near: socket.socket) -> None:
        self._intact.wait()
        far = socket.socket(socket.AF_UNIX)
        with suppress(OSError):
            far.connect(self._target)
        _in_background(partial(self._carry, near, far))
        self._carry(far, near)

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while sent := source.recv(65536):
                self._intact.wait()
                target.sendall(sent)
        self._intact.wait()  # nobody hears of the other end's death either
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def _in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, daemon=True).start()
