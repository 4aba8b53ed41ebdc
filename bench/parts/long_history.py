"""Models with a long history for benches: filled through the appender, as the server would."""

import time
from pathlib import Path
from typing import Any

import msgspec

from tapeline import compose
from tapeline.results.pnl import planning
from tapeline.results.pnl.books import carry_out
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.tape import tapes
from tapeline.tape.append.appending import Appender
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.proof.signer import Signer

TOGETHER = 2_000  # events in one transaction
START = 1_700_000_000.0
EVERY = 60.0  # seconds between orders, and between lines
SYMBOLS = ("BTC-USD", "ETH-USD", "SOL-USD")
RARE = "a line that is like no other"
EVERYTHING = 2**62


def fill(data: Path, model: str, rows: int) -> None:
    """As many orders, with their books, and as many lines; one line in the first tenth is rare."""
    started = time.perf_counter()
    with compose.open_store(Settings(data=data)) as store:
        appender, tape = Appender(Signer(data / "keys")), store.write_now(tapes.open_tape, model)
        for first in range(0, rows, TOGETHER):
            numbers = range(first, min(rows, first + TOGETHER))
            _store(store, appender, [_order(tape, number) for number in numbers])
            _store(store, appender, [_line(tape, number, rows) for number in numbers])
            _keep_books(store, tape)
    print(f"{rows:,} orders and lines stored in {time.perf_counter() - started:.0f} s")


def _store(store: Store, appender: Appender, events: list[Event]) -> None:
    store.write_now(appender.append, [Submission(events, None)])


def _order(tape: int, number: int) -> Event:
    fields = {
        "id": f"o-{number}", "symbol": SYMBOLS[number % 3], "exchange": "coinbase",
        "side": "sell" if number % 6 > 2 else "buy", "size": 1.5, "fee": 0.01,
        "price": 100 + number % 17 / 4, "annotation": f"signal {number % 7} crossed",
    }  # fmt: skip
    return _event(tape, kinds.SPOT_MARKET, fields, number)


def _line(tape: int, number: int, rows: int) -> Event:
    text = RARE if number == rows // 10 else f"tick {number}: looked at 3 symbols, waited"
    return _event(tape, kinds.LOG, {"line": text, "type": "stdout"}, number)


def _event(tape: int, kind: kinds.Kind, fields: dict[str, Any], number: int) -> Event:
    at = START + EVERY * number
    body = msgspec.json.encode(fields, order="deterministic")
    return Event(tape=tape, kind=kind, fields=fields, body=body, time=at, received_at=at)


def _keep_books(store: Store, tape: int) -> None:
    while (plan := store.read_now(planning.plan, tape, EVERYTHING)) is not None:
        store.write_now(carry_out, plan)
