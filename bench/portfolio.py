"""What a portfolio of 200 models costs, by how many orders they have: three projects, three sizes.

The projects lie in one database and take turns. A few models of each are filled as a server would
do it; the others get copies of all their rows. `python -m bench.portfolio [--orders N]`: orders of
all models of the largest project, a million unless told otherwise.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
from sqlalchemy import Connection, insert, literal, select, update

from bench.parts import growth, service
from tapeline import compose
from tapeline.ids import new_id
from tapeline.results.pnl import account, planning
from tapeline.results.pnl.books import carry_out
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.store.tables import core
from tapeline.store.tables.tape import tapes as heads
from tapeline.tape import tapes
from tapeline.tape.append.appending import Appender
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.proof.signer import Signer

MODELS, ORIGINALS = 200, 4
TOGETHER = 20  # orders in one commit
ROUNDS = 30
SPREAD = (100, 10)  # how many times fewer orders the other projects have
WANTED, SOON = 0.15, 3.0  # seconds: of an answer, and until an order is in it
YEAR = 365 * 86_400.0
SYMBOLS = ("BTC-USD", "ETH-USD", "SOL-USD")
EVERYTHING = 2**62


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=1_000_000)
    most: int = parser.parse_args().orders
    sizes = [*(most // by for by in SPREAD), most]
    took: growth.Took = {}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with service.running(data) as first:
            keys = [_project(first, number) for number in range(len(sizes))]
        with compose.open_store(Settings(data=data)) as store:
            appender = Appender(Signer(data / "keys"))
            for key, size in zip(keys, sizes, strict=True):
                _fill(store, appender, key["project"], size)
        with service.started(data) as (port, _):
            _measure(f"http://127.0.0.1:{port}", first.token, keys, took)
    growth.print_table(sizes, "orders", took)
    for what, limit in (("after a new order", WANTED), ("from order to answer", SOON)):
        found = max(statistics.median(seconds) for seconds in took[what].values())
        print(f"{what}: {1000 * found:.0f} ms of {1000 * limit:.0f} ms")


def _project(first: service.Service, number: int) -> dict[str, str]:
    """A project and a key that may write in it."""
    headers = {"token": first.token}
    with httpx.Client(base_url=first.address, headers=headers, timeout=60) as client:
        made = client.post("/project/create", json={"name": f"p{number}"}).raise_for_status().json()
        wanted = {"projectId": made["projectId"], "name": "k"}
        key = client.post("/project/generate-project-token", json=wanted).raise_for_status().json()
    return {"project": made["projectId"], "api_key": key["apiKey"], "api_pass": key["apiPass"]}


def _fill(store: Store, appender: Appender, project: str, size: int) -> None:
    started = time.perf_counter()
    begin = time.time() - YEAR
    count, first = size // MODELS, []
    for number in range(MODELS):
        if number < ORIGINALS:
            times = [begin + YEAR * (n + number / ORIGINALS) / count for n in range(count)]
            first.append(store.write_now(_fill_model, appender, project, number, times))
        else:
            store.write_now(_copy, project, number, first[number % ORIGINALS])
    print(f"{size:,} orders of {MODELS} models: {size / (time.perf_counter() - started):,.0f}/s")


def _fill_model(
    connection: Connection, appender: Appender, project: str, number: int, times: list[float]
) -> int:
    tape = _model(connection, project, number)
    events = [_capital(tape, times[0]), *(_order(tape, n, at) for n, at in enumerate(times))]
    for start in range(0, len(events), TOGETHER):  # each becomes a page, as a commit would
        appender.append(connection, [Submission(events[start : start + TOGETHER], None)])
    while (plan := planning.plan(connection, tape, EVERYTHING)) is not None:
        carry_out(connection, plan)
    return tape


def _copy(connection: Connection, project: str, number: int, original: int) -> None:
    """A model with all that another one's tape and books have."""
    tape = _model(connection, project, number)
    head = connection.execute(select(heads).where(heads.c.no == original)).one()
    same = {name: getattr(head, name) for name in ("seq", "link", "counts", "bytes", "signed_at")}
    connection.execute(update(heads).where(heads.c.no == tape).values(**same))
    for table in core.metadata.sorted_tables:
        if "tape" in table.c and "no" not in table.c:
            names = [column.name for column in table.c]
            columns = [literal(tape) if name == "tape" else table.c[name] for name in names]
            rows = select(*columns).where(table.c.tape == original)
            connection.execute(insert(table).from_select(names, rows))


def _model(connection: Connection, project: str, number: int) -> int:
    model = {
        "id": new_id(), "project_id": project, "name": f"m{number}", "type": "strategy",
        "description": "", "created_at": float(number), "positions": "signed",
    }  # fmt: skip
    connection.execute(insert(core.models).values(**model))
    return tapes.open_tape(connection, str(model["id"]))


def _capital(tape: int, at: float) -> Event:
    event = account.event(tape, {"capital": {"amount": 1e6, "currency": "USD"}})
    event.time = event.received_at = at
    return event


def _order(tape: int, number: int, at: float) -> Event:
    fields = {
        "id": f"o-{number}", "symbol": SYMBOLS[(tape + number) % 3], "exchange": "coinbase",
        "side": "sell" if number % 6 > 2 else "buy", "size": 1.5, "fee": 0.01,
        "price": 100 + (number * (tape % 7 + 1)) % 17 / 4,
    }  # fmt: skip
    body = msgspec.json.encode(fields, order="deterministic")
    return Event(
        tape=tape, kind=kinds.SPOT_MARKET, fields=fields, body=body, time=at, received_at=at
    )


def _measure(address: str, token: str, keys: list[dict[str, str]], took: growth.Took) -> None:
    with httpx.Client(base_url=address, timeout=60, headers={"token": token}) as client:
        for what, project, seconds in _rounds(client, keys):
            took.setdefault(what, {}).setdefault(project, []).append(seconds)


def _rounds(client: httpx.Client, keys: list[dict[str, str]]) -> Iterator[tuple[str, str, float]]:
    for turn in range(ROUNDS):
        for key in keys:
            project = key["project"]
            path = f"/api/projects/{project}/portfolio"
            look = lambda path=path: client.get(path).raise_for_status().json()  # noqa: E731
            found, seconds = _timed(look)
            yield ("nothing new" if turn else "the first after a start"), project, seconds
            model = found["models"][turn % MODELS]["model_id"]
            posted = time.perf_counter()
            _push(client, key, model, turn)
            answer, seconds = _timed(look)
            assert answer["profit"] != found["profit"], "the order is not in it"
            yield "after a new order", project, seconds
            yield "from order to answer", project, time.perf_counter() - posted


def _push(client: httpx.Client, key: dict[str, str], model: str, turn: int) -> None:
    headers = {"model_id": model, "api_key": key["api_key"], "api_pass": key["api_pass"]}
    order = {
        "id": f"new-{turn}", "symbol": "BTC-USD", "exchange": "coinbase", "side": "buy",
        "size": 1 + turn, "executionPrice": 90 + turn, "fee": 1 + turn,
    }  # fmt: skip
    client.post("/v1/live/spot-market", json=order, headers=headers).raise_for_status()


def _timed(act: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    return act(), time.perf_counter() - started


if __name__ == "__main__":
    main()
