"""The figures of a link are whole, or the link says what they leave out."""

import csv
import io
import re
import time
from typing import Any

import pytest

from tests.conftest import Service
from tests.http.sharing.scene import DAY, START, Link, look_back_from, push_on, shared, whole
from tests.pushing import Model

INVERSE = "It is an inverse contract, which is not computed."


def order(model: Model, days: float, symbol: str, kind: str = "spot-market", **more: Any) -> None:
    said = {"id": f"{symbol} {days}", "exchange": "qexchange", "side": "buy", "size": 1, **more}
    push_on(model, days, kind, symbol=symbol, **said)


def page(link: Link) -> str:
    return " ".join(whole(link.client.get(f"/s/{link.token}")).split())


def not_computed(model: Model) -> None:
    order(model, 0, "BTC-USD", executionPrice=100)
    order(model, 1, "ZZZ-USD", executionPrice=60_000, inverse=True)
    order(model, 2, "ES", executionPrice=5_000, multiplier=50)
    order(model, 3, "ES", executionPrice=5_001, multiplier=12.5, side="sell")
    push_on(model, 4, "mark-price", symbol="BTC-USD", price=110)


def test_a_link_names_the_symbols_that_its_figures_leave_out(
    service: Service, model: Model
) -> None:
    not_computed(model)
    with service.client() as stranger:
        link = shared(model, stranger)
        multipliers = "Its entries say different multipliers: 50 and 12.5."
        assert link.json()["not_computed"] == [
            {"symbol": "ES", "reason": multipliers, "fills": 2},
            {"symbol": "ZZZ-USD", "reason": INVERSE, "fills": 1},
        ]
        profits = {one["symbol"]: one["profit"] for one in link.json("/trades")["items"]}
        assert profits == {"BTC-USD": 0, "ZZZ-USD": None, "ES": None}
        shown = page(link)
        assert "2 symbols are not computed and count in no figure." in shown
        assert f"<b>ZZZ-USD</b>: {INVERSE}" in shown
        assert "2 symbols not computed" in stranger.get(f"/embed/{link.token}").text
        assert "ES,qexchange,spot-market,sell,,5001.0,1.0,,0.0,," in link.get("/trades.csv").text


def test_a_link_that_hides_says_no_more_than_how_many_it_leaves_out(
    service: Service, model: Model
) -> None:
    not_computed(model)
    with service.client() as stranger:
        link = shared(model, stranger, percent_only=True)
        reasons = {one["symbol"]: one["reason"] for one in link.json()["not_computed"]}
        assert reasons == {"ES": "Its entries say different multipliers.", "ZZZ-USD": INVERSE}
        hidden = shared(model, stranger, hide_symbols=True)
        found = hidden.json()["not_computed"]
        assert [one["symbol"] for one in found] == ["S2", "S3"]
        assert {one["reason"] for one in found} == {
            "It cannot be computed. The reason would reveal what this link hides."
        }
        shown = page(hidden)
        assert "2 symbols are not computed and count in no figure." in shown
        for word in ("inverse", "12.5", "ZZZ", "multiplier"):
            assert word not in shown


def test_a_delayed_link_leaves_out_the_same(
    service: Service, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_computed(model)
    with service.client() as stranger:
        now, then = shared(model, stranger), shared(model, stranger, delay_hours=1)
        assert then.json()["not_computed"] == []  # nothing had arrived an hour ago
        look_back_from(monkeypatch, time.time() + 2 * 3600)
        assert then.json()["not_computed"] == now.json()["not_computed"]
        profits = [[one["profit"] for one in link.json("/trades")["items"]] for link in (now, then)]
        assert profits[0] == profits[1] == [None, None, None, 0]


def two_currencies(model: Model) -> None:
    for days in (0, 1):
        order(model, days, "BTC-USD", executionPrice=100)
    order(model, 2, "ETH-JPY", executionPrice=5_000)
    push_on(model, 3, "mark-price", symbol="BTC-USD", price=110)
    push_on(model, 3, "mark-price", symbol="ETH-JPY", price=4_000)
    push_on(model, 4, "cash", type="funding", amount=-70, symbol="ETH-JPY")


def _in_file(link: Link) -> list[tuple[str, str]]:
    lines = csv.DictReader(io.StringIO(link.get("/trades.csv").text))
    return [(one["currency"], one["ordered"]) for one in lines]


def test_a_link_shows_every_currency(service: Service, model: Model) -> None:
    two_currencies(model)
    with service.client() as stranger:
        link = shared(model, stranger)
        assert link.json()["by_currency"] == {"USD": 20, "JPY": -1070}
        assert link.json()["other_currencies"] == 1
        items = link.json("/positions")["items"]
        assert {one["symbol"]: one["currency"] for one in items} == {
            "BTC-USD": "USD", "ETH-JPY": "JPY",
        }  # fmt: skip
        assert {one["currency"] for one in link.json("/trades")["items"]} == {"USD", "JPY"}
        assert _in_file(link)[0] == ("JPY", "1.0")
        shown = page(link).replace("\N{NO-BREAK SPACE}", " ")
        assert "not in the figures and the curve." in shown
        assert "Profit and loss: +20.00 USD and \N{MINUS SIGN}1,070.00 JPY." in shown
        assert '<td class="n " data-label="Value">4,000.00 JPY</td>' in shown
        assert "1 other currency not included" in stranger.get(f"/embed/{link.token}").text


def test_a_link_that_hides_says_how_many_currencies_there_are(
    service: Service, model: Model
) -> None:
    two_currencies(model)
    with service.client() as stranger:
        head = shared(model, stranger, percent_only=True).json()
        assert (head["by_currency"], head["other_currencies"]) == ({}, 1)
        hidden = shared(model, stranger, hide_symbols=True)
        assert hidden.json()["by_currency"] == {"C1": 20, "C2": -1070}
        assert {one["currency"] for one in hidden.json("/positions")["items"]} == {"C1", "C2"}
        assert not {"USD", "JPY"} & set(page(hidden).replace(">", " ").split())


def test_one_hidden_currency_needs_no_name(service: Service, model: Model) -> None:
    order(model, 0, "BTC-USD", executionPrice=100)
    with service.client() as stranger:
        hidden = shared(model, stranger, hide_symbols=True)
        assert (hidden.json()["by_currency"], hidden.json()["other_currencies"]) == ({}, 0)
        assert [one["currency"] for one in hidden.json("/positions")["items"]] == [None]


def test_small_amounts_are_not_written_as_nothing(service: Service, model: Model) -> None:
    for day in range(6):
        side, price = ("sell", 0.0304) if day % 2 else ("buy", 0.03)
        order(model, day, "ETH-BTC", executionPrice=price, side=side, size=0.1, fee=0.000003)
    order(model, 6, "ETH-BTC", executionPrice=0.03, size=0.1, fee=0.000003)
    push_on(model, 7, "mark-price", symbol="ETH-BTC", price=0.0295)
    values = [0.0496, 0.0512, 0.0599]
    model.push(
        "/v1/backtest/result",
        {
            "backtest_id": "coins",
            "symbols": ["ETH-BTC"],
            "quote_asset": "BTC",
            "start_time": START,
            "stop_time": START + 3 * DAY,
            "account_values": [
                {"time": START + n * DAY, "value": value} for n, value in enumerate(values)
            ],
            "trades": [
                {"symbol": "ETH-BTC", "side": side, "time": START + n * DAY, "price": price,
                 "size": 0.1, "fee": 0}
                for n, (side, price) in enumerate([("buy", 0.03), ("sell", 0.0304)])
            ],
            "metrics": {},
            "indicators": {},
        },
    )  # fmt: skip
    with service.client() as stranger:
        live = page(shared(model, stranger))
        tested = page(shared(model, stranger, backtest_id="coins"))
        hidden = page(shared(model, stranger, hide_symbols=True))
    lowest, highest = "\N{MINUS SIGN}0.000003", "0.000102"
    assert f"beginning at {lowest} and ending at 0.000049; the lowest is {lowest}" in live
    assert f"the highest {highest}" in live
    assert ">0.000049</text>" in live
    assert ">0.0599</text>" in tested
    assert ">+0.00004<" in tested
    for shown in (live, tested, hidden):
        assert not re.search(r"<td[^>]*>[^0-9<]*0\.00<", shown)


def test_an_order_shows_what_was_filled_of_what_was_ordered(service: Service, model: Model) -> None:
    order(model, 0, "BTC-USD", kind="spot-limit", size=10, price=100)
    push_on(model, 1, "update-trade", id="BTC-USD 0", filled_size=4, filled_avg_price=99)
    push_on(model, 2, "update-trade", id="BTC-USD 0", status="canceled")
    order(model, 3, "BTC-USD", kind="spot-limit", size=3, price=90, status="canceled")
    order(model, 4, "BTC-USD", executionPrice=100)
    with service.client() as stranger:
        link = shared(model, stranger)
        found = [(one["size"], one["ordered"]) for one in link.json("/trades")["items"]]
        assert found == [(1, 1), (0, 3), (4, 10)]
        shown = page(link)
        for text in ("1", "0 / 3", "4 / 10"):
            assert f'<td class="n " data-label="Size">{text}</td>' in shown
        assert _in_file(link)[2] == ("USD", "10.0")
        hidden = shared(model, stranger, percent_only=True).json("/trades")["items"]
        assert {(one["size"], one["ordered"]) for one in hidden} == {(None, None)}


def test_arrows_mark_orders_along_the_whole_curve(
    service: Service, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"symbol": "BTC-USD", "exchange": "x", "side": "buy", "size": 1, "executionPrice": 5}
    batch = [
        {"path": "/v1/live/spot-market", "time": START + n * 60, "body": {**said, "id": str(n)}}
        for n in range(1_100)
    ]
    model.push("/v1/batch", batch)
    with service.client() as stranger:
        now, then = shared(model, stranger), shared(model, stranger, delay_hours=1)
        look_back_from(monkeypatch, time.time() + 2 * 3600)
        for link in (now, then):
            wide = page(link).split("<svg")[1]
            counts = re.findall(r"<title>Buy \(([\d,]+)\)", wide)
            assert len(counts) > 50
            assert sum(int(one) for one in counts) == 1_100


def test_hidden_exchanges_have_the_same_names_with_a_delay(
    service: Service, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    push_on(model, 0, "used-exchange", exchange="kraken")
    order(model, 1, "BTC-USD", executionPrice=5, exchange="kraken")
    order(model, 2, "BTC-USD", executionPrice=5, exchange="only-in-an-order")
    with service.client() as stranger:
        link = shared(model, stranger, hide_symbols=True)
        look_back_from(monkeypatch, time.time() + 2 * 3600)
        address = f"/api/models/{model.id}/shares"
        (share,) = model.owner.get(address).json()["items"]
        now = [one["exchange"] for one in link.json("/trades")["items"]]
        assert now[1] == "E1"
        assert re.fullmatch(r"E-\w{6}", now[0])
        changed = {"hide_symbols": True, "delay_hours": 1}
        assert model.owner.patch(f"{address}/{share['id']}", json=changed).is_success
        assert [one["exchange"] for one in link.json("/trades")["items"]] == now
        assert link.json()["exchanges"] == ["E1"]
