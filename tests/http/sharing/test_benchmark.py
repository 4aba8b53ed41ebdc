"""A link beside buying and holding what it traded, unless that would tell what it hides."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Person, Service
from tests.http.sharing.scene import DAY, START, look_back_from, push_on, shared
from tests.pushing import Model, pushing

PRICES = (100, 110, 99, 121, 120)
HEADING = "Beside buying and holding"


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


def all_in(model: Model) -> None:
    """A thousand in one symbol: the account is the benchmark."""
    push_on(model, 0, "cash", type="deposit", amount=1000)
    order = {"id": "o", "symbol": "BTC-USD", "side": "buy", "size": 10, "exchange": "e"}
    push_on(model, 0.01, "spot-market", **order, executionPrice=PRICES[0])
    for day, price in enumerate(PRICES[1:], 1):
        push_on(model, day, "mark-price", symbol="BTC-USD", price=price)


def values(items: list[dict[str, Any]]) -> list[float]:
    return [one["value"] for one in items]


def test_a_record_is_compared_at_the_prices_that_the_link_shows(
    service: Service, enter: Callable[[str], Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pushing(service, enter("ada")) as model, service.client() as stranger:
        all_in(model)
        bars = {"symbol": "BTC-USD", "interval": 86_400, "time": [START + DAY]}
        bars |= {name: [7.0] for name in ("open", "high", "low", "close")}
        model.push("/v1/live/bars", bars)  # which no link shows
        look_back_from(monkeypatch, time.time() + 7 * 3600)
        expected = [price / PRICES[0] - 1 for price in PRICES]
        for choices in ({}, {"percent_only": True}, {"hide_sizes": True}, {"delay_hours": 7}):
            link = shared(model, stranger, **choices)
            found = link.json("/benchmark")
            assert (found["symbols"], found["reason"]) == (["BTC-USD"], None)
            assert values(found["items"]) == pytest.approx(expected)
            assert values(found["account"]) == pytest.approx(expected)
            assert found["metrics"]["benchmark_return"]["value"] == pytest.approx(0.2)
            assert link.json("/export.json")["benchmark"] == found
            assert HEADING in stranger.get(f"/s/{link.token}").text


def test_a_link_that_hides_symbols_compares_with_none(
    service: Service, enter: Callable[[str], Person]
) -> None:
    with pushing(service, enter("ada")) as model, service.client() as stranger:
        all_in(model)
        link = shared(model, stranger, hide_symbols=True)
        assert link.get("/benchmark").status_code == 404
        assert link.json("/export.json")["benchmark"] is None
        assert HEADING not in stranger.get(f"/s/{link.token}").text


def test_a_backtest_is_compared_at_the_prices_of_its_trades(
    service: Service, enter: Callable[[str], Person]
) -> None:
    trades = [
        {"symbol": "ETH-USD", "side": "buy", "time": START + day * DAY, "price": price, "size": 1}
        for day, price in enumerate(PRICES)
    ]
    account = [{"time": START + day * DAY, "value": 1000 + 10 * day} for day in range(len(PRICES))]
    result = {
        "backtest_id": "b", "symbols": ["ETH-USD"], "quote_asset": "USD", "trades": trades,
        "account_values": account, "start_time": START, "stop_time": START + 5 * DAY,
    }  # fmt: skip
    with pushing(service, enter("ada")) as model, service.client() as stranger:
        model.push("/v1/backtest/result", result)
        push_on(model, 2, "mark-price", symbol="ETH-USD", price=5)  # of live trading
        found = shared(model, stranger, backtest_id="b").json("/benchmark")
        assert values(found["items"]) == pytest.approx([price / 100 - 1 for price in PRICES])
        assert values(found["account"]) == pytest.approx([0, 0.01, 0.02, 0.03, 0.04])
        hidden = shared(model, stranger, backtest_id="b", hide_symbols=True)
        assert hidden.get("/benchmark").status_code == 404


def test_what_cannot_be_compared_says_why(service: Service, enter: Callable[[str], Person]) -> None:
    with pushing(service, enter("ada")) as model, service.client() as stranger:
        push_on(model, 0, "mark-price", symbol="BTC-USD", price=5)
        link = shared(model, stranger)
        assert link.json("/benchmark")["reason"] == "There is no profit and loss."
        assert HEADING not in stranger.get(f"/s/{link.token}").text
