"""A live model as an account, over the wire: capital, returns, exposure, round trips."""

import random
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.conftest import Cast, Person, Service, on_both
from tests.pushing import Model, pushing
from tests.results.pnl.reference import Said, account, reckoned, reckoned_cash

DAY, HOUR = 86_400.0, 3_600.0
START = 1_790_000_000.0 // DAY * DAY
MARKET = "/v1/live/spot-market"


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as one:
        yield one


def change(person: Person, model: Model, **body: Any) -> Any:
    return person.patch(f"/api/models/{model.id}/account", json=body)


def push(model: Model, days: float, kind: str, **body: Any) -> None:
    model.push(f"/v1/live/{kind}", body, headers={"time": str(START + days * DAY)})


def order(model: Model, days: float, name: str, side: str, size: float, price: float) -> None:
    push(
        model, days, "spot-market", id=name, symbol="BTC-USD", exchange="x", side=side, size=size,
        executionPrice=price,
    )  # fmt: skip


def test_capital_and_positions_are_the_owners_to_set_and_each_change_is_on_the_tape(
    model: Model,
) -> None:
    assert model.get("/account") == {
        "positions": "signed", "capital": None, "capital_from": None, "changes": [],
    }  # fmt: skip
    answer = change(model.owner, model, capital={"amount": 5000, "currency": "usd"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["capital"] == {"amount": 5000, "currency": "USD"}
    assert answer.json()["capital_from"] == "owner"
    assert change(model.owner, model, capital={"amount": 5000, "currency": "USD"}).json() == (
        answer.json()
    )  # nothing new, so nothing on the tape
    assert change(model.owner, model, positions="long_only").json()["positions"] == "long_only"
    assert change(model.owner, model, capital=None).json()["capital"] is None
    assert model.bodies() == [
        {"capital": {"amount": 5000, "currency": "USD"}},
        {"positions": "long_only"},
        {"capital": None},
    ]
    assert [one.salt is not None for one in model.records()] == [True] * 3
    assert model.first_break() is None
    changes = model.get("/account")["changes"]
    assert [sorted(set(one) - {"time", "received_at", "seq"}) for one in changes] == [
        ["capital"], ["positions"], ["capital"],
    ]  # fmt: skip


def test_only_who_manages_the_project_may_change_the_account(cast: Cast, service: Service) -> None:
    with pushing(service, cast.owner, cast.project_id) as model:
        assert change(cast.member, model, positions="long_only").status_code == 403
        assert change(cast.admin, model, positions="signed").status_code == 200
        assert change(cast.outsider, model, positions="long_only").status_code == 404
        outsider = cast.outsider.get(f"/api/models/{model.id}/performance")
        assert outsider.status_code == 404
        assert model.size() == 0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "positions"),
        ({"positions": "both"}, "positions"),
        ({"capital": {"amount": 0, "currency": "USD"}}, "capital.amount"),
        ({"capital": {"amount": 5}}, "capital.currency"),
        ({"capital": {"amount": 5, "currency": " "}}, "currency"),
        ({"capital": 5}, "capital"),
    ],
)
def test_a_wrong_setting_is_refused_and_its_field_named(
    model: Model, body: dict[str, Any], field: str
) -> None:
    answer = change(model.owner, model, **body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["field"].endswith(field), answer.text
    assert model.size() == 0


def test_models_cannot_set_their_capital_themselves(model: Model) -> None:
    model.refused("/v1/live/account-settings", {"positions": "signed"}, status=404)


def test_without_a_capital_the_answer_says_what_needs_it(model: Model) -> None:
    order(model, 0, "1", "buy", 1, 100)
    order(model, 3, "2", "sell", 1, 110)
    found = model.get("/performance")
    assert "capital" in found["reason"]
    assert (found["account"], found["returns"], found["account_value"]) == ([], [], None)
    assert [one["value"] for one in found["profit"]] == [0, 10]
    assert found["metrics"]["profit"]["value"] == 10
    assert found["metrics"]["total_return"]["value"] is None


def test_a_deposit_is_no_return(model: Model) -> None:
    push(model, 0, "cash", type="deposit", amount=1000)
    order(model, 1, "1", "buy", 1, 100)
    push(model, 2, "mark-price", symbol="BTC-USD", price=200)  # 1000 became 1100: 10 %
    push(model, 3, "cash", type="deposit", amount=1100)
    push(model, 4, "mark-price", symbol="BTC-USD", price=420)  # 2200 became 2420: 10 %
    push(model, 5, "cash", type="withdrawal", amount=-1210)
    push(model, 6, "mark-price", symbol="BTC-USD", price=299)  # 1210 became 1089: -10 %
    found = model.get("/performance")
    assert (found["capital"], found["capital_from"]) == (
        {"amount": 1000, "currency": "USD"}, "deposit",
    )  # fmt: skip
    assert found["reason"] is None
    assert found["account_value"] == pytest.approx(1089)
    assert [one["amount"] for one in found["flows"]] == [1100, -1210]
    total = 1.1 * 1.1 * 0.9 - 1
    assert found["returns"][-1]["value"] == pytest.approx(total)
    assert found["metrics"]["total_return"]["value"] == pytest.approx(total)
    assert found["metrics"]["profit"]["value"] == pytest.approx(199)
    assert found["metrics"]["max_drawdown"]["value"] == pytest.approx(-0.1)
    assert model.get("/metrics")["computed"]["total_return"]["value"] == pytest.approx(total)
    gross, net = found["exposure"]["gross"], found["exposure"]["net"]
    assert [one["value"] for one in gross] == [100, 200, 420, 299]
    assert gross == net == found["exposure"]["symbols"]["BTC-USD"]


def test_what_the_exchange_says_is_shown_next_to_ours_with_the_difference(model: Model) -> None:
    change(model.owner, model, capital={"amount": 1000, "currency": "USD"})
    order(model, 0, "1", "buy", 1, 100)
    push(model, 1, "mark-price", symbol="BTC-USD", price=150)
    push(model, 2, "account-value", value=1047.5, currency="USD")
    push(model, 3, "account-value", value=99, currency="EUR")
    found = model.get("/performance")
    assert [one["value"] for one in found["reported"]] == [1047.5]
    assert found["unexplained"] == {
        "time": START + 2 * DAY, "reported": 1047.5, "computed": 1050, "difference": -2.5,
    }  # fmt: skip


def test_an_account_value_of_the_future_counts_from_its_arrival(model: Model) -> None:
    """It would be the newest for ever, whatever the exchange says later."""
    change(model.owner, model, capital={"amount": 1000, "currency": "USD"})
    order(model, 0, "1", "buy", 1, 100)
    push(model, 30_000, "account-value", value=1000, currency="USD")
    push(model, 1, "account-value", value=500, currency="USD")
    before = time.time()
    found = model.get("/performance")
    assert [one["value"] for one in found["reported"]] == [500, 1000]
    assert found["reported"][-1]["time"] <= before


def test_a_symbol_that_is_not_computed_makes_no_account(model: Model) -> None:
    change(model.owner, model, capital={"amount": 1000, "currency": "USD"})
    order(model, 0, "1", "buy", 1, 100)
    push(
        model, 1, "spot-market", id="2", symbol="XBT-USD", exchange="x", side="buy", size=1,
        executionPrice=5, inverse=True,
    )  # fmt: skip
    found = model.get("/performance")
    assert found["reason"].startswith("XBT-USD is not computed: ")
    assert (found["account"], found["account_value"]) == ([], None)
    assert [one["symbol"] for one in found["not_computed"]] == ["XBT-USD"]


def test_round_trips_have_their_sides_times_and_prices(model: Model) -> None:
    order(model, 0, "1", "sell", 2, 100)
    push(model, 0.25, "mark-price", symbol="BTC-USD", price=120)
    push(model, 0.5, "mark-price", symbol="BTC-USD", price=80)
    order(model, 1, "2", "buy", 3, 90)
    order(model, 2.5, "3", "sell", 1, 95)
    newest, oldest = model.items("/round-trips")
    assert (newest["side"], newest["profit"], newest["seconds"]) == ("long", 5, 1.5 * DAY)
    assert (oldest["side"], oldest["profit"], oldest["size"]) == ("short", 20, 2)
    assert (oldest["best_price"], oldest["worst_price"]) == (80, 120)
    assert (oldest["entry_order"], oldest["exit_order"]) == ("1", "2")
    assert model.items("/round-trips", side="short") == [oldest]
    page = model.get("/round-trips", limit=1)
    assert page["items"] == [newest]
    assert model.items("/round-trips", limit=1, cursor=page["next"]) == [oldest]
    groups = model.get("/performance")["round_trips"]
    assert (groups["count"], groups["profit"]) == (2, 25)
    assert [(one["key"], one["profit"]) for one in groups["sides"]] == [("long", 5), ("short", 20)]
    assert [one["key"] for one in groups["hours"]] == ["00"]
    assert [one["round_trips"] for one in groups["weekdays"]] == [1, 1]
    assert [one["key"] for one in groups["slots"]] == [
        f"{one['key']} 00" for one in groups["weekdays"]
    ]
    days = [(one["key"], one["profit"]) for one in groups["days"]]
    dates = [str(datetime.fromtimestamp(START + day * DAY, UTC).date()) for day in (1, 2.5)]
    assert days == [(dates[0], 20), (dates[1], 5)]
    assert sum(one["round_trips"] for one in groups["results"]) == 2


def closed(model: Model, symbol: str, day: float, *prices: float) -> None:
    """A buy and a sale of one unit."""
    for place, (side, price) in enumerate(zip(("buy", "sell"), prices, strict=True)):
        push(
            model, day + place / 4, "spot-market", id=f"{symbol} {day} {side}", symbol=symbol,
            exchange="x", side=side, size=1, executionPrice=price,
        )  # fmt: skip


def test_each_round_trip_says_its_currency_and_how_many_each_has(model: Model) -> None:
    """What counts in one currency alone says how many it leaves out."""
    for day in range(2):
        closed(model, "BTC-USD", day, 100, 110)
    closed(model, "BTC/JPY", 2, 9_000_000, 9_142_808)
    closed(model, "ETH-EUR", 3, 2_000, 1_976)
    trips = model.items("/round-trips")
    assert [(one["symbol"], one["currency"], one["profit"]) for one in trips[:2]] == [
        ("ETH-EUR", "EUR", -24), ("BTC/JPY", "JPY", 142_808),
    ]  # fmt: skip
    found = model.get("/performance")
    groups = found["round_trips"]
    assert (found["currency"], groups["count"], groups["profit"]) == ("USD", 2, 20)
    assert groups["by_currency"] == {"EUR": 1, "JPY": 1, "USD": 2}
    change(model.owner, model, capital={"amount": 1000, "currency": "CHF"})
    groups = model.get("/performance")["round_trips"]
    assert (groups["count"], groups["by_currency"]) == (0, {"EUR": 1, "JPY": 1, "USD": 2})


def test_a_round_trip_of_a_bare_ticker_is_in_the_models_own_currency(model: Model) -> None:
    closed(model, "AAPL", 0, 200, 205)
    (trip,) = model.items("/round-trips")
    assert trip["currency"] == "USD"
    assert model.get("/performance")["round_trips"]["by_currency"] == {"USD": 1}


def test_one_symbol_can_be_looked_at_by_itself(model: Model) -> None:
    order(model, 0, "1", "buy", 1, 100)
    push(
        model, 1, "spot-market", id="2", symbol="ETH-USD", exchange="x", side="sell", size=2,
        executionPrice=50,
    )  # fmt: skip
    push(model, 2, "mark-price", symbol="ETH-USD", price=40)
    push(model, 3, "cash", type="funding", amount=-1, symbol="ETH-USD")
    push(model, 4, "mark-price", symbol="BTC-USD", price=500)
    found = model.get("/performance", symbol="ETH-USD")
    assert [one["value"] for one in found["profit"]] == [0, 20, 19]
    assert found["metrics"]["profit"]["value"] == 19
    assert list(found["exposure"]["symbols"]) == ["ETH-USD"]
    assert [one["value"] for one in found["exposure"]["net"]] == [-100, -80, -80]


def test_one_symbol_is_counted_in_the_currency_that_it_trades_in(model: Model) -> None:
    change(model.owner, model, capital={"amount": 1000, "currency": "USD"})
    closed(model, "BTC-USD", 0, 100, 110)
    closed(model, "BTC/JPY", 1, 9_000_000, 9_142_808)
    push(model, 2, "cash", type="funding", amount=-8, symbol="BTC/JPY", currency="JPY")
    push(model, 3, "cash", type="funding", amount=-1, symbol="BTC/JPY", currency="USD")
    found = model.get("/performance", symbol="BTC/JPY")
    assert (found["currency"], found["account_value"]) == ("JPY", None)
    assert found["profit"][-1]["value"] == found["metrics"]["profit"]["value"] == 142_800
    groups = found["round_trips"]
    assert (groups["count"], groups["profit"]) == (1, 142_808)
    assert groups["by_currency"] == {"JPY": 1}
    assert found["metrics"]["best_trade"]["value"] == 142_808
    assert list(found["exposure"]["symbols"]) == ["BTC/JPY"]
    assert model.get("/performance", symbol="BTC-USD")["currency"] == "USD"
    assert model.get("/performance", symbol="NEVER-EUR")["currency"] == "USD"


def week() -> list[tuple[float, str, dict[str, Any]]]:
    """A week of a perpetuals account: long, short, partial fills, funding, a deposit."""
    chance = random.Random(7)
    said: list[tuple[float, str, dict[str, Any]]] = []
    moments = iter(sorted(chance.sample(range(1, int(7 * DAY)), 2_000)))
    said.append((START, "cash", {"type": "deposit", "amount": 25_000, "currency": "USDT",
                                 "id": "d0"}))  # fmt: skip
    prices = {"BTC-USDT": 61_234.5, "ETH-USDT": 2_456.78, "SOL-USDT": 145.12}
    contract = {"exchange": "bybit", "instrument": "perpetual"}
    said.append((START + 0.5, "position", {"symbol": "SOL-USDT", "size": -12.5,
                                           "average_price": 139.75}))  # fmt: skip
    for number in range(300):
        at = START + next(moments)
        symbol = chance.choice(list(prices))
        price = prices[symbol] = round(prices[symbol] * (1 + chance.gauss(0, 0.004)), 2)
        size = round(chance.uniform(200, 4000) / price, 4)
        name = f"o{number}"
        body = {"id": name, "symbol": symbol, "side": chance.choice(["buy", "sell"]), **contract}
        if number % 3:
            fee = round(size * price * 0.00055, 6)
            whole = {"size": size, "executionPrice": price, "fee": fee}
            said.append((at, "spot-market", body | whole))
            continue
        said.append((at, "spot-limit", body | {"size": size, "price": price}))
        first, part = next(moments), round(size / 3, 4)
        said.append((START + first, "update-trade", {"id": name, "filled_size": part,
                     "filled_avg_price": price, "fee": round(part * price / 5e3, 6)}))  # fmt: skip
        if number % 2:
            said.append((START + next(moments), "update-trade", {"id": name, "status": "canceled"}))
        else:
            said.append((START + next(moments), "update-trade", {"id": name, "filled_size": size,
                         "filled_avg_price": round(price * 1.0001, 4), "status": "filled",
                         "fee": round(size * price * 0.0002, 6)}))  # fmt: skip
    for number in range(21):
        for symbol in prices:
            said.append((START + number * 8 * HOUR + 0.25 + len(symbol) / 7 + len(said) / 1e4,
                         "cash", {"type": "funding", "amount": round(chance.gauss(-1, 4), 4),
                                  "symbol": symbol, "id": f"f{number}{symbol}"}))  # fmt: skip
    for symbol, price in prices.items():
        for _ in range(40):
            at = START + next(moments) + 0.5
            said.append((at, "mark-price", {"symbol": symbol,
                         "price": round(price * (1 + chance.gauss(0, 0.01)), 2)}))  # fmt: skip
    said.append((START + 3.4 * DAY + 0.125, "cash", {"type": "deposit", "amount": 10_000,
                 "currency": "USDT"}))  # fmt: skip
    return said


@on_both
def test_a_week_of_a_perpetuals_account_comes_out_to_the_cent(model: Model) -> None:
    said = week()
    random.Random(8).shuffle(said)
    batch = [{"path": f"/v1/live/{kind}", "time": time, "body": body} for time, kind, body in said]
    for start in range(0, len(batch), 100):
        model.push("/v1/batch", batch[start : start + 100])
        model.get("/pnl")  # so that the books are kept while it comes in
    told: list[Said] = [(time, seq, kind, body) for seq, (time, kind, body) in enumerate(said, 1)]
    symbols, cash = reckoned(told), reckoned_cash(told)["USDT"]
    found, shown = model.get("/pnl"), model.get("/performance", points=5000)
    for one in found["positions"]:
        expected = symbols[one["symbol"]]
        assert one["size"] == float(expected.size)
        assert one["realized"] == float(expected.realized)
        assert one["unrealized"] == float(expected.unrealized)
        assert one["fees"] == float(expected.fees)
    assert found["cash"] == {"funding": float(cash.by_type["funding"])}
    line = account(symbols, cash)
    assert found["total"] == pytest.approx(float(line[-1].profit), abs=1e-9)
    assert shown["account_value"] == pytest.approx(float(line[-1].value), abs=0.005)
    assert shown["returns"][-1]["value"] == pytest.approx(float(line[-1].growth) - 1, abs=1e-9)
    ours = {one["time"]: one["value"] for one in shown["account"]}
    assert len(ours) > 500
    for one in line:
        if one.time in ours:  # but for declarations, and marks that changed nothing
            assert ours[one.time] == pytest.approx(float(one.value), abs=0.005)
    assert shown["reason"] is None
    assert len({one["side"] for one in model.items("/round-trips")}) == 2
    assert model.first_break() is None


@on_both
def test_a_list_of_models_says_when_a_symbol_is_not_in_its_sums(model: Model) -> None:
    order(model, 0, "1", "buy", 1, 100)
    listed = model.owner.get(f"/api/projects/{model.project_id}/models").json()["items"]
    assert [one["pnl"]["is_partial"] for one in listed if one["id"] == model.id] == [False]
    push(
        model, 1, "spot-market", id="2", symbol="BTC-USD", exchange="x", side="sell", size=1,
        executionPrice=110, multiplier=5,
    )  # fmt: skip
    push(model, 2, "position", symbol="AAPL", size=1, average_price=5, quote="EUR")
    listed = model.owner.get(f"/api/projects/{model.project_id}/models").json()["items"]
    (pnl,) = [one["pnl"] for one in listed if one["id"] == model.id]
    assert (pnl["is_partial"], pnl["value"]) == (True, None)


@pytest.mark.parametrize("kind", ["capital", "orders", "set-pnl"])
def test_numbers_at_the_end_of_the_scale_are_answered(model: Model, kind: str) -> None:
    """They overflow. Each figure is a number or has a reason, and no warning reaches the log."""
    if kind == "capital":
        change(model.owner, model, capital={"amount": 1e308, "currency": "USD"})
    if kind == "set-pnl":
        values = [{"time": START + day * DAY, "value": (-1) ** day * 1e308} for day in range(4)]
        push(model, 4, "set-pnl", values=values)
    for day in range(4):
        order(model, day, f"o{day}", "buy", 1e200, 1e308)
        push(model, day + 0.1, "mark-price", symbol="BTC-USD", price=1e-300 if day % 2 else 1e308)
        if kind == "capital":
            push(model, day + 0.2, "cash", type="deposit", amount=1e308)
        push(model, day + 0.3, "cash", type="interest", amount=1e308)
        push(model, day + 0.4, "account-value", value=1e308)
    for path in ("/pnl", "/metrics", "/performance", "/round-trips"):
        answer = model.owner.get(f"/api/models/{model.id}{path}")
        assert answer.status_code == 200, (path, answer.text)
        assert "Infinity" not in answer.text
        assert "NaN" not in answer.text
