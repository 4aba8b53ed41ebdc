"""Answers have the shape that the OpenAPI document, and the types made from it, say they have."""

from typing import Any

import msgspec

from tapeline.http.core.answers import Listed
from tapeline.http.routes import ROUTES
from tapeline.http.view import answers
from tapeline.http.view.backtest_api import LiveMetrics
from tapeline.http.view.tape_api import Screener, ShownModel
from tapeline.results.metrics.report_fields import Comparison
from tapeline.results.pnl.overview import Glance
from tests.pushing import ORDER, RESULT, Model

METRIC = {"value": "good", "display_name": "Mood", "type": "text"}


def test_lists_of_what_a_model_said_have_their_shapes(model: Model) -> None:
    model.push("/v1/live/spot-market", ORDER | {"note": {"any": "thing"}})
    model.push("/v1/live/update-trade", {"id": ORDER["id"], "executed_price": 7})
    model.push("/v1/live/spot-limit", ORDER | {"id": "o2", "price": 3})
    model.push("/v1/live/log", {"line": "hello"})
    model.push("/v1/live/event", {"type": "call", "args": {"a": 1}, "response": None})
    model.push("/v1/live/screener-result", {"result": {"AAPL": {"rsi": 30}, "MSFT": {"rsi": None}}})
    model.push("/v1/live/set-custom-metric", {"metrics": {"mood": METRIC}})
    model.push("/v1/model/lifecycle", {"message": "Fine", "running": True, "start_at": 5})
    for path, shape in {
        "/orders": Listed[answers.ShownOrder],
        "/logs": Listed[answers.ShownLine],
        "/events": Listed[answers.ShownEvent],
        "/screener/history": Listed[answers.ScreenerResult],
        "/screener": Screener,
        "/metrics": LiveMetrics,
        "": ShownModel,
    }.items():
        assert _fits(model.get(path), shape)
    listed = model.owner.get(f"/api/projects/{model.get()['project_id']}/models").json()
    assert _fits(listed, Listed[Glance])


def test_backtests_have_their_shapes(model: Model) -> None:
    model.push("/v1/backtest/log", {"line": "hello", "backtest_id": "empty"})
    model.push("/v1/backtest/result", RESULT)
    model.push("/v1/backtest/status", {"backtest_id": "empty", "successful": False})
    name = RESULT["backtest_id"]
    assert _fits(model.get("/backtests"), Listed[answers.ShownBacktest])
    for one in (name, "empty"):
        assert _fits(model.get(f"/backtests/{one}"), answers.ShownBacktest)
    assert _fits(model.get(f"/backtests/{name}/trades"), Listed[answers.BacktestTrade])
    assert _fits(model.get("/backtests/empty/logs"), Listed[answers.ShownLine])
    assert _fits(model.get("/backtests-compare", ids=name), Comparison)


def test_every_list_says_what_is_in_it() -> None:
    assert [row.path for row in ROUTES if row.gives == Listed[dict[str, Any]]] == []


def _fits(answer: Any, shape: Any) -> bool:
    """Raises where it does not; and a list of nothing would prove nothing."""
    msgspec.convert(answer, shape)
    return bool(answer.get("items", True))
