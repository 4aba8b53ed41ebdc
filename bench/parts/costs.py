"""The processor time of appending and of keeping books, a round at each line on standard input.

`bench.beside` starts it as a script, once with the sources of each version: it uses only what both
have.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, insert

from tapeline import compose
from tapeline.results.pnl import planning
from tapeline.results.pnl.books import carry_out
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.store.tables import core
from tapeline.tape import tapes
from tapeline.tape.append.appending import Appender
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.proof.signer import Signer

SYMBOLS = ("BTC-USD", "ETH-USD", "SOL-USD")
ALONE, TOGETHER = 10, 500  # single events in a round, and events in a batch
EVERYTHING = 2**62
MIXED = "mixed"
BATCHED = {
    "order": f"per order of {TOGETHER}",
    "price": f"per price of {TOGETHER}",
    MIXED: f"per event of {TOGETHER}, three prices to one order",
}

_encode = msgspec.json.Encoder(order="deterministic").encode
_numbers = count()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with compose.open_store(Settings(data=data)) as store:
            (data / "keys").mkdir(exist_ok=True)
            tape = store.write_now(_new_tape)
            appender = Appender(Signer(data / "keys"))
            for _ in sys.stdin:
                print(msgspec.json.encode(_round(store, appender, tape)).decode(), flush=True)


def _round(store: Store, appender: Appender, tape: int) -> dict[str, float]:
    """Microseconds per event."""
    took: dict[str, float] = {}
    for what, kinds_of in {
        "order": (_order,),
        "price": (_price,),
        MIXED: (_order, _price, _price, _price),
    }.items():
        for size, times in ((1, ALONE), (TOGETHER, 1)):
            if size == 1 and len(kinds_of) > 1:
                continue
            how = f"one {what} alone" if size == 1 else BATCHED[what]
            appending, booking = 0.0, 0.0
            for _ in range(times):
                events = [kinds_of[n % len(kinds_of)](tape) for n in range(size)]
                appending += _cpu(store.write_now, appender.append, [Submission(events, None)])
                booking += _cpu(_keep, store, tape)
            took[f"append, {how}"] = appending / size / times
            took[f"books, {how}"] = booking / size / times
    lines = [_line(tape) for _ in range(TOGETHER)]
    appending = _cpu(store.write_now, appender.append, [Submission(lines, None)])
    took[f"append, per line of {TOGETHER}"] = appending / TOGETHER
    return took


def _keep(store: Store, tape: int) -> None:
    while (plan := store.read_now(planning.plan, tape, EVERYTHING)) is not None:
        store.write_now(carry_out, plan)


def _cpu(act: Callable[..., Any], *arguments: Any) -> float:
    started = time.process_time()
    act(*arguments)
    return (time.process_time() - started) * 1e6


def _order(tape: int) -> Event:
    n = next(_numbers)
    return _event(tape, kinds.SPOT_MARKET, n, {
        "exchange": "coinbase", "fee": 0.01, "id": f"o-{n}", "price": 100 + n % 17 / 4,
        "side": "sell" if n % 6 > 2 else "buy", "size": 1.5, "symbol": SYMBOLS[n % 3],
    })  # fmt: skip


def _price(tape: int) -> Event:
    n = next(_numbers)
    fields = {"price": 100 + n % 17 / 4, "symbol": SYMBOLS[n % 3]}
    return _event(tape, kinds.MARK_PRICE, n, fields)


def _line(tape: int) -> Event:
    n = next(_numbers)
    return _event(tape, kinds.LOG, n, {"line": f"line {n} of a model", "type": "stdout"})


def _event(tape: int, kind: kinds.Kind, n: int, fields: dict[str, Any]) -> Event:
    return Event(tape, kind, fields, _encode(fields), float(n), float(n))


def _new_tape(connection: Connection) -> int:
    rows: Iterable[tuple[Any, dict[str, Any]]] = (
        (core.projects, {"id": "p", "name": "p", "description": "", "created_at": 0.0}),
        (core.models, {"id": "m", "project_id": "p", "name": "m", "type": "strategy",
                       "description": "", "created_at": 0.0}),
    )  # fmt: skip
    for table, values in rows:
        connection.execute(insert(table).values(**values))
    return tapes.open_tape(connection, "m")


if __name__ == "__main__":
    main()
