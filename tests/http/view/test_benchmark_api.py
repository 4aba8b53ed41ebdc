"""Live models and backtests beside a benchmark, over the wire, with figures computed by hand."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import Person, Service, on_both
from tests.pushing import RESULT, Model, pushing
from tests.results.metrics.series import frame, qs, walk

DAY = 86_400.0
START = 19_700 * DAY
PRICES = (100, 110, 99, 108.9, 120, 90, 95)


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as one:
        yield one


def say(model: Model, *events: tuple[float, str, dict[str, Any]]) -> None:
    batch = [
        {"path": f"/v1/live/{kind}", "time": START + day * DAY, "body": body}
        for day, kind, body in events
    ]
    model.push("/v1/batch", batch)


def order(day: float, size: float, price: float, symbol: str = "BTC-USD") -> Any:
    body = {"id": f"{symbol}{day}", "symbol": symbol, "exchange": "x", "side": "buy", "size": size}
    return (day, "spot-market", {**body, "executionPrice": price})


def mark(day: float, price: float, symbol: str = "BTC-USD") -> Any:
    return (day, "mark-price", {"symbol": symbol, "price": price})


def bars(model: Model, symbol: str, interval: int, starts: list[float], closes: Any) -> None:
    prices = [float(one) for one in closes]
    body = {"symbol": symbol, "interval": interval, "time": starts}
    body |= dict.fromkeys(("open", "high", "low", "close"), prices)
    model.push("/v1/live/bars", body)


def values(found: Any) -> dict[str, float | None]:
    return {name: one["value"] for name, one in found["metrics"].items()}


def all_in(model: Model) -> None:
    """A thousand in one symbol: the account is the benchmark."""
    say(model, (0, "cash", {"type": "deposit", "amount": 1000}), order(0.1, 10, PRICES[0]))
    say(model, *(mark(day, price) for day, price in enumerate(PRICES) if day))


@on_both
def test_an_account_that_bought_and_held_equals_buy_and_hold(model: Model) -> None:
    all_in(model)
    assert model.get("/performance")["benchmark"] is None
    for name in ("buy-and-hold", "BTC-USD", "BTC/USD"):
        found = model.get("/performance", benchmark=name)["benchmark"]
        assert (found["name"], found["reason"]) == (name, None)
        expected = [price / PRICES[0] - 1 for price in PRICES]
        for line in (found["items"], found["account"]):
            assert [one["value"] for one in line] == pytest.approx(expected)
        assert [one["time"] for one in found["items"]] == [START + day * DAY for day in range(7)]
        figures = values(found)
        assert figures["benchmark_return"] == pytest.approx(-0.05)
        for metric in ("beta", "correlation", "up_capture", "down_capture"):
            assert figures[metric] == pytest.approx(1), metric
        for metric in ("alpha", "excess_return", "tracking_error"):
            assert figures[metric] == pytest.approx(0, abs=1e-12), metric
        assert found["metrics"]["information_ratio"]["reason"] == "The returns do not vary."


def test_buy_and_hold_has_equal_parts_and_keeps_cash_until_a_price_is_known(model: Model) -> None:
    all_in(model)
    say(model, order(2.5, 1, 20, "ETH-USD"), mark(3.5, 30, "ETH-USD"), mark(6.5, 10, "ETH-USD"))
    say(model, order(3.5, 1, 7, "DAX-EUR"))
    found = model.get("/performance", benchmark="buy-and-hold")["benchmark"]
    assert found["reason"] is not None  # amounts in euros too: there is no account
    with pushing(model.service, model.owner) as other:
        all_in(other)
        say(other, order(2.5, 1, 20, "ETH-USD"), mark(3.5, 30, "ETH-USD"), mark(6.5, 10, "ETH-USD"))
        found = other.get("/performance", benchmark="buy-and-hold")["benchmark"]
    assert found["symbols"] == ["BTC-USD", "ETH-USD"]
    ether = (1, 1, 1, 1.5, 1.5, 1.5, 0.5)
    expected = [(price / 100 + part) / 2 - 1 for price, part in zip(PRICES, ether, strict=True)]
    assert [one["value"] for one in found["items"]] == pytest.approx(expected)


def test_a_symbol_is_also_found_at_another_model_of_the_project(model: Model) -> None:
    all_in(model)
    with pushing(model.service, model.owner) as other:
        say(other, *(mark(day, 10 + day, "SPY-USD") for day in range(7)))
        found = model.get("/performance", benchmark="SPY-USD")["benchmark"]
        assert values(found)["benchmark_return"] == pytest.approx(0.6)
        assert model.get("/performance", benchmark="XYZ")["benchmark"]["reason"] == (
            "No price of XYZ is known in this time."
        )


def test_what_cannot_be_compared_says_why(model: Model) -> None:
    found = model.get("/performance", benchmark="buy-and-hold")["benchmark"]
    assert found["reason"] == "There is no profit and loss."
    say(model, *(order(day, 1, 100 + day) for day in range(4)))
    found = model.get("/performance", benchmark="buy-and-hold")["benchmark"]
    assert found["reason"] == (
        "No capital is known. Set it in the settings of the model, or report a first deposit."
    )
    assert values(found)["beta"] is None
    path = f"/api/models/{model.id}/performance"
    refused = model.owner.get(path, params={"benchmark": "x" * 201})
    assert (refused.status_code, refused.json()["field"]) == (400, "benchmark")


def test_a_backtest_is_compared_at_the_prices_of_its_trades(model: Model) -> None:
    account = [{"time": START + day * DAY, "value": 1000 + 10 * day} for day in range(7)]
    trades = [
        {"symbol": "BTC-USD", "side": "buy", "time": START + day * DAY, "price": price, "size": 1}
        for day, price in enumerate(PRICES)
    ]
    model.push("/v1/backtest/result", {**RESULT, "account_values": account, "trades": trades})
    for name in ("buy-and-hold", "BTC-USD"):
        found = model.get("/backtests/b1/equity", benchmark=name)["benchmark"]
        assert values(found)["benchmark_return"] == pytest.approx(-0.05)
        assert values(found)["excess_return"] == pytest.approx(0.06 + 0.05)
    say(model, *(mark(day, 5 + day, "SPY-USD") for day in range(7)))
    found = model.get("/backtests/b1/equity", benchmark="SPY-USD")["benchmark"]
    assert values(found)["benchmark_return"] == pytest.approx(6 / 5)
    assert model.get("/backtests/b1/equity")["benchmark"] is None
    found = model.get("/backtests/b1/equity", benchmark="nothing")["benchmark"]
    assert found["reason"] == "No price of nothing is known in this time."


@on_both
def test_bars_price_every_day_and_quantstats_agrees(model: Model) -> None:
    """The model marks its account at two prices only; the closes of its bars say the rest."""
    days = 40
    closes = walk(24 * days, seed=3, spread=0.01)
    say(model, (0, "cash", {"type": "deposit", "amount": 1000}), order(0.5, 1, 100, "ETH-USD"))
    say(model, *(mark(day + 0.9, 100 + day % 7, "ETH-USD") for day in range(days)))
    bars(model, "BTC-USD", 3600, [START + 3600 * hour for hour in range(24 * days)], closes)
    found = model.get("/performance", benchmark="BTC/USD")["benchmark"]
    assert found["sources"] == {"BTC/USD": ["bars"]}
    times = [START + day * DAY for day in range(days)]
    assert [one["time"] for one in found["items"]] == times
    theirs = frame(times, closes[23::24])
    ours = frame(times, [1 + one["value"] for one in found["account"]])
    figures = values(found)
    assert figures["benchmark_return"] == pytest.approx(qs.comp(theirs))
    greeks = qs.greeks(ours, theirs, periods=365)
    assert (figures["alpha"], figures["beta"]) == pytest.approx((greeks["alpha"], greeks["beta"]))
    assert figures["information_ratio"] == pytest.approx(qs.information_ratio(ours, theirs))


def test_days_without_bars_keep_the_prices_of_marks(model: Model) -> None:
    all_in(model)
    bars(model, "BTC-USD", 86_400, [START + 2 * DAY, START + 3 * DAY], (50, 60))
    for name in ("buy-and-hold", "BTC-USD"):
        found = model.get("/performance", benchmark=name)["benchmark"]
        assert found["sources"] == {found["symbols"][0]: ["bars", "marks and fills"]}
        expected = [price / 100 - 1 for price in (100, 110, 50, 60, 120, 90, 95)]
        assert [one["value"] for one in found["items"]] == pytest.approx(expected)


def test_a_day_that_begins_at_another_midnight_is_the_day_on_which_it_closes(model: Model) -> None:
    all_in(model)
    hours_before = {"CET": 1, "JST": 9, "New York": -5, "opening bell": -14.5}
    for symbol, early in hours_before.items():
        starts = [START + day * DAY - early * 3600 for day in range(7)]
        bars(model, symbol, 86_400, starts, PRICES)
        found = model.get("/performance", benchmark=symbol)["benchmark"]
        assert values(found)["beta"] == pytest.approx(1), symbol


def test_a_backtest_is_compared_by_bars_where_there_are_some(model: Model) -> None:
    account = [{"time": START + day * DAY, "value": 1000 + day**2} for day in range(7)]
    traded = {"symbol": "BTC-USD", "side": "buy", "time": START + DAY, "price": 7, "size": 1}
    model.push("/v1/backtest/result", {**RESULT, "account_values": account, "trades": [traded]})
    found = model.get("/backtests/b1/equity", benchmark="buy-and-hold")["benchmark"]
    assert found["sources"] == {"BTC-USD": ["trades"]}
    assert found["reason"] is not None  # one day is not enough
    with pushing(model.service, model.owner) as other:
        starts = [START + 14_400 * number for number in range(6 * 7)]
        closes = [PRICES[number // 6] + number % 6 - 5 for number in range(6 * 7)]
        bars(other, "BTC/USD", 14_400, starts, closes)
        for name in ("buy-and-hold", "BTC-USD"):
            found = model.get("/backtests/b1/equity", benchmark=name)["benchmark"]
            assert (found["reason"], found["sources"]) == (None, {"BTC-USD": ["bars"]})
            assert values(found)["benchmark_return"] == pytest.approx(-0.05)
