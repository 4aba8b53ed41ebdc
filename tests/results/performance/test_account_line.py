"""The value of an account where several things happen at one moment, in whatever order they
arrive."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from tapeline.results.metrics.account import Lacking
from tapeline.results.performance import flows
from tapeline.results.performance.account_line import AccountLine
from tapeline.results.performance.evidence import assembled, kept_of
from tapeline.results.pnl import summary
from tapeline.sharing.exhibits import then
from tapeline.sharing.exhibits.replay import Replays
from tapeline.tape import tapes
from tests.examples import some
from tests.results.pnl.bookkeeping import Books, Opened
from tests.results.pnl.reference import Cash, account, reckoned, reckoned_cash

Part = tuple[float, str, dict[str, Any]]

CAPITAL = 100_000.0
MOMENTS = st.sampled_from([10.0, 20.0, 30.0])
PRICES = st.sampled_from([1.0, 3.3, 99.99, 100.0, 0.07])


def owned(amount: float = CAPITAL) -> Part:
    return (1.0, "account-settings", {"capital": {"amount": amount, "currency": "USD"}})


def buy(time: float, price: float, size: float = 1.0, symbol: str = "A-USD", **more: Any) -> Part:
    body = {"id": f"{symbol}{time}", "symbol": symbol, "exchange": "x", "side": "buy"}
    return (time, "spot-market", {**body, "size": size, "executionPrice": price, **more})


def mark(time: float, price: float, symbol: str = "A-USD") -> Part:
    return (time, "mark-price", {"symbol": symbol, "price": price})


def cash(time: float, kind: str, amount: float) -> Part:
    return (time, "cash", {"type": kind, "amount": -amount if kind == "withdrawal" else amount})


def line(books: Books, *, is_replayed: bool = False) -> AccountLine:
    """From the books, or from the tape alone."""
    books.keep()

    def look(connection: Connection) -> AccountLine:
        said = summary.own_of(connection, books.tape)
        if not is_replayed:
            return assembled(kept_of(connection, books.tape), said).line()
        end = tapes.of_model(connection, books.model).seq
        replay = Replays().at(connection, books.tape, 0, end)
        return assembled(then.kept(replay), said).line()

    return books.store.read_now(look)


def declared(time: float, symbol: str, size: float, price: float) -> Part:
    return (time, "position", {"symbol": symbol, "size": size, "average_price": price})


def reasons(opened: Opened, *parts: Part) -> list[str | None]:
    """Why there is no account."""
    found: list[str | None] = []
    for is_replayed in (False, True):
        books = Books(*opened)
        books.push(*parts)
        try:
            line(books, is_replayed=is_replayed)
        except Lacking as lacking:
            found.append(lacking.reason)
        else:
            found.append(None)
    return found


def lines(opened: Opened, *parts: Part) -> list[AccountLine]:
    """In this order of arrival and in the reverse, kept on the way and replayed."""
    found = []
    for arrival in (parts, parts[::-1]):
        books = Books(*opened)
        for part in arrival:
            books.push(part)
            books.keep()
        found += [line(books), line(books, is_replayed=True)]
    return found


def test_a_deposit_counts_at_the_price_of_its_moment(opened: Opened) -> None:
    """1000 had become 1100 when the deposit came: 10 %, and not 100 of 2100."""
    parts = owned(1000), buy(2, 100), mark(10, 200), cash(10, "deposit", 1100)
    for found in lines(opened, *parts):
        assert found.growth[-1] / 1000 == pytest.approx(1.1)
        assert found.value.tolist() == [1000, 1000, 2200]


def test_two_prices_of_one_moment_are_one_step(opened: Opened) -> None:
    """One of them alone would have taken all there was."""
    held = buy(2, 100, 10), buy(3, 100, 10, "B-USD")
    parts = owned(1000), *held, mark(10, 0.5), mark(10, 300, "B-USD")
    for found in lines(opened, *parts):
        assert found.value[-1] == pytest.approx(1000 - 995 + 2000)
        assert not found.is_ruined


def test_what_is_deposited_into_an_empty_account_can_be_traded_at_once(opened: Opened) -> None:
    parts = owned(1000), cash(10, "withdrawal", 1000), cash(20, "deposit", 2000)
    for found in lines(opened, *parts, buy(20, 100, fee=20)):
        assert found.growth[-1] / 1000 == pytest.approx(0.99)


def test_an_account_begins_when_its_capital_is_there(opened: Opened) -> None:
    """50 were gained before the deposit: 1050 became 1155."""
    early = buy(100, 100), mark(200, 150)
    parts = *early, cash(300, "deposit", 1000), mark(400, 255)
    for found in lines(opened, *parts):
        assert found.times.tolist() == [300, 400]
        assert found.value.tolist() == [1050, 1155]
        assert (found.growth / 1000).tolist() == pytest.approx([1, 1.1])
        assert found.profit.tolist() == [0, 105]
    for found in lines(opened, *early, cash(300, "deposit", 1000)):
        assert (found.times.tolist(), found.value.tolist()) == ([300], [1050])


def test_a_deposit_of_the_very_moment_of_the_first_fill_is_there_before_it(opened: Opened) -> None:
    for found in lines(opened, cash(100, "deposit", 1000), buy(100, 100, fee=1)):
        assert (found.times.tolist(), found.value.tolist()) == ([99, 100], [1000, 999])


def test_of_two_deposits_of_one_moment_the_larger_is_the_capital(opened: Opened) -> None:
    parts = cash(10, "deposit", 1000), cash(10, "deposit", 500), buy(20, 100), mark(30, 250)
    for found in lines(opened, *parts):
        assert (found.value[0], found.value[-1]) == (1000, 1650)
        assert found.growth[-1] / 1000 == pytest.approx(1.1)


def test_what_was_lost_before_the_capital_came_may_be_more_than_it(opened: Opened) -> None:
    parts = buy(100, 2000), mark(200, 500), cash(300, "deposit", 1000), mark(400, 3000)
    for found in lines(opened, *parts):
        assert (found.value[0], found.is_ruined) == (-500, True)


@pytest.mark.parametrize(
    "parts",
    [
        [declared(1, "SAP-EUR", 10, 100), mark(2, 150, "SAP-EUR")],
        [declared(1, "SAP-EUR", 10, 100), mark(2, 100, "SAP-EUR")],
        [declared(1, "SAP-EUR", 10, 100)],
        [(1.0, "cash", {"type": "interest", "amount": 5.0, "currency": "EUR"}),
         (2.0, "cash", {"type": "interest", "amount": -5.0, "currency": "EUR"})],
    ],
    ids=["a gain", "no gain", "no price", "cash that adds up to nothing"],
)  # fmt: skip
def test_whatever_there_is_in_another_currency_leaves_no_account(
    opened: Opened, parts: list[Part]
) -> None:
    for found in reasons(opened, owned(1000), *parts, buy(3, 100), mark(4, 110)):
        assert found == "There are amounts in EUR too, and an account is computed in USD alone."


def test_a_declaration_that_nothing_is_held_is_no_amount_in_another_currency(
    opened: Opened,
) -> None:
    none = (1.0, "position", {"symbol": "SAP-EUR", "size": 0})
    for found in reasons(opened, owned(1000), none, buy(3, 100), mark(4, 110)):
        assert found is None


def test_more_flows_than_are_shown_are_in_the_account(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flows, "MOST", 10)
    deposits = [cash(10.0 + at, "deposit", 1) for at in range(25)]
    books = Books(*opened)
    books.push(owned(1000), *deposits, buy(50, 100), mark(51, 110))
    found = line(books)
    assert found.value[-1] == 1035
    assert found.growth[-1] / 1000 == pytest.approx(1 + 10 / 1025)


@st.composite
def histories(draw: st.DrawFn) -> list[Part]:
    """Prices, flows and cash share a few moments; orders have times of their own."""
    symbols = st.sampled_from(["A-USD", "B-USD"])
    times = draw(st.permutations([2.0, 12.0, 22.0, 32.0]))
    orders = [buy(at, draw(PRICES), draw(PRICES), draw(symbols)) for at in times[:3]]
    marks = draw(
        st.lists(st.builds(mark, MOMENTS, PRICES, symbols), unique_by=lambda one: repr(one[::2]))
    )
    marks = list({(one[0], one[2]["symbol"]): one for one in marks}.values())
    kinds = st.sampled_from(["deposit", "withdrawal", "funding"])
    flows = draw(st.lists(st.builds(cash, MOMENTS, kinds, PRICES), max_size=6))
    return [*orders, *marks, *flows]


@pytest.mark.heavy
@settings(max_examples=some(60), deadline=None)
@given(st.data())
def test_any_arrival_of_what_shares_a_moment_gives_the_same_account(
    opened: Opened, data: st.DataObject
) -> None:
    parts = data.draw(histories())
    said = [(time, seq, kind, body) for seq, (time, kind, body) in enumerate(parts, 1)]
    sums = reckoned_cash(said).get("USD", Cash())
    worth = account(reckoned(said), sums, Fraction(CAPITAL))
    found = []
    for arrival in (parts, data.draw(st.permutations(parts))):
        books = Books(*opened)
        books.push(owned())
        for part in arrival:
            books.push(part)
            if data.draw(st.booleans()):
                books.keep()
        found += [line(books), line(books, is_replayed=True)]
    for other in found[1:]:
        for ours, theirs in zip((found[0].times, found[0].value, found[0].growth),
                                (other.times, other.value, other.growth), strict=True):  # fmt: skip
            assert np.array_equal(ours, theirs)
    for at, value, growth in zip(found[0].times[1:], found[0].value[1:], found[0].growth[1:],
                                 strict=True):  # fmt: skip
        *_, one = (one for one in worth if one.time <= at)
        assert value == pytest.approx(float(one.value))
        assert growth / CAPITAL == pytest.approx(float(one.growth))
