"""Live models and backtests beside a benchmark, over the wire, with figures computed by hand."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import Person, Service, on_both
from tests.pushing import RESULT, Model, pushing

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
        "No capital is known. Set it for the model, or report the first deposit with `cash`."
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
