"""Whatever numbers a model reports, strangers and its owner get answers, and no other than those of
figures that can be computed."""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import httpx
import pytest

from tests.conftest import Service
from tests.http.sharing.scene import CHOICES, DAY, LINKS, shared
from tests.pushing import Model

TOO_LARGE = "too large to compute"


@cache
def yesterday() -> float:
    return time.time() - 25 * 3600


def push(model: Model, hours: float, kind: str, **body: Any) -> None:
    headers = {"time": repr(yesterday() - 30 * DAY + hours * 3600)}
    model.push(f"/v1/live/{kind}", body, headers=headers)


def order(model: Model, number: int, side: str, price: float, **more: Any) -> None:
    said = {"id": f"o{number}", "symbol": "A-USD", "exchange": "x", "side": side, "size": 1e200}
    push(model, number, "spot-market", executionPrice=price, **(said | more))


def two_orders(model: Model) -> None:
    order(model, 1, "buy", 1e-5)
    order(model, 2, "sell", 1e200)


def funded_orders(model: Model) -> None:
    push(model, 0, "cash", type="deposit", amount=1000, currency="USD")
    two_orders(model)
    push(model, 50, "account-value", value=-1e308)


def much_cash(model: Model) -> None:
    for hours, kind in enumerate(("deposit", "interest", "interest", "adjustment")):
        push(model, 24 * hours, "cash", type=kind, amount=1e308, currency="USD")
    push(model, 90, "cash", type="withdrawal", amount=-1e308, currency="USD")
    order(model, 99, "buy", 1, size=1)
    push(model, 120, "account-value", value=1e308)


def absurd_marks(model: Model) -> None:
    push(model, 0, "cash", type="deposit", amount=1e-300, currency="USD")
    order(model, 1, "buy", 1e-300, size=1e300, fee=1e308)
    order(model, 2, "buy", 1e300, size=1e300, symbol="B-USD")
    for hours in (3, 30, 60):
        push(model, hours, "mark-price", symbol="A-USD", price=1e300)
        push(model, hours, "mark-price", symbol="B-USD", price=1e-300)


def foreign_fees(model: Model) -> None:
    """In two currencies, of which none is added to the other."""
    order(model, 1, "buy", 1e200, symbol="A-EUR", fee=1e308, fee_currency="EUR")
    order(model, 2, "sell", 1e-300, symbol="A-EUR", fee=-1e308)
    two_orders(model)
    push(model, 3, "position", symbol="C-USD", size=-1e308, average_price=1e308)


WORLDS = [two_orders, funded_orders, much_cash, absurd_marks, foreign_fees]


def backtest(model: Model) -> None:
    values = [1.0, 1e308, -1e308, 1e-300, 1e308]
    side = ("buy", "sell")
    model.push(
        "/v1/backtest/result",
        {
            "backtest_id": "b1", "symbols": ["A-USD"], "quote_asset": "USD",
            "start_time": yesterday() - 5 * DAY, "stop_time": yesterday(),
            "account_values": [
                {"time": yesterday() - (5 - n) * DAY, "value": value}
                for n, value in enumerate(values)
            ],
            "trades": [
                {"symbol": "A-USD", "side": side[n % 2], "time": yesterday() - (4 - n) * DAY,
                 "price": 1e300 ** (n % 2), "size": 1e200, "fee": 1e308}
                for n in range(4)
            ],
        },
    )  # fmt: skip


def _is_answer(answer: httpx.Response) -> None:
    assert answer.status_code < 500, (answer.url, answer.text[:300])
    if "json" in answer.headers["content-type"]:
        assert "Infinity" not in answer.text
        assert "NaN" not in answer.text


def _look(model: Model, stranger: httpx.Client, **choices: Any) -> None:
    link = shared(model, stranger, **choices)
    for path in (f"/s/{link.token}", f"/embed/{link.token}", f"/s/{link.token}/picture.png"):
        answer = stranger.get(path)
        _is_answer(answer)
        assert answer.status_code == 200 or path.endswith("png")
        if "html" in answer.headers["content-type"]:
            assert "nan" not in answer.text.lower().replace("finan", "")
    for row in LINKS:
        path = row.path.replace("{token}", link.token)
        if "stream" not in path and "{" not in path:
            _is_answer(stranger.get(path))


def _preview(model: Model, **choices: Any) -> None:
    path = f"/api/models/{model.id}/shares/preview"
    _is_answer(model.owner.post(path, json=choices))
    answer = model.owner.get(path, params={k: str(v) for k, v in choices.items()})
    _is_answer(answer)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("world", WORLDS, ids=lambda one: one.__name__)
def test_no_number_fails_a_link_or_its_preview(
    service: Service, model: Model, world: Callable[[Model], None]
) -> None:
    world(model)
    backtest(model)
    with service.client() as stranger:
        for choices in CHOICES.values():
            _look(model, stranger, **choices)
            _preview(model, **choices)
        _look(model, stranger, backtest_id="b1")
        _look(model, stranger, backtest_id="b1", percent_only=True, hide_symbols=True)
        _preview(model, backtest_id="b1")


def test_a_figure_that_cannot_be_computed_is_null_and_the_page_says_so(
    service: Service, model: Model
) -> None:
    two_orders(model)
    with service.client() as stranger:
        link = shared(model, stranger)
        reported = link.json()["reported"]
        assert None in (reported["first"], reported["now"])
        assert TOO_LARGE in reported["reason"]
        assert TOO_LARGE in stranger.get(f"/s/{link.token}").text
