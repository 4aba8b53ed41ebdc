"""Limits on what is held and ordered: exceeded by what a model reports, and left again."""

from tests.conftest import on_both
from tests.pushing import Model
from tests.waiting import wait_for
from tests.watch.conditions.asking import DAY, Watcher, about, fund, mark, order, trade


def test_the_size_of_a_position(model: Model, watcher: Watcher, now: float) -> None:
    trade(model, now - 60, order(1, 100, size=3))
    trade(model, now - 50, order(2, 10, size=7, symbol="ETH-USD", side="sell"))
    found = watcher.of_model(model, "position-size", limit=5)
    assert (found.holds, found.value) == (True, 7)
    assert "7 ETH-USD are held; the limit is 5." in found.said
    one = {"condition": "position-size", "symbol": "btc/usd"}
    assert watcher.of_model(model, one, limit=3).holds is False
    assert watcher.of_model(model, one, limit=2.9).holds is True
    trade(model, now - 40, order(3, 10, size=7, symbol="ETH-USD"))
    assert watcher.of_model(model, "position-size", limit=5).holds is False


def test_the_value_of_a_position_in_money_and_percent(
    model: Model, watcher: Watcher, now: float
) -> None:
    trade(model, now - 60, order(1, 100, size=3))
    assert watcher.of_model(model, "position-value", limit=299.99).holds is True
    percent = watcher.of_model(model, "position-value", limit=25, unit="percent")
    assert (percent.holds, percent.said[:13]) == (None, "No capital is")
    fund(model, 1_000)
    assert watcher.of_model(model, "position-value", limit=25, unit="percent").holds is True
    mark(model, now, 50)  # 150 of 850
    found = watcher.of_model(model, "position-value", limit=25, unit="percent")
    assert (found.holds, found.value) == (False, about(100 * 150 / 850))


def test_a_position_without_a_price_is_unknown(model: Model, watcher: Watcher, now: float) -> None:
    model.push("/v1/live/position", {"symbol": "BTC-USD", "size": 2, "average_price": 9})
    fund(model, 1_000)
    for name in ("position-value", "gross-exposure", "net-exposure", "drawdown", "account-below"):
        found = watcher.of_model(model, name, limit=1)
        assert (found.holds, found.said) == (None, "No price of BTC-USD is known."), name
    assert watcher.of_model(model, "position-size", limit=1).holds is True
    mark(model, now, 10)
    assert watcher.of_model(model, "gross-exposure", limit=19).holds is True


def test_gross_and_net_of_a_model_and_a_project(model: Model, watcher: Watcher, now: float) -> None:
    fund(model, 1_000)
    trade(model, now - 60, order(1, 100, size=4))
    trade(model, now - 50, order(2, 10, size=30, symbol="ETH-USD", side="sell"))
    gross = watcher.of_model(model, "gross-exposure", limit=60, unit="percent")
    assert (gross.holds, gross.value) == (True, about(70))
    net = watcher.of_model(model, "net-exposure", limit=100)
    assert (net.holds, net.value) == (False, about(100))
    whole = watcher.of_project(model, "gross-exposure", limit=600)
    assert (whole.holds, whole.value) == (True, about(700))
    trade(model, now - 40, order(3, 10, size=30, symbol="ETH-USD"))
    assert watcher.of_model(model, "gross-exposure", limit=60, unit="percent").holds is False
    assert watcher.of_model(model, "net-exposure", limit=100).holds is True
    wait_for(lambda: watcher.of_project(model, "gross-exposure", limit=600).holds is False)


def test_open_orders_are_open_until_somebody_says_otherwise(
    model: Model, watcher: Watcher, now: float
) -> None:
    for number in range(4):
        trade(model, now - 60, order(number, None, price=90), "spot-limit")
    trade(model, now - 60, order("m"))
    found = watcher.of_model(model, "open-orders", limit=3)
    assert (found.holds, found.value) == (True, 4)
    model.push("/v1/live/update-trade", {"id": "o0", "status": "canceled"})
    assert watcher.of_model(model, "open-orders", limit=3).holds is False
    model.push("/v1/live/update-trade", {"id": "o1", "filled_size": 0.5})
    assert watcher.of_model(model, "open-orders", limit=0).value == 3
    model.push("/v1/live/update-trade", {"id": "o1", "filled_size": 1})
    model.push("/v1/live/update-trade", {"id": "o2", "status": "filled"})
    model.push("/v1/live/update-trade", {"id": "o3", "executionPrice": 90})
    assert watcher.of_model(model, "open-orders", limit=0).value == 0


@on_both
def test_a_preview_of_exposure(model: Model, watcher: Watcher, now: float) -> None:
    trade(model, now - 10 * DAY, order(1, 100, size=4))
    trade(model, now - 9 * DAY, order(2, 100, size=3, side="sell"))
    trade(model, now - 8 * DAY, order(3, 100, size=2, symbol="ETH-USD"))
    for name, limit in (("gross-exposure", 350), ("net-exposure", 350), ("position-value", 350)):
        found = watcher.preview(model, name, limit=limit)
        assert [(one.began_at, one.ended_at, one.value) for one in found] == [
            (now - 10 * DAY, now - 9 * DAY, about(400))
        ], name
