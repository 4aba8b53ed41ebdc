"""A price in another unit, for one moment: all that is said of other moments stays right."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from tapeline.results.charts import chart_window, curve, running
from tapeline.results.charts.chart_window import Window
from tapeline.results.performance import performance
from tapeline.results.performance.account_line import AccountLine
from tapeline.results.performance.evidence import Evidence, Kept, assembled, kept_around, kept_of
from tapeline.results.performance.performance import View
from tapeline.results.performance.trip_answers import TripGroups
from tapeline.results.pnl import summary
from tapeline.results.portfolio.holding import Holding, holding
from tapeline.sharing.exhibits import then
from tapeline.sharing.exhibits.replay import Replays
from tapeline.tape import tapes
from tests.examples import some
from tests.results.performance.test_account_line import Part, buy, cash, mark, owned
from tests.results.pnl.bookkeeping import Books, Opened
from tests.results.pnl.reference import Cash, account, reckoned, reckoned_cash

CAPITAL = 10_000.0
MUCH = 2_000_000.0  # more than can be lost here
WEI = 1e18


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few entries are many segments."""
    monkeypatch.setattr(curve, "SEGMENT", 4)
    monkeypatch.setattr(curve, "DETAIL", 2)


def kept_as(connection: Connection, books: Books, how: str) -> Kept:
    if how == "glance":
        return kept_around(connection, books.tape, [])
    if how == "replayed":
        end = tapes.of_model(connection, books.model).seq
        return then.kept(Replays().at(connection, books.tape, 0, end))
    return kept_of(connection, books.tape)


def found_in(books: Books, how: str = "kept") -> Evidence:
    def look(connection: Connection) -> Evidence:
        said = summary.own_of(connection, books.tape)
        return assembled(kept_as(connection, books, how), said)

    books.keep()
    return books.store.read_now(look)


def held_by(books: Books) -> Holding:
    def look(connection: Connection) -> Holding:
        return holding(kept_of(connection, books.tape), summary.own_of(connection, books.tape))

    books.keep()
    return books.store.read_now(look)


def lines(books: Books) -> Iterator[AccountLine]:
    for how in ("kept", "replayed", "glance"):
        yield found_in(books, how).line()


@pytest.fixture
def ether(books: Books) -> Books:
    books.push(
        owned(CAPITAL),
        buy(2, 2000.11, 300, "ETH-USD"),
        mark(3, 2100 * WEI, "ETH-USD"),
        mark(4, 2101.37, "ETH-USD"),
    )
    return books


def test_the_account_is_worth_what_it_was_before_a_wrong_price(ether: Books) -> None:
    for line in lines(ether):
        assert line.value[-1] == 40_378
        assert line.growth[-1] == 40_378
        assert line.profit[-1] == 30_378
    assert held_by(ether).profits["USD"].profits[-1] == 30_378


def test_what_comes_after_a_wrong_price_is_neither_ruin_nor_a_return(ether: Books) -> None:
    ether.push(cash(5, "deposit", 40_378), mark(6, 2101.37, "ETH-USD"))
    for line in lines(ether):
        assert line.value[-1] == 80_756
        assert line.growth[-1] == pytest.approx(40_378, rel=1e-12)


def test_exposure_is_what_is_held_at_the_last_price(ether: Books) -> None:
    answer = performance.performance(
        found_in(ether), (np.empty(0), np.empty(0)), {}, TripGroups(), View(Window(), 100)
    )
    of_symbol = answer.exposure.symbols["ETH-USD"]
    for one in (answer.exposure.net, answer.exposure.gross, of_symbol):
        assert one[-1].value == pytest.approx(300 * 2101.37, rel=1e-15)


@pytest.mark.parametrize("closely", [0, 16], ids=["sketches", "every point"])
def test_a_chart_of_any_range_is_right_after_a_wrong_price(
    books: Books, monkeypatch: pytest.MonkeyPatch, closely: int
) -> None:
    monkeypatch.setattr(chart_window, "CLOSELY", closely)
    books.push(buy(2, 2000.11, 300, "ETH-USD"), buy(3, 100, 1, "B-USD"))
    books.push(mark(10, 2100 * WEI, "ETH-USD"))
    books.push(*(mark(11.0 + at, 100 + at / 8, "B-USD") for at in range(40)))
    books.push(mark(60, 2101.37, "ETH-USD"), mark(61, 100.5, "B-USD"))
    for since in (None, 30.0, 61.0):
        values = {one.time: one.value for one in books.pnl(200, Window(since, 61.5)).series}
        assert values[61] == pytest.approx(30_378.5, rel=1e-12)


def test_amounts_cancel_out_exactly_whatever_comes_between_them() -> None:
    huge, changes = 1e300, np.array([0.1, 1e300, 0.2, 7e9, -7e9, -1e300, 0.25])
    assert running.sums(changes, np.zeros(7)).rounded[-1] == pytest.approx(0.55, rel=1e-15)
    levels = running.changes(np.array([0.0, huge]), np.array([huge, 0.3]))
    assert running.sums(*levels).rounded.tolist() == [huge, 0.3]


PRICES = st.sampled_from([100.1, 99.97, 101.3, 0.07, 2000.11, 61.234567])
SIZES = st.sampled_from([1.0, 1.5, 300.0, 0.001, 12.34])


@st.composite
def histories(draw: st.DrawFn) -> list[Part]:
    """Two symbols, cash and flows; one symbol has a wrong price and another one after it."""
    count = draw(st.integers(3, 14))
    parts = [buy(10, draw(PRICES), draw(SIZES)), buy(11, draw(PRICES), draw(SIZES), "B-USD")]
    for at in range(count):
        symbol = draw(st.sampled_from(["A-USD", "B-USD"]))
        flowed = st.builds(cash, st.just(20.0 + at), st.sampled_from(["deposit", "rebate"]), PRICES)
        marked = st.builds(mark, st.just(20.0 + at), PRICES, st.just(symbol))
        parts.append(draw(st.one_of(marked, marked, flowed)))
    wrong = draw(st.integers(0, count))
    parts.append(mark(19.5 + wrong, draw(PRICES) * 10.0 ** draw(st.integers(3, 120)), "A-USD"))
    parts.append(mark(19.75 + draw(st.integers(wrong, count)), draw(PRICES), "A-USD"))
    return parts


@pytest.mark.heavy
@settings(max_examples=some(60), deadline=None)
@given(st.data())
def test_after_one_wrong_price_an_account_is_capital_and_flows_and_what_was_gained(
    opened: Opened, data: st.DataObject
) -> None:
    parts = data.draw(histories())
    said: list[tuple[float, int, str, dict[str, Any]]] = [
        (time, seq, kind, body) for seq, (time, kind, body) in enumerate(parts, 1)
    ]
    sums = reckoned_cash(said).get("USD", Cash())
    worth = {one.time: one for one in account(reckoned(said), sums, Fraction(MUCH))}
    books = Books(*opened)
    books.push(owned(MUCH))
    for part in parts:
        books.push(part)
        if data.draw(st.booleans()):
            books.keep()
    for how in ("kept", "replayed", "glance"):
        line = found_in(books, how).line()
        last = worth[line.times[-1]]
        assert line.value[-1] == pytest.approx(float(last.value), rel=1e-14, abs=1e-10)
        assert line.growth[-1] / MUCH == pytest.approx(float(last.growth), rel=1e-12)
        if how != "glance":
            for at, value in zip(line.times[1:], line.value[1:], strict=True):
                assert value == pytest.approx(float(worth[at].value), rel=1e-14, abs=1e-10)
