"""What a long history of orders costs: one more order in the books, a late one, and a look at them.

The models lie in one database and take turns, so that a noisy machine is noisy for all of them.
`python -m bench.pnl [--orders N]`: the longest history, a million unless told otherwise.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec

from bench.parts import growth, service
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

ROUNDS = 100
TOGETHER = 2_000  # orders in one transaction while filling
SPREAD = (100, 10)  # how much shorter the other histories are
SYMBOLS = ("BTC-USD", "ETH-USD", "SOL-USD")
EVERYTHING = 2**62


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=1_000_000)
    longest: int = parser.parse_args().orders
    sizes = [*(longest // by for by in SPREAD), longest]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with service.running(data) as first:
            models = [first.model, *(first.another_model(f"m{n}") for n in range(1, len(sizes)))]
        took: growth.Took = {}
        with compose.open_store(Settings(data=data)) as store:
            appender = Appender(Signer(data / "keys"))
            for model, size in zip(models, sizes, strict=True):
                _fill(store, appender, model, size)
            _measure_books(store, appender, models, sizes, took)
        with service.started(data) as (port, _):
            _measure_views(f"http://127.0.0.1:{port}", first, models, took)
    growth.print_table(sizes, "orders", took)


def _fill(store: Store, appender: Appender, model: str, size: int) -> None:
    started = time.perf_counter()
    tape = store.write_now(tapes.open_tape, model)
    for start in range(0, size, TOGETHER):
        events = [_order(tape, n, float(n)) for n in range(start, min(size, start + TOGETHER))]
        store.write_now(appender.append, [Submission(events, None)])
        _keep(store, tape)
    print(f"{size:,} orders with books: {size / (time.perf_counter() - started):,.0f}/s")


def _order(tape: int, number: int, at: float, **more: Any) -> Event:
    fields = {
        "id": f"o-{number}", "symbol": SYMBOLS[number % 3], "exchange": "coinbase",
        "side": "sell" if number % 6 > 2 else "buy", "size": 1.5, "fee": 0.01,
        "price": 100 + number % 17 / 4, **more,
    }  # fmt: skip
    body = msgspec.json.encode(fields, order="deterministic")
    return Event(
        tape=tape, kind=kinds.SPOT_MARKET, fields=fields, body=body, time=at, received_at=at
    )


def _keep(store: Store, tape: int) -> None:
    while (plan := store.read_now(planning.plan, tape, EVERYTHING)) is not None:
        store.write_now(carry_out, plan)


def _measure_books(
    store: Store,
    appender: Appender,
    models: list[str],
    sizes: list[int],
    took: growth.Took,
) -> None:
    for turn in range(ROUNDS):
        for model, size in zip(models, sizes, strict=True):
            tape, number = store.write_now(tapes.open_tape, model), size + turn
            for what, event in {
                "one order in order": _order(tape, number, float(number)),
                "one 100 orders late": _order(tape, number + 10**9, size - 100 + turn + 0.5),
            }.items():
                store.write_now(appender.append, [Submission([event], None)])
                seconds = _timed(lambda tape=tape: _keep(store, tape))  # type: ignore[misc]
                took.setdefault(what, {}).setdefault(model, []).append(seconds)


def _measure_views(
    address: str, first: service.Service, models: list[str], took: growth.Took
) -> None:
    with httpx.Client(base_url=address, timeout=60, headers={"token": first.token}) as client:
        for turn in range(ROUNDS + 10):
            for model in models:
                for what, path in {
                    "`…/pnl`": f"/api/models/{model}/pnl",
                    "`…/pnl`, one hour of it": f"/api/models/{model}/pnl?from=6400&to=10000",
                    "`…/orders`": f"/api/models/{model}/orders",
                }.items():
                    seconds = _timed(lambda path=path: client.get(path).raise_for_status())  # type: ignore[misc]
                    if turn >= 10:  # the first ones warm everything up
                        took.setdefault(what, {}).setdefault(model, []).append(seconds)


def _timed(act: Callable[[], Any]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
