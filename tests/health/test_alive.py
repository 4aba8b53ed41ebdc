"""Signs of life are sent while the server is well, and only then."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from tapeline.background import Background
from tapeline.health.alive import Alive
from tapeline.tape.append.probe import KEPT
from tests.conftest import Service, run

pytestmark = pytest.mark.databases("sqlite")


@contextmanager
def listener(status: int = 200) -> Iterator[tuple[str, list[str]]]:
    """Somebody outside, and what was asked."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/ping/1", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_server_is_heard_of_while_it_stores_events(service: Service) -> None:
    file = service.store.database.file
    assert file is not None
    with listener() as (address, heard), listener() as (other, heard_too):
        alive = Alive(f"{address}, {other}", service.services.health, Background())

        async def well_and_unwell() -> None:
            await alive.turn()
            assert heard == heard_too == ["/ping/1"]
            await asyncio.sleep(KEPT)  # for so long an answer about the store is used again
            with closing(sqlite3.connect(file)) as holder:
                holder.execute("begin exclusive")
                await alive.turn()

        run(well_and_unwell())
        assert len(heard) == len(heard_too) == 1


def test_one_that_does_not_listen_is_noted_and_keeps_no_other_from_it(service: Service) -> None:
    with listener(500) as (broken, _), listener() as (address, heard):
        background = Background()
        alive = Alive(
            f"{broken}, http://127.0.0.1:1/, {address}", service.services.health, background
        )
        run(alive.turn())
        (state,) = background.states()
        assert (state.name, state.failures, len(heard)) == ("signs of life", 2, 1)


def test_nobody_is_called_unless_the_operator_says_so(service: Service) -> None:
    background = Background()
    Alive("", service.services.health, background)
    assert background.states() == []
