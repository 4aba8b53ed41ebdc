"""Deleting models and projects: nothing of them is left, and others are not held up."""

import threading
import time
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, func, select, text

from tapeline import compose
from tapeline.accounts import users
from tapeline.accounts.actor import Actor
from tapeline.errors import NoSuchModel
from tapeline.models import models, onboarding, projects
from tapeline.results.backtests import reports
from tapeline.results.metrics.report_fields import Row
from tapeline.results.pnl import books, planning
from tapeline.settings import Settings
from tapeline.store.backends.database import open_database
from tapeline.store.tables import ledger, results
from tapeline.store.tables import tape as tape_tables
from tapeline.store.tables.tape import backtests, pieces
from tapeline.tape import cleanup, tapes
from tapeline.tape.backtest_results import result_pieces
from tapeline.tape.backtest_results.preparing import Piece
from tests.conftest import Person, Service, run
from tests.pushing import ORDER, RESULT, Model, pushing

LOG = "/v1/live/log"
TABLES = (
    [
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
    ]
    + [results.discards]
    + [
        getattr(ledger, name)
        for name in ("ledgers", "books", "entries", "places", "curves", "sketches")
    ]
)


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
    run(cleanup.clean_up(service.store))


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
    store, began = service.store, time.time()

    def looked(seconds: float) -> int:
        return run(cleanup.clean_up_discards(store, began + seconds))

    with pushing(service, enter("ada")) as model:
        model.push("/v1/backtest/result", RESULT)
        kept, tape = left(service)["pieces"], store.read_now(model.tape)
        some = [Piece("trades", n, n, b"x") for n in range(3)]
        store.write_now(result_pieces.stage, tape, "left", some)
        assert (looked(0), looked(3500), left(service)["pieces"]) == (0, 0, kept + 3)
        assert (looked(3700), left(service)["pieces"]) == (1, kept)
        store.write_now(result_pieces.stage, tape, "given up", some)
        store.write_now(result_pieces.discard, tape, "given up")
        assert (looked(1), left(service)["pieces"], looked(1)) == (1, kept, 0)
        assert model.first_break() is None


def test_a_start_gives_up_what_nobody_stages_any_more(sqlite_settings: Settings) -> None:
    with compose.open_services(sqlite_settings) as services:
        store = services.store
        ada = store.write_now(
            onboarding.add_by_operator, email="ada@example.com", name="Ada", password_hash="hash"
        )
        actor = Actor(kind="account", id=ada.id, label=ada.email)
        model = store.write_now(
            models.create, actor, ada.id, name="M", type="strategy", description=""
        )
        tape = store.write_now(tapes.open_tape, model.id)
        store.write_now(result_pieces.stage, tape, "left", [Piece("trades", 0, 0, b"x")])
    with compose.open_services(sqlite_settings) as services:
        assert run(cleanup.clean_up_discards(services.store, time.time())) == 1


def test_a_result_that_is_replaced_leaves_only_the_newer_one(
    service: Service, enter: Callable[[str], Person]
) -> None:
    with pushing(service, enter("ada")) as model:
        model.push("/v1/backtest/result", RESULT)
        once = left(service)["pieces"]
        model.get("/backtests/b1")
        model.push("/v1/backtest/result", RESULT | {"quote_asset": "EUR"})
        model.get("/backtests/b1")
        run(cleanup.clean_up_discards(service.store, time.time()))
        assert left(service)["pieces"] == once
        assert service.store.read_now(_uploads) == {"pieces": 1, "reports": 1, "report_pieces": 1}


def _uploads(connection: Connection) -> dict[str, int]:
    """How many different ones there are."""
    tables = (pieces, results.reports, results.report_pieces)
    counting = {one.name: select(func.count(one.c.upload.distinct())) for one in tables}
    return {name: connection.scalar(query) or 0 for name, query in counting.items()}


def test_a_result_that_is_being_staged_goes_with_its_model(
    service: Service, enter: Callable[[str], Person]
) -> None:
    """Whoever stages learns it with the next portion; the ones before are gone by then."""
    store, ada = service.store, enter("ada")
    with pushing(service, ada) as model:
        model.push(LOG, {"line": "x"})
        tape = store.read_now(model.tape)
        store.write_now(result_pieces.stage, tape, "half", [Piece("trades", 0, 0, b"x")])
        store.write_now(models.remove, ada.actor, ada.id, model.id)
        with pytest.raises(NoSuchModel):
            store.write_now(result_pieces.stage, tape, "half", [Piece("trades", 1, 1, b"x")])
        clear(service)
        with pytest.raises(NoSuchModel):
            store.write_now(result_pieces.stage, tape, "late", [Piece("trades", 0, 0, b"x")])
        store.write_now(result_pieces.discard, tape, "half")
        assert left(service) == {}


def test_a_report_and_books_that_are_being_made_go_with_their_model(
    service: Service, enter: Callable[[str], Person]
) -> None:
    store, ada = service.store, enter("ada")
    with pushing(service, ada) as model:
        model.push("/v1/backtest/result", RESULT)
        model.push("/v1/live/spot-market", ORDER)
        tape = store.read_now(model.tape)
        upload = store.read_now(lambda c: c.scalar(select(backtests.c.upload)))
        assert upload is not None
        planned = store.read_now(planning.plan, tape, 10)
        assert planned is not None
        store.write_now(reports.begin, upload)
        rows = [Row("equity", 0, 0, b"x")]
        store.write_now(reports.put, upload, rows)
        store.write_now(models.remove, ada.actor, ada.id, model.id)
        clear(service)
        with pytest.raises(reports.Gone):
            store.write_now(reports.put, upload, rows)
        with pytest.raises(NoSuchModel):
            store.write_now(books.carry_out, planned)
        assert left(service) == {}
        assert service.store.read_now(_uploads) == {"pieces": 0, "reports": 0, "report_pieces": 0}


@pytest.mark.parametrize("settings", ["postgresql"], indirect=True)
def test_clearing_waits_for_whoever_writes_about_the_tape_on_another_server(
    service: Service, settings: Settings, enter: Callable[[str], Person]
) -> None:
    """They saw the model before it was deleted, and commit after clearing has begun."""
    store, ada = service.store, enter("ada")
    other = open_database(settings)
    with pushing(service, ada) as model:
        model.push(LOG, {"line": "x"})
        tape = store.read_now(model.tape)
        with other.writing.connect() as connection:
            result_pieces.stage(connection, tape, "elsewhere", [Piece("trades", 0, 0, b"x")])
            store.write_now(models.remove, ada.actor, ada.id, model.id)
            clearer = threading.Thread(target=clear, args=(service,))
            clearer.start()
            while not store.read_now(_waiting):
                time.sleep(0.01)
            connection.commit()
        clearer.join()
    other.dispose()
    assert left(service) == {}


def _waiting(connection: Connection) -> bool:
    """Whether anybody waits for a lock."""
    query = text("select count(*) from pg_stat_activity where wait_event_type = 'Lock'")
    return bool(connection.scalar(query))
