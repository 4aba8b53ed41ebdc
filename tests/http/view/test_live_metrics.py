"""Metrics of a live model."""

import pytest

from tests.pushing import Model
from tests.results.metrics.series import DAY, MONDAY


def test_a_live_model_has_metrics_of_its_orders(model: Model) -> None:
    day = 86_400.0
    for number, (side, price) in enumerate(
        [("buy", 100), ("sell", 110), ("buy", 100), ("sell", 95), ("buy", 95), ("sell", 105)]
    ):
        order = {
            "symbol": "BTC-USD", "exchange": "paper", "id": f"o{number}", "side": side, "size": 2,
            "price": price, "executionPrice": price,
        }  # fmt: skip
        model.push(
            "/v1/live/spot-limit", order, headers={"time": str(1_700_000_000 + number * day)}
        )
    computed = model.get("/metrics")["computed"]
    assert computed["round_trips"]["value"] == 3
    assert computed["win_rate_trades"]["value"] == pytest.approx(2 / 3)
    assert computed["profit_factor"]["value"] == pytest.approx((20 + 20) / 10)
    model.push(
        "/v1/live/update-trade",
        {"id": "o5", "executionPrice": 85},
        headers={"time": str(1_700_600_000)},
    )
    assert model.get("/metrics")["computed"]["win_rate_trades"]["value"] == pytest.approx(1 / 3)
    model.push("/v1/live/auto-pnl", {"enabled": False})
    assert model.get("/metrics")["computed"]["round_trips"]["value"] is None


def test_a_live_model_has_metrics_of_its_profit_and_its_own(model: Model) -> None:
    empty = model.get("/metrics")
    assert empty["computed"]["profit"]["reason"] == "There is no profit and loss yet."
    assert empty["custom"] == {}
    values = [{"time": MONDAY + n * DAY, "value": v} for n, v in enumerate([0, 10, 4, 20])]
    model.push("/v1/live/set-pnl", {"values": values})
    model.push("/v1/live/set-custom-metric", {"metrics": {"mood": {"value": 7}}})
    for _ in range(2):  # computed, then remembered
        shown = model.get("/metrics")
        assert shown["computed"]["profit"]["value"] == 20
        assert shown["computed"]["max_drawdown_money"]["value"] == -6
        assert shown["computed"]["sharpe"]["value"] is None
        assert shown["custom"]["mood"] == {"value": 7, "display_name": "mood", "type": "number"}
    model.push("/v1/live/set-pnl", {"values": values[:2]})
    assert model.get("/metrics")["computed"]["profit"]["value"] == 10
