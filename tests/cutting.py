"""A line to a server that breaks while an answer comes over it."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


class Line:
    """Carries requests to a server and answers back. When so many bytes of answers to a path have
    gone over it, `breaks` is called; whatever still comes is carried on, and then the line ends."""

    def __init__(self, port: int, path: str, after: int, breaks: Callable[[], object]) -> None:
        self._port, self._path, self._left = port, path.encode(), after
        self._breaks: Callable[[], object] | None = breaks
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.is_broken = False

    def serve(self) -> None:
        with suppress(OSError):  # closed
            while True:
                near, _ = self._listener.accept()
                threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _carry(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(("127.0.0.1", self._port))
        except OSError:  # the server is gone
            near.close()
            return
        counted = threading.Event()
        threading.Thread(target=self._ask, args=(near, far, counted), daemon=True).start()
        with near, far:
            with suppress(OSError):
                while some := far.recv(16_384):
                    near.sendall(some)
                    if counted.is_set():
                        self._count(len(some), far)
            # Closing alone would not be told to the other end while the other thread listens.
            for one in (near, far):
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def _ask(self, near: socket.socket, far: socket.socket, counted: threading.Event) -> None:
        with suppress(OSError):
            while some := near.recv(65_536):
                if self._path in some.partition(b"\r\n")[0]:
                    counted.set()
                far.sendall(some)

    def _count(self, some: int, far: socket.socket) -> None:
        self._left -= some
        if self._left <= 0 and self._breaks is not None:
            breaks, self._breaks = self._breaks, None
            breaks()
            self.is_broken = True
            far.shutdown(socket.SHUT_RDWR)


@contextmanager
def cut(
    port: int, path: str, after: int, breaks: Callable[[], object] = lambda: None
) -> Iterator[Line]:
    line = Line(port, path, after, breaks)
    threading.Thread(target=line.serve, daemon=True).start()
    try:
        yield line
    finally:
        line.close()
