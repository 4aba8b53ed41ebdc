"""A long tape of mostly log lines for benches: filled through the appender, as the server would."""

import time
from pathlib import Path
from typing import Any

import msgspec

from tapeline import compose
from tapeline.settings import Settings
from tapeline.tape import tapes
from tapeline.tape.append.appending import Appender
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.proof.signer import Signer

TOGETHER = 200  # events in one commit
COMMITS = 50  # in one transaction, because nobody waits for them
ORDERS_EVERY = 50  # events; the others are lines of a log


def fill(
    data: Path, model: str, size: int, *, age: float = 0.0, orders_every: int = ORDERS_EVERY
) -> None:
    """So many events, which arrived so many seconds ago; without orders if there is one every 0."""
    started, at = time.perf_counter(), time.time() - age

    def made(tape: int, number: int, at: float) -> Event:
        is_order = orders_every and number % orders_every == 0
        return (_order if is_order else _line)(tape, number, at)

    with compose.open_store(Settings(data=data)) as store:
        appender, tape = Appender(Signer(data / "keys")), store.write_now(tapes.open_tape, model)

        def append(connection: Any, first: int) -> None:
            for start in range(first, min(size, first + TOGETHER * COMMITS), TOGETHER):
                numbers = range(start, min(size, start + TOGETHER))
                events = [made(tape, number, at + number / 1000) for number in numbers]
                appender.append(connection, [Submission(events, None)])

        for first in range(0, size, TOGETHER * COMMITS):
            store.write_now(append, first)
    print(f"{size:,} events stored in {time.perf_counter() - started:.0f} s")


def _order(tape: int, number: int, at: float) -> Event:
    fields = {
        "id": f"o-{number}", "symbol": "BTC-USD", "exchange": "coinbase", "side": "buy",
        "size": 1.5, "price": 100.25,
    }  # fmt: skip
    return _made(tape, kinds.SPOT_LIMIT, fields, at)


def _line(tape: int, number: int, at: float) -> Event:
    return _made(tape, kinds.LOG, {"line": f"line {number} of a long story", "type": "stdout"}, at)


def _made(tape: int, kind: kinds.Kind, fields: dict[str, Any], at: float) -> Event:
    body = msgspec.json.encode(fields, order="deterministic")
    return Event(tape=tape, kind=kind, fields=fields, body=body, time=at, received_at=at)
