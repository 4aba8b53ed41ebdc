"""Backtests whose figures leave the doubles: every answer is there, and keeps to its own type."""

from typing import Any

import pytest

from tests.http.sharing.scene import shared
from tests.http.view.pushed_backtests import PATH, result
from tests.pushing import Model
from tests.results.metrics.series import DAY, MONDAY

ANSWERS = ("", "/equity", "/drawdown", "/rolling", "/periods", "/round-trips", "/indicators")
FILES = ("/tear-sheet", "/export.csv", "/export.json", "/round-trips.csv")
TINY, HUGE = 1e-300, 1e300


def of_values(*values: float, **more: Any) -> Any:
    points = [{"time": MONDAY + 20 * DAY * n, "value": one} for n, one in enumerate(values)]
    return result(account_values=points, **more)


@pytest.mark.parametrize(
    "values",
    [
        (TINY, HUGE, TINY, HUGE, TINY, HUGE),
        (HUGE, TINY, HUGE, -HUGE, HUGE, TINY),
        (5e-324, 1.7e308, 1.0, -1.7e308, 2.0),
    ],
)
def test_every_answer_about_it_is_there(own_model: Model, values: tuple[float, ...]) -> None:
    own_model.push(PATH, of_values(*values))
    address = f"/api/models/{own_model.id}/backtests/b1"
    for path in (*ANSWERS, *FILES):
        answer = own_model.owner.get(address + path)
        assert answer.status_code == 200, (path, answer.text)
        assert "inf" not in answer.text.lower().replace("information", ""), path
    compared = own_model.get("/backtests-compare?ids=b1")
    assert len(compared["items"]) == 1


def test_a_link_shows_it_too(own_model: Model) -> None:
    own_model.push(PATH, of_values(TINY, HUGE, HUGE, 2 * HUGE, 2 * HUGE))
    with own_model.service.client() as stranger:
        link = shared(own_model, stranger, backtest_id="b1")
        (year,) = link.json("/periods")["years"]
        assert (year["value"], year["months"][0]) == (None, None)
        page = stranger.get(f"/s/{link.token}")
        assert page.status_code == 200
        assert ">inf" not in page.text


def test_a_month_without_a_finite_return_is_null_and_the_others_stay(own_model: Model) -> None:
    own_model.push(PATH, of_values(TINY, HUGE, HUGE, 2 * HUGE, 2 * HUGE))
    (year,) = own_model.get("/backtests/b1/periods")["years"]
    assert year["value"] is None
    assert None in year["months"]
    assert 1.0 in year["months"]


def test_trades_of_any_size_have_a_report(own_model: Model) -> None:
    trade = {"symbol": "BTC-USD", "time": MONDAY}
    tiny = {"price": 1e-200, "multiplier": 1e-200, "funds": 1}
    huge = {"price": HUGE, "size": HUGE, "fee": HUGE}
    trades = [
        trade | {"side": side} | some for some in (tiny, huge) for side in ("buy", "sell")
    ] + [trade | huge | {"side": "buy", "symbol": "B"}] * 2
    own_model.push(PATH, of_values(1.0, 2.0, trades=trades))
    assert own_model.get("/backtests/b1/round-trips")["summary"]["profit"] is None
