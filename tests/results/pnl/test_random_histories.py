"""Random histories against a slow reference: any arrival order, any portions, to the last digit."""

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from tapeline.results.charts import curve
from tapeline.results.pnl import model_currency, planning, summary
from tapeline.results.pnl.books import ledger_of
from tapeline.results.pnl.summary import Money
from tapeline.results.rules.position import exact
from tapeline.sharing.exhibits.replay import Replays
from tapeline.tape import tapes
from tests.examples import some
from tests.results.pnl.bookkeeping import Books, Opened
from tests.results.pnl.reference import Cash, Said, Symbol, reckoned, reckoned_cash

Part = tuple[float, str, dict[str, Any]]

SYMBOLS = st.sampled_from(["A-USD", "B-USD", "C-EUR", "TICK", "F-USD"])
RATES = st.sampled_from(["BNB-USD", "USD/BNB", "BNB-EUR", "EUR-USD", "A-EUR"])
IDS = st.sampled_from([f"o{number}" for number in range(8)])
AMOUNTS = st.sampled_from([0.1, 0.2, 0.3, 1.0, 2.5, 3.0, 7.0, 0.30000000000000004, 1e-8, 12345.678])
PRICES = st.sampled_from([1.0, 1.1, 2.0, 3.3, 99.99, 100.0, 0.07, 33333.33])


@st.composite
def post(draw: st.DrawFn, moments: st.SearchStrategy[float]) -> tuple[str, dict[str, Any]]:
    kind = draw(st.sampled_from(["spot-market", "spot-limit", "spot-stop"]))
    body: dict[str, Any] = {
        "id": draw(IDS), "symbol": draw(SYMBOLS), "exchange": "x",
        "side": draw(st.sampled_from(["buy", "sell"])),
    }  # fmt: skip
    body[draw(st.sampled_from(["size", "size", "funds"]))] = draw(AMOUNTS)
    if kind != "spot-market" or draw(st.booleans()):
        body["price"] = draw(PRICES)
    if kind == "spot-stop":
        body["active"] = draw(PRICES)
    if draw(st.booleans()):
        body["fee"] = draw(AMOUNTS)
        if "-" in body["symbol"] and draw(st.integers(0, 3)) == 0:
            body["fee_currency"] = draw(st.sampled_from(["BNB", "BNB", "A", "USD"]))
    if draw(st.integers(0, 4)) == 0:
        body["executed_time"] = draw(moments)
    # Of most symbols always the same, so that they are computed; of one now and then another.
    if body["symbol"] == "F-USD":
        body["multiplier"] = 50.0 if draw(st.integers(0, 9)) else 5.0
    if draw(st.integers(0, 40)) == 0:
        body["inverse"] = True
    return kind, body


@st.composite
def update(draw: st.DrawFn, moments: st.SearchStrategy[float]) -> tuple[str, dict[str, Any]]:
    said = draw(
        st.dictionaries(
            st.sampled_from(["executionPrice", "executed_price", "filled_avg_price"]), PRICES,
            max_size=1,
        )
    )  # fmt: skip
    more: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "filled_size": AMOUNTS | st.just(0.0),
                "fee": AMOUNTS,
                "fees": AMOUNTS,
                "status": st.sampled_from(["canceled", "rejected", "expired", "filled", "open"]),
                "executionTime": moments,
                "note": st.just("x"),
            },
        )
    )
    body = {"id": draw(IDS), **said, **more}
    return "update-trade", body if len(body) > 1 else {**body, "note": "y"}


def position(symbol: str, size: float, price: float, multiplier: float | None) -> Any:
    body = {"symbol": symbol, "size": size, "average_price": price}
    return "position", body if multiplier is None else {**body, "multiplier": multiplier}


def cash(kind: str, amount: float, symbol: str | None, name: str | None) -> Any:
    body: dict[str, Any] = {"type": kind, "amount": amount}
    if kind == "withdrawal":
        body["amount"] = -amount
    if symbol is not None:
        body |= {"symbol": symbol} if "-" in symbol else {"currency": symbol}
    return "cash", body if name is None else {**body, "id": name}


POSITIONS = st.builds(
    position, SYMBOLS, AMOUNTS | AMOUNTS.map(lambda one: -one), PRICES, st.none() | st.just(50.0)
)
CASH = st.builds(
    cash,
    st.sampled_from(["funding", "fee", "deposit", "withdrawal", "dividend"]),
    AMOUNTS,
    st.none() | st.sampled_from(["A-USD", "C-EUR", "GBP"]),
    st.none() | st.sampled_from(["c1", "c2"]),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Part]:
    """Any number of posts, updates, annotations and marks, each at a time of its own."""
    pool = draw(st.permutations([float(number) for number in range(1, 200)]))
    given_out = iter(pool)
    moments = st.builds(lambda: next(given_out))
    mark = st.builds(lambda symbol, price: ("mark-price", {"symbol": symbol, "price": price}),
                     SYMBOLS | RATES, PRICES)  # fmt: skip
    note = st.builds(lambda id_: ("update-annotation", {"id": id_, "annotation": "hm"}), IDS)
    posts = draw(st.lists(post(moments), min_size=1, max_size=14, unique_by=repr))
    others = update(moments) | update(moments) | mark | note | POSITIONS | CASH
    rest = draw(st.lists(others, max_size=20))
    return [(next(given_out), kind, body) for kind, body in draw(st.permutations([*posts, *rest]))]


def numbered(parts: list[Part]) -> list[Said]:
    return [(time, seq, kind, body) for seq, (time, kind, body) in enumerate(parts, 1)]


def assert_agree(books: Books, parts: list[Part]) -> None:
    symbols = reckoned(numbered(parts), long_only=books.positions == "long_only")
    own = own_currency(symbols)
    cash = reckoned_cash(numbered(parts), own)
    found = books.pnl(5000)
    assert {one.symbol for one in found.not_computed} == {
        name for name, one in symbols.items() if one.broken
    }
    sound = {name: one for name, one in symbols.items() if not one.broken}
    held = {name: one for name, one in sound.items() if one.fills or one.opened}
    assert {one.symbol for one in found.positions} == set(held)
    for one in found.positions:
        expected = held[one.symbol]
        average = expected.cost / expected.size if expected.size else None
        assert one.size == near(expected.size)
        assert one.average_price == (None if average is None else near(average))
        assert one.realized == near(expected.realized)
        assert one.unrealized == near(expected.unrealized)
        assert one.fees == near(expected.fees)
        assert one.fills == expected.fills
        assert one.last_price == (None if expected.price is None else near(expected.price))
        assert one.estimated >= len(expected.estimated)
        assert one.assumed == len(expected.assumed)
        assert one.multiplier == near(expected.times)
    assert_currencies(found, sound, cash, own)
    assert_marked(books, found, symbols)
    assert_series(books, sound, cash, own)
    checks = [(near(a), near(b)) for one in symbols.values() for a, b in one.checks]
    assert sorted((one.reported, one.held) for one in found.checks) == sorted(checks)
    assert replayed(books) == found.by_currency
    assert_listed(books, found)


def own_currency(symbols: dict[str, Symbol]) -> str:
    """Of cash that names none: of bare tickers if there is one, else of most fills."""
    fills = Counter[str]()
    for name, one in symbols.items():
        if "-" not in name and (one.fills or one.opened or one.broken):
            return "USD"
        if one.fills and not one.broken:
            fills[name.partition("-")[2]] += one.fills
    return min(fills, key=lambda name: (-fills[name], name), default="USD")


def assert_listed(books: Books, found: Any) -> None:
    """Lists of models have their sums from the ledger, which adds up differences."""
    totals = books.store.read_now(ledger_of, books.tape).totals
    if any(count for one in totals.values() for count in one.claims.values()):
        return  # then a list shows no sums: only the model's own page can tell
    with exact():
        sums = summary.in_currencies(totals, model_currency.decided("", totals, None))
    assert {name: summary.money(one) for name, one in sums.items()} == found.by_currency
    assert sum(one.left_out for one in totals.values()) == len(found.not_computed)


def replayed(books: Books) -> dict[str, Money]:
    """The same from the tape alone, as links with a delay have it."""

    def look(connection: Connection) -> dict[str, Money]:
        end = tapes.of_model(connection, books.model).seq
        replay = Replays().at(connection, books.tape, 0, end)
        every, own = replay.books().books, replay.quote
        with exact():
            sums = summary.in_currencies(summary.sums_of(every, own), own)
            return {name: summary.money(one) for name, one in sums.items()}

    return books.store.read_now(look)


def near(value: Fraction) -> float:
    """The nearest double."""
    return float(value)


def currency(symbol: str, own: str) -> str:
    return symbol.partition("-")[2] or own


def assert_currencies(
    found: Any, sound: dict[str, Symbol], cash: dict[str, Cash], own: str
) -> None:
    traded = {name for name, one in sound.items() if one.fills or one.unrealized}
    names = {currency(symbol, own) for symbol in traded} | set(cash)
    assert set(found.by_currency) == names
    for name in names:
        some = [one for symbol, one in sound.items() if currency(symbol, own) == name]
        money = found.by_currency[name]
        assert money.realized == near(sum((one.realized for one in some), Fraction(0)))
        assert money.unrealized == near(sum((one.unrealized for one in some), Fraction(0)))
        assert money.fees == near(sum((one.fees for one in some), Fraction(0)))
        types = cash[name].by_type if name in cash else {}
        assert {**money.cash, **money.flows} == {kind: near(one) for kind, one in types.items()}
    if names:
        main = found.by_currency[found.currency]
        assert (found.realized, found.unrealized) == (main.realized, main.unrealized)
        assert (found.cash, found.total) == (main.cash, main.total)
    else:
        assert (found.currency, found.realized, found.series) == (None, None, [])


def assert_marked(books: Books, found: Any, symbols: dict[str, Symbol]) -> None:
    fills = {one["id"]: one["fill"] for one in books.orders().values() if one["fill"] is not None}
    for what in ("estimated", "assumed", "oversold", "unpriced"):
        expected = {order for one in symbols.values() for order in getattr(one, what)}
        assert {order for order, fill in fills.items() if getattr(fill, what)} == expected, what
        assert getattr(found.counts, what) == len(expected)
    realized = {
        order: None if one.broken else near(gained)
        for one in symbols.values()
        for order, gained in one.realized_by.items()
    }
    known = {order: fill for order, fill in fills.items() if not fill.unpriced}
    assert {order: fill.realized for order, fill in known.items()} == realized
    assert {order: fill.not_computed is not None for order, fill in known.items()} == {
        order: gained is None for order, gained in realized.items()
    }
    listed = {(one.code, one.order_id) for one in found.warnings}
    assert listed == {("oversold", order) for one in symbols.values() for order in one.oversold} | {
        ("unpriced", order) for one in symbols.values() for order in one.unpriced
    }


def assert_series(books: Books, sound: dict[str, Symbol], cash: dict[str, Cash], own: str) -> None:
    for name in {currency(symbol, own) for symbol in sound} | set(cash):
        some = [one for symbol, one in sound.items() if currency(symbol, own) == name]
        earned = cash[name].earned if name in cash else []
        for point in books.pnl(5000, currency=name).series:
            stands = [
                max((at for at in one.values if at[0] <= point.time), default=(0, Fraction(0)),
                    key=lambda at: at[0])[1]
                for one in some
            ]  # fmt: skip
            stands += [amount for time, amount in earned if time <= point.time]
            assert point.value == pytest.approx(float(sum(stands)), rel=1e-9, abs=1e-6)


def any_arrival(opened: Opened, data: st.DataObject) -> None:
    parts = data.draw(histories())
    positions = data.draw(st.sampled_from(["signed", "signed", "long_only"]))
    for arrival in (parts, data.draw(st.permutations(parts))):
        books = Books(*opened, positions)
        left = list(arrival)
        while left:
            size = data.draw(st.integers(1, 12))
            books.push(*left[:size])
            left = left[size:]
            if data.draw(st.booleans()):
                books.keep()
        assert_agree(books, arrival)


def any_portions(opened: Opened, data: st.DataObject) -> None:
    parts = data.draw(histories())
    books = Books(*opened)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "PORTION", data.draw(st.integers(1, 5)))
        patch.setattr(planning, "AGAIN", data.draw(st.integers(1, 4)))
        patch.setattr(planning, "COPIED_EVERY", data.draw(st.integers(1, 3)))
        patch.setattr(curve, "SEGMENT", data.draw(st.integers(1, 3)))
        patch.setattr(curve, "DETAIL", data.draw(st.integers(1, 3)))
        for part in parts:
            books.push(part)
            if data.draw(st.booleans()):
                books.keep()
        assert_agree(books, parts)


@pytest.mark.heavy
@settings(max_examples=some(100), deadline=None)
@given(st.data())
def test_any_arrival_order_in_any_portions_agrees_with_the_reference(
    opened: Opened, data: st.DataObject
) -> None:
    any_arrival(opened, data)


@pytest.mark.heavy
@settings(max_examples=some(80), deadline=None)
@given(st.data())
def test_portions_of_any_size_and_any_number_of_copies_come_to_the_same(
    opened: Opened, data: st.DataObject
) -> None:
    """A refold that is cut into pieces, segments that are parted, copies after every entry."""
    any_portions(opened, data)
