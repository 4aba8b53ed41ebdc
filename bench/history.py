"""What a long history costs: one append and the usual looks at models with few and many events.

The models lie in one database and take turns, so that a noisy machine is noisy for all of them.
`python -m bench.history [--events N]`: the longest history, ten million unless told otherwise.
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
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.tape import tapes
from tapeline.tape.append.appending import Appender
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.proof.signer import Signer

ROUNDS = 200
TOGETHER = 2_000  # events in one transaction while filling
ORDERS_EVERY = 50  # events; the others are lines of a log
SPREAD = (1_000, 10)  # how much shorter the other histories are


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    longest: int = parser.parse_args().events
    sizes = [*(longest // by for by in SPREAD), longest]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with service.running(data) as first:
            models = [first.model, *(first.another_model(f"m{n}") for n in range(1, len(sizes)))]
        for model, size in zip(models, sizes, strict=True):
            _fill(data, model, size)
        with service.started(data) as (port, _):
            took = _measure(f"http://127.0.0.1:{port}", first, models)
    growth.print_table(sizes, "events", took)


def _fill(data: Path, model: str, size: int) -> None:
    """As the server would: through the appender, with seals, in transactions of many."""
    with compose.open_store(Settings(data=data)) as store:
        appender, tape = Appender(Signer(data / "keys")), store.write_now(tapes.open_tape, model)
        for start in range(0, size, TOGETHER):
            events = [_event(tape, n) for n in range(start, min(size, start + TOGETHER))]
            _store(store, appender, events)


def _store(store: Store, appender: Appender, events: list[Event]) -> None:
    store.write_now(appender.append, [Submission(events, None)])


def _event(tape: int, number: int) -> Event:
    now = time.time()
    fields: dict[str, Any]
    if number % ORDERS_EVERY:
        kind, fields = kinds.LOG, {"line": f"line {number} of a long story", "type": "stdout"}
    else:
        kind = kinds.SPOT_LIMIT
        fields = {
            "id": f"o-{number}", "symbol": "BTC-USD", "exchange": "coinbase", "side": "buy",
            "size": 1.5, "price": 100.25,
        }  # fmt: skip
    body = msgspec.json.encode(fields)
    return Event(tape=tape, kind=kind, fields=fields, body=body, time=now, received_at=now)


def _measure(address: str, first: service.Service, models: list[str]) -> growth.Took:
    """Seconds by act and model."""
    took: growth.Took = {}
    with httpx.Client(base_url=address, timeout=60) as client:
        for turn in range(ROUNDS + 10):
            for model in models:
                for what, act in _acts(client, first, model).items():
                    seconds = _timed(act)
                    if turn >= 10:  # the first ones warm everything up
                        took.setdefault(what, {}).setdefault(model, []).append(seconds)
    return took


def _acts(
    client: httpx.Client, first: service.Service, model: str
) -> dict[str, Callable[[], httpx.Response]]:
    reader, writer = {"token": first.token}, {**first.headers, "model_id": model}
    line = {"line": "one more"}
    return {
        "one append": lambda: client.post("/v1/live/log", json=line, headers=writer),
        "`…/orders`": lambda: client.get(f"/api/models/{model}/orders", headers=reader),
        "`…/logs`": lambda: client.get(f"/api/models/{model}/logs", headers=reader),
        "`/api/models/{model}`": lambda: client.get(f"/api/models/{model}", headers=reader),
    }


def _timed(act: Callable[[], httpx.Response]) -> float:
    started = time.perf_counter()
    act().raise_for_status()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
