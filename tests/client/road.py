"""A TCP road between a client and its server: it can be slow, closed, or lose the answers."""

import contextlib
import socket
import threading
from types import TracebackType
from urllib.parse import urlsplit


class Road:
    def __init__(self, address: str) -> None:
        where = urlsplit(address)
        self._to = (where.hostname or "", where.port or 80)
        self.delay = 0.0
        """Seconds before an answer is passed on."""
        self.lose_answers = 0
        """How many answers are swallowed, the connection with them."""
        self.passed = 0
        """Requests that reached the server, in pieces."""
        self._open: list[socket.socket] = []
        self._closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._port: int = self._listener.getsockname()[1]
        self._threads: list[threading.Thread] = []
        self._listen()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def close(self) -> None:
        """Nobody gets through, and those on it are thrown off."""
        self._closed.set()
        # A thread that waits in accept() would keep the port open after a close().
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in list(self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for one in self._open:
            one.close()
        self._open.clear()
        self._threads.clear()

    def reopen(self) -> None:
        self._closed.clear()
        self._listener = socket.create_server(("127.0.0.1", self._port))
        self._listen()

    def _listen(self) -> None:
        self._start(self._accept, self._listener)

    def _start(self, run: object, *args: object) -> None:
        assert callable(run)
        thread = threading.Thread(target=run, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                here, _ = listener.accept()
                self._open.append(here)
                there = socket.create_connection(self._to)
                self._open.append(there)
            except OSError:
                return
            if self._closed.is_set():
                return
            self._start(self._carry, here, there, False)
            self._start(self._carry, there, here, True)

    def _carry(self, start: socket.socket, end: socket.socket, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while piece := start.recv(65536):
                if not answers:
                    self.passed += 1
                elif self.lose_answers:
                    self.lose_answers -= 1
                    break
                else:
                    self._closed.wait(self.delay)
                end.sendall(piece)
        for one in (start, end):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> "Road":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
