"""What orders come to, over the wire: profit and loss, fills, models at a glance."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection, event, insert

from tapeline.accounts import sign_ins
from tapeline.accounts.sign_ins import Origin
from tapeline.background import Background
from tapeline.ids import new_id
from tapeline.models import onboarding
from tapeline.results.pnl import unbooked
from tapeline.results.pnl.bookkeeper import Bookkeeper
from tapeline.results.pnl.books import ledger_of
from tapeline.settings import Settings
from tapeline.store.tables.runs import runs, versions
from tapeline.tape.reading import channels
from tests.conftest import Cast, Person, Service, on_both, run, running
from tests.pushing import NDJSON, ORDER, RESULT, Model, pushing

LIMIT, MARKET, UPDATE = "/v1/live/spot-limit", "/v1/live/spot-market", "/v1/live/update-trade"
BUY: dict[str, Any] = {**ORDER, "id": "b", "size": 2, "price": 10}
SELL: dict[str, Any] = {**ORDER, "id": "s", "side": "sell", "size": 1, "price": 15, "fee": 1}


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as one:
        yield one


def at(time: float) -> dict[str, str]:
    return {"time": str(time)}


@on_both
def test_a_look_reflects_every_order_that_was_acknowledged_before_it(model: Model) -> None:
    model.push(MARKET, BUY, headers=at(100))
    for number in range(20):
        model.push("/v1/live/mark-price", {"symbol": "BTC-USD", "price": 10 + number})
        assert model.get("/pnl")["unrealized"] == 2 * number
    model.push(MARKET, SELL, headers=at(200))
    found = model.get("/pnl")
    assert (found["source"], found["currency"]) == ("computed", "USD")
    assert (found["realized"], found["unrealized"], found["fees"]) == (4, 19, 1)
    usd = {"realized": 4, "unrealized": 19, "fees": 1, "fills": 2, "total": 23}
    assert found["by_currency"] == {"USD": {**usd, "cash": {}, "flows": {}}}
    (position,) = found["positions"]
    assert (position["symbol"], position["size"], position["average_price"]) == ("BTC-USD", 1, 10)
    assert found["series"][-1]["value"] == 23
    assert (found["warnings"], found["unpriced"], found["marks"]) == ([], [], [])


@on_both
def test_a_look_reflects_every_rate_that_another_model_of_the_project_reported(
    model: Model,
) -> None:
    model.push(MARKET, BUY)
    model.push("/v1/live/cash", {"type": "interest", "amount": 10, "currency": "EUR"})
    with pushing(model.service, model.owner, model.project_id) as other:
        for rate in range(1, 6):
            other.push("/v1/live/mark-price", {"symbol": "EUR-USD", "price": rate})
            assert model.get("/pnl")["together"]["cash"] == 10 * rate


def examples() -> list[list[tuple[str, str]]]:
    """Those of the page: each is what is sent, and what comes out."""
    page = (Path(__file__).parents[3] / "docs" / "profit-and-loss.md").read_text("utf-8")
    found: list[list[tuple[str, str]]] = [[]]
    for kind, text in re.findall(r"```(http|ndjson|json)\n(.*?)```", page, re.DOTALL):
        found[-1].append((kind, text))
        if kind == "json":
            found.append([])
    return found[:-1]


def is_part(expected: Any, found: Any) -> bool:
    """Whether all that is expected is there, whatever else is."""
    if isinstance(expected, dict):
        return all(is_part(value, found[key]) for key, value in expected.items())
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(is_part, expected, found))
    if isinstance(expected, float):
        return bool(found == pytest.approx(expected, abs=1e-9))
    return bool(expected == found)


@pytest.mark.parametrize("number", range(len(examples())))
def test_a_documented_example_comes_out_as_documented(model: Model, number: int) -> None:
    for kind, text in examples()[number]:
        if kind == "http":
            first, body = text.split("\n", 1)
            path = first.removeprefix("PATCH ").replace("{model}", model.id)
            assert model.owner.patch(path, json=msgspec.json.decode(body)).is_success
        elif kind == "ndjson":
            model.push("/v1/batch", content=text, headers={"content-type": NDJSON})
        else:
            expected = msgspec.json.decode(text)
            named = [name for name in ("performance", "round-trips") if name in expected]
            answer = model.get(f"/{named[0] if named else 'pnl'}")
            wanted = expected[named[0]] if named else expected
            assert is_part(wanted, answer), {key: answer[key] for key in wanted}


def test_marks_come_in_batches_and_under_both_rooms(model: Model) -> None:
    mark = {"symbol": "BTC-USD", "price": "12.5"}
    batch = [
        {"path": MARKET, "time": 1, "body": {**BUY}},
        {"path": "/v1/live/mark-price", "time": 2, "body": mark},
        {"path": "/v1/model/mark-price", "time": 3, "body": {**mark, "price": 13}},
    ]
    model.push("/v1/batch", batch)
    assert model.get("/pnl")["unrealized"] == 6
    model.push("/v1/live/mark-price", data={**mark, "price": "14"}, headers=at(4))
    assert model.get("/pnl")["unrealized"] == 8
    assert model.get()["counts"] == {"spot-market": 1, "mark-price": 3}
    assert model.first_break() is None


def test_an_order_shows_its_fill_and_how_late_it_came(model: Model) -> None:
    long_only = {"positions": "long_only"}
    assert model.owner.patch(f"/api/models/{model.id}/account", json=long_only).is_success
    model.push(LIMIT, BUY)
    model.push(LIMIT, SELL, headers=at(1000))
    model.push(MARKET, {**ORDER, "id": "u", "symbol": "X-USD"})
    model.push(LIMIT, {**BUY, "id": "c", "status": "canceled"})
    orders = {one["id"]: one for one in model.items("/orders")}
    assert orders["s"]["late_by"] == orders["s"]["received_at"] - 1000
    assert [orders[name]["late_by"] for name in "buc"] == [None, None, None]
    assert orders["b"]["fill"] == {
        "price": 10, "size": 2, "time": orders["b"]["time"], "fee": 0, "realized": 0,
        "estimated": False, "assumed": True, "unpriced": False, "oversold": 0, "portions": [],
        "currency": "USD", "not_computed": None, "fee_rate": None,
    }  # fmt: skip
    assert (orders["s"]["fill"]["oversold"], orders["s"]["fill"]["realized"]) == (1, -1)
    assert orders["u"]["fill"]["unpriced"]
    assert orders["c"]["fill"] is None
    found = model.get("/pnl")
    assert {one["code"] for one in found["warnings"]} == {"oversold", "unpriced"}
    assert [one["order_id"] for one in found["unpriced"]] == ["u"]
    assert found["counts"] == {
        "fills": 2, "estimated": 0, "assumed": 2, "oversold": 1, "unpriced": 1
    }  # fmt: skip


def test_an_order_of_a_symbol_that_is_not_computed_has_no_profit(model: Model) -> None:
    order = {**ORDER, "executionPrice": 60_000, "size": 100}
    model.push(MARKET, {**order, "id": "i", "symbol": "XBT-USD", "inverse": True}, headers=at(1))
    model.push(MARKET, {**order, "id": "y", "symbol": "BTC-JPY"}, headers=at(2))
    model.push(UPDATE, {"id": "i", "symbol": ["no", "name"]}, headers=at(3))
    fills = {one["id"]: one["fill"] for one in model.items("/orders")}
    assert (fills["i"]["realized"], fills["i"]["currency"]) == (None, "USD")
    assert fills["i"]["not_computed"] == "It is an inverse contract, which is not computed."
    assert (fills["y"]["realized"], fills["y"]["currency"]) == (0, "JPY")
    assert fills["y"]["not_computed"] is None


def test_the_models_own_series_replaces_the_computed_one(model: Model) -> None:
    model.push(MARKET, BUY, headers=at(1))
    own = [{"time": 3, "value": 30}, {"time": 1, "value": 10}, {"time": 2, "value": 20}]
    model.push("/v1/live/set-pnl", {"values": own})
    found = model.get("/pnl")
    assert found["source"] == "model"
    assert found["series"] == sorted(own, key=lambda point: point["time"])
    assert found["realized"] == 0  # its orders are still there
    assert model.get("/pnl", to=1.5)["series"] == [{"time": 1, "value": 10}]
    model.push("/v1/live/set-pnl", {"values": []})
    assert model.get("/pnl")["source"] == "computed"


def test_nothing_is_computed_while_the_model_does_not_want_it(model: Model) -> None:
    model.push(MARKET, BUY)
    model.push("/v1/live/auto-pnl", {"enabled": False})
    found = model.get("/pnl")
    assert (found["source"], found["realized"], found["positions"]) == ("off", None, [])
    assert (found["series"], found["by_currency"], found["warnings"]) == ([], {}, [])
    model.push("/v1/live/set-pnl", {"values": [{"time": 1, "value": 5}]})
    found = model.get("/pnl")
    assert (found["source"], found["realized"]) == ("model", None)
    model.push("/v1/live/auto-pnl", {"enabled": True})
    model.push("/v1/live/set-pnl", {"values": []})
    assert model.get("/pnl")["realized"] == 0


def test_a_window_shows_a_part_in_full(model: Model) -> None:
    batch = [{"path": MARKET, "time": 0, "body": BUY}] + [
        {"path": "/v1/live/mark-price", "time": n, "body": {"symbol": "BTC-USD", "price": 10 + n}}
        for n in range(1, 200)
    ]
    model.push("/v1/batch", batch)
    assert len(model.get("/pnl", points=50)["series"]) <= 50
    part = model.get("/pnl", points=50, **{"from": 100, "to": 103})["series"]
    assert part == [{"time": float(n), "value": 2.0 * n} for n in (100, 101, 102, 103)]
    for wrong in ({"points": 1}, {"points": 5001}, {"from": "soon"}):
        answer = model.owner.get(f"/api/models/{model.id}/pnl", params=wrong)
        assert (answer.status_code, answer.json()["field"]) == (400, next(iter(wrong)))


def add_run(connection: Connection, /, model_id: str, number: int, **facts: Any) -> None:
    version = f"{model_id}-v{number}"
    if facts.pop("new", True):
        connection.execute(
            insert(versions).values(
                id=version, model_id=model_id, number=number, description=f"v{number}", archive="a",
                size=1, manifest={}, plan="nano", python_version="3.11", created_at=1.0,
                created_by="ada",
            )
        )  # fmt: skip
    row = {
        "id": new_id(), "model_id": model_id, "version_id": version, "kind": "live",
        "state": "exited", "desired": "stopped", "reason": "", "plan": "nano", "memory_mb": 1,
        "cpu_milli": 1, "python_version": "3.11", "description": "", "launches": 1, "restarts": 0,
        "confinement": "", "journal": 0, "refused": 0, "created_by": "ada",
        "created_at": facts["started_at"], **facts,
    }  # fmt: skip
    connection.execute(insert(runs).values(**row))


@on_both
def test_version_changes_and_downtime_are_marks_on_one_record(model: Model) -> None:
    write = model.service.store.write_now
    write(add_run, model.id, 1, started_at=10.0, ended_at=20.0, reason="Crashed")
    write(add_run, model.id, 1, new=False, started_at=30.0, ended_at=40.0)
    write(add_run, model.id, 2, started_at=40.5, ended_at=50.0, reason="Stopped")
    write(add_run, model.id, 3, started_at=41.0, ended_at=42.0, kind="backtest")
    model.push(MARKET, BUY, headers=at(15))
    model.push(MARKET, SELL, headers=at(45))
    found = model.get("/pnl")
    assert [point["time"] for point in found["series"]] == [15, 45]
    assert [(m["kind"], m["time"], m["until"], m["version"]) for m in found["marks"]] == [
        ("version", 10, None, 1),
        ("downtime", 20, 30, None),
        ("version", 40.5, None, 2),
        ("downtime", 50, None, None),
    ]
    assert [m["reason"] for m in found["marks"] if m["kind"] == "downtime"] == [
        "Crashed", "Stopped",
    ]  # fmt: skip
    later = model.get("/pnl", **{"from": 25, "to": 45})["marks"]
    assert [m["time"] for m in later] == [20, 40.5]


@on_both
def test_the_record_goes_on_after_a_restart(settings: Settings, password_hash: str) -> None:
    with running(settings) as first:
        store = first.store
        user = store.write_now(
            onboarding.add_by_operator, email="a@b.c", name="a", password_hash=password_hash
        )
        _, actor = store.write_now(sign_ins.begin, user, "token", Origin("::1", "test"))
        token = first.services.ring.sign(*actor.signed_in())
        with first.client(token=token) as client:
            ada = Person(user.id, "a@b.c", actor, "", client)
            with pushing(first, ada) as model:
                model.push(MARKET, BUY, headers=at(1))
                before = model.get("/pnl")
                model.push(MARKET, SELL, headers=at(2))
    with running(settings) as second, second.client(token=token) as client:
        found = client.get(f"/api/models/{model.id}/pnl").json()
    assert (before["realized"], found["realized"]) == (0, 4)
    assert [point["time"] for point in found["series"]] == [1, 2]


@on_both
def test_books_are_kept_without_anybody_looking(model: Model) -> None:
    store = model.service.store
    model.push(MARKET, BUY)
    model.push("/v1/live/log", {"line": "nothing for the books"})
    model.push("/v1/live/mark-price", {"symbol": "BTC-USD", "price": 11})
    run(Bookkeeper(store, Background()).update_all())
    ledger = store.read_now(lambda c: ledger_of(c, model.tape(c)))
    assert (ledger.cursor, ledger.pending, ledger.totals["USD"].fills) == (3, {}, 1)
    assert store.read_now(unbooked.behind) == {}
    model.push(UPDATE, {"id": "b", "fee": 1})
    assert list(store.read_now(unbooked.behind).values()) == [4]


def test_custom_metrics_are_merged_by_name(model: Model) -> None:
    model.push("/v1/live/set-custom-metric", {"metrics": {"a": {"value": 1}, "b": {"value": 2}}})
    model.push("/v1/live/set-custom-metric", {"metrics": {"b": {"value": 3}}})
    stored = model.service.store.read_now(lambda c: channels.state(c, model.tape(c), "metrics"))
    assert stored == {"a": {"value": 1}, "b": {"value": 3}}


@on_both
def test_models_are_listed_with_all_that_a_glance_wants(
    service: Service, cast: Cast, model: Model
) -> None:
    with pushing(service, cast.owner, cast.project_id) as one:
        one.push("/v1/model/lifecycle", {"message": "Running", "running": True})
        one.push("/v1/backtest/status", {"backtest_id": "b1", "successful": False})
        one.push("/v1/backtest/result", RESULT)
        one.push("/v1/backtest/status", {"backtest_id": "b2", "successful": True, "label": "L"})
        one.push(MARKET, BUY, headers=at(1))
        one.push(MARKET, SELL, headers=at(2))
        service.store.write_now(add_run, one.id, 1, started_at=1.0)
        service.store.write_now(add_run, one.id, 2, started_at=2.0)
        service.store.write_now(add_run, one.id, 1, new=False, started_at=3.0)
        with pushing(service, cast.owner, cast.project_id) as other:
            other.push("/v1/live/set-pnl", {"values": [{"time": 1, "value": 7}]})
            answer = cast.viewer.get(f"/api/projects/{cast.project_id}/models").json()
    assert answer["next"] is None
    newest, found = answer["items"]
    assert (newest["id"], found["id"]) == (other.id, one.id)
    assert newest["pnl"]["source"] == "model"
    assert (newest["pnl"]["value"], newest["version"], newest["last_order"]) == (7, None, None)
    assert found["lifecycle"] == {
        "message": "Running", "running": True, "start_at": None, "end_at": None,
    }  # fmt: skip
    assert found["version"]["version"] == 1  # it was rolled back
    assert (found["last_order"]["id"], found["last_order"]["side"]) == ("s", "sell")
    assert found["pnl"] == {
        "source": "computed", "currency": "USD", "value": 9, "realized": 4, "unrealized": 5,
        "fees": 1, "is_partial": False, "by_currency": {"USD": 9},
    }  # fmt: skip
    assert found["last_backtest"]["backtest_id"] == "b2"
    assert (found["last_backtest"]["successful"], found["last_backtest"]["label"]) == (True, "L")


def test_a_list_of_models_has_every_currency_of_each(model: Model) -> None:
    model.push(MARKET, {**BUY, "id": "1"}, headers=at(1))
    model.push(MARKET, {**BUY, "id": "2"}, headers=at(2))
    model.push(MARKET, {**BUY, "id": "3", "symbol": "BTC-JPY", "fee": 7}, headers=at(3))
    (found,) = model.owner.get(f"/api/projects/{model.project_id}/models").json()["items"]
    assert (found["pnl"]["currency"], found["pnl"]["value"]) == ("USD", 0)
    assert found["pnl"]["by_currency"] == {"JPY": -7, "USD": 0}


def test_profit_and_loss_says_the_capital_and_who_set_it(model: Model) -> None:
    assert (model.get("/pnl")["capital"], model.get("/pnl")["capital_from"]) == (None, None)
    model.push("/v1/live/cash", {"type": "deposit", "amount": 500_000}, headers=at(1))
    found, same = model.get("/pnl"), model.get("/performance")
    assert found["capital"] == same["capital"] == {"amount": 500_000, "currency": "USD"}
    assert found["capital_from"] == same["capital_from"] == "deposit"
    own = {"capital": {"amount": 7, "currency": "EUR"}}
    assert model.owner.patch(f"/api/models/{model.id}/account", json=own).is_success
    assert model.get("/pnl")["capital"] == own["capital"]
    assert model.get("/pnl")["capital_from"] == "owner"


def test_metrics_in_money_say_their_currency(model: Model) -> None:
    model.push(MARKET, BUY, headers=at(1))
    assert model.get("/metrics")["currency"] == "USD"
    model.push("/v1/live/cash", {"type": "deposit", "amount": 10, "currency": "EUR"})
    assert model.get("/metrics")["currency"] == "EUR"


@on_both
def test_a_list_of_models_takes_the_same_queries_however_many_there_are(
    own_service: Service, own_model: Model
) -> None:
    owner, path = own_model.owner, f"/api/projects/{own_model.project_id}/models"

    def queries() -> int:
        seen: list[str] = []

        def note(*happened: Any) -> None:
            seen.append(str(happened[2]))

        engine = own_service.store.database.reading
        owner.get(path)  # the books are kept now
        event.listen(engine, "before_cursor_execute", note)
        answer = owner.get(path)
        event.remove(engine, "before_cursor_execute", note)
        assert answer.status_code == 200
        return sum("FROM models" in one for one in seen)

    def add() -> None:
        with pushing(own_service, owner) as one:
            one.push(MARKET, BUY)
            one.push("/v1/backtest/status", {"backtest_id": "b", "successful": True})

    add()
    few = queries()
    for _ in range(8):
        add()
    assert queries() == few
    items = owner.get(path).json()["items"]
    assert len(items) == 10
