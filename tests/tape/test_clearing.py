"""Deleting models and projects: nothing of them is left, and others are not held up."""

import threading
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, func, select

from tapeline.accounts import users
from tapeline.models import models, projects
from tapeline.store import ledger_tables, tape_tables
from tapeline.tape import clearing, uploads
from tapeline.tape.preparing import Piece
from tests.conftest import Person, Service, run
from tests.pushing import ORDER, RESULT, Model, pushing

LOG = "/v1/live/log"
TABLES = [
    getattr(tape_tables, name)
    for name in (
        "tapes",
        "pages",
        "states",
        "used",
        "orders",
        "backtests",
        "pieces",
        "checkpoints",
    )
] + [
    getattr(ledger_tables, name)
    for name in ("ledgers", "books", "entries", "places", "curves", "sketches")
]


def left(service: Service) -> dict[str, int]:
    def count(connection: Connection) -> dict[str, int]:
        counting = {table.name: select(func.count()).select_from(table) for table in TABLES}
        return {name: connection.scalar(query) or 0 for name, query in counting.items()}

    return {name: number for name, number in service.store.read_now(count).items() if number}


def fill(model: Model, lines: int) -> None:
    """A bit of everything, and many lines."""
    for start in range(0, lines, 10_000):
        some = min(10_000, lines - start)
        model.push("/v1/batch", [{"path": LOG, "body": {"line": "x"}}] * some)
    order = {"path": "/v1/live/spot-market"}
    model.push(
        "/v1/batch", [order | {"body": ORDER | {"id": str(n)}} for n in range(min(lines, 3000))]
    )
    model.push("/v1/model/used-symbol", {"symbol": "A"})
    model.push("/v1/model/lifecycle", {"running": True})
    values = [{"time": n, "value": 1} for n in range(20_001)]
    model.push("/v1/backtest/result", RESULT | {"account_values": values})
    model.push("/v1/batch", [{"path": "/v1/backtest/log",
                              "body": {"line": "x", "backtest_id": "b1"}}] * 2500)  # fmt: skip
    model.push("/v1/live/mark-price", {"symbol": "BTC-USD", "price": 7})
    assert model.get("/pnl")["counts"]["unpriced"] == min(lines, 3000)
    model.get("/tape/seals")


def clear(service: Service) -> None:
    run(clearing.clear(service.store))


@pytest.mark.heavy
def test_a_deleted_model_is_cleared_while_others_push(
    service: Service, enter: Callable[[str], Person]
) -> None:
    ada = enter("ada")
    with pushing(service, ada) as doomed, pushing(service, ada) as other:
        fill(doomed, 30_000)
        other.push(LOG, {"line": "mine"})
        service.store.write_now(models.remove, ada.actor, ada.id, doomed.id)
        assert doomed.post(LOG, {"line": "late"}).status_code == 404
        done = threading.Event()

        def clear_all() -> None:
            clear(service)
            done.set()

        clearer = threading.Thread(target=clear_all)
        clearer.start()
        pushed = 1
        while not done.is_set():
            other.push(LOG, {"line": "meanwhile"})
            pushed += 1
        clearer.join()
        assert pushed > 3
        assert left(service) == {"tapes": 1, "pages": pushed, **_checkpoints(service)}
        assert other.get()["counts"] == {"log": pushed}
        assert other.first_break() is None


def _checkpoints(service: Service) -> dict[str, int]:
    found = left(service)
    return {"checkpoints": found["checkpoints"]} if "checkpoints" in found else {}


def test_a_deleted_project_takes_its_models_tapes_along(
    service: Service, enter: Callable[[str], Person]
) -> None:
    ada = enter("ada")
    user = service.store.read_now(users.get, ada.id)
    project = service.store.write_now(projects.create, ada.actor, user, "Alpha", "")
    with pushing(service, ada, project.id) as one, pushing(service, ada, project.id) as two:
        for model in (one, two):
            model.push(LOG, {"line": "x"})
            model.push("/v1/backtest/result", RESULT)
            model.push("/v1/live/spot-market", ORDER)
            model.push("/v1/live/spot-limit", ORDER | {"id": "2", "price": 5})
            assert model.get("/pnl")["currency"] == "USD"
        answer = ada.post("/project/delete", json={"projectId": project.id})
        assert answer.status_code == 200
        assert one.post(LOG, {"line": "late"}).status_code == 401  # its keys went with it
        clear(service)
        assert left(service) == {}
        assert ada.get(f"/api/models/{one.id}").status_code == 404


def test_what_a_crash_left_staged_is_cleared_after_an_hour(
    service: Service, enter: Callable[[str], Person]
) -> None:
    """On PostgreSQL too, where another server may be staging something at any moment."""
    store, seen = service.store, dict[str, float]()

    def looked(now: float) -> int:
        return run(clearing.clear_abandoned(store, seen, now))

    with pushing(service, enter("ada")) as model:
        model.push("/v1/backtest/result", RESULT)
        kept = left(service)["pieces"]
        store.write_now(uploads.stage, "left", [Piece("trades", n, n, b"x") for n in range(3)])
        assert (looked(0), looked(3599), left(service)["pieces"]) == (0, 0, kept + 3)
        store.write_now(uploads.stage, "new", [Piece("trades", 0, 0, b"x")])
        assert (looked(3600), left(service)["pieces"]) == (1, kept + 1)
        assert set(seen) >= {"new"}
        assert (looked(7200), left(service)["pieces"], looked(7201)) == (1, kept, 0)
        assert seen == {}
        assert model.first_break() is None
