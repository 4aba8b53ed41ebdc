"""A loss that is rewritten after the fact shows: to its owner, on links, in files, in `verify`."""

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from tapeline.cli.main import app
from tapeline.figures import MINUS
from tests.conftest import Service
from tests.http.sharing.scene import look_back_from, shared, whole
from tests.http.sharing.test_figures import page
from tests.pushing import Model

HOUR = 3_600.0


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


class Arrival:
    """Sends events that arrive, and claim to have happened, at chosen times."""

    def __init__(self, model: Model, patch: pytest.MonkeyPatch) -> None:
        self._model, self._patch = model, patch
        self.start = time.time() - 30 * HOUR

    def push(self, at: float, kind: str, claims: float | None = None, **body: Any) -> None:
        """Hours after the start: the arrival, and the event's own time."""
        now = self.start + at * HOUR
        clock = SimpleNamespace(time=lambda: now)
        self._patch.setattr("tapeline.http.events.submitting.time", clock)
        own = self.start + (at if claims is None else claims) * HOUR
        self._model.push(f"/v1/live/{kind}", body, headers={"time": str(own)})

    def order(self, at: float, name: str, side: str, price: float, **more: Any) -> None:
        said = {"id": name, "symbol": "BTC-USD", "exchange": "x", "side": side, "size": 1}
        self.push(at, "spot-market", **{**said, "executionPrice": price, **more})


@pytest.fixture
def arrival(model: Model) -> Iterator[Arrival]:
    with pytest.MonkeyPatch.context() as patch:
        yield Arrival(model, patch)


def rewrite_a_loss(arrival: Arrival) -> None:
    """Bought at 100 and sold at 60: a loss of 40, until the price of the sale becomes 190."""
    arrival.order(0, "in", "buy", 100)
    arrival.order(1, "out", "sell", 60)
    arrival.push(6, "update-trade", claims=1.01, id="out", executionPrice=190)


def verified(model: Model, tmp_path: Any) -> str:
    file = tmp_path / "record.ndjson"
    file.write_bytes(model.owner.get(f"/api/models/{model.id}/record").content)
    return CliRunner().invoke(app, ["verify", str(file)]).output


def test_a_rewritten_loss_is_listed_with_both_figures(
    arrival: Arrival, model: Model, tmp_path: Any
) -> None:
    rewrite_a_loss(arrival)
    found = model.get("/changes")
    (one,) = found["items"]
    assert (one["about"], one["sort"], one["id"], one["seq"]) == ("order", "changed", "out", 3)
    assert one["fields"] == [{"name": "price", "before": 60, "after": 190}]
    assert one["late_by"] == pytest.approx(5 * HOUR)
    assert found["figures"]["first"] == {"source": "computed", "by_currency": {"USD": -40}}
    assert found["figures"]["now"] == {"source": "computed", "by_currency": {"USD": 90}}
    assert found["counts"]["orders"] == 1
    orders = {order["id"]: order for order in model.items("/orders")}
    assert orders["out"]["changes"] == [one]
    assert orders["out"]["late_by"] == one["late_by"]
    assert (orders["in"]["changes"], orders["in"]["late_by"]) == ([], None)
    file = model.owner.get(f"/api/models/{model.id}/orders.csv").text
    words = "price changed from 60.00 to 190.00, 5 h after the fill"
    assert words in file
    said = verified(model, tmp_path)
    assert f"Order out BTC-USD: {words}" in said
    assert f"as first reported: {MINUS}40.00" in said
    assert "as it stands:      +90.00" in said


def test_a_record_without_changes_says_so(arrival: Arrival, model: Model, tmp_path: Any) -> None:
    arrival.order(0, "in", "buy", 100)
    arrival.push(0.01, "update-trade", id="in", fee=1)
    found = model.get("/changes")
    assert (found["items"], found["next"]) == ([], None)
    assert found["figures"]["first"] == found["figures"]["now"]
    assert "Nothing that counts was reported late or changed" in verified(model, tmp_path)


def test_prices_cash_positions_and_own_figures_count_as_changes(
    arrival: Arrival, model: Model, tmp_path: Any
) -> None:
    arrival.order(0, "in", "buy", 100)
    arrival.push(1, "cash", id="c", type="funding", amount=-5)
    arrival.push(8, "cash", id="c", type="funding", amount=7)
    arrival.push(9, "mark-price", claims=2, symbol="BTC-USD", price=150)
    arrival.push(10, "position", claims=0, symbol="ETH-USD", size=1, average_price=10)
    first = [{"time": arrival.start, "value": 1.0}]
    arrival.push(11, "set-pnl", values=first)
    arrival.push(12, "set-pnl", values=[{"time": arrival.start, "value": 50.0}, *first[1:]])
    found = model.get("/changes")
    assert [(one["about"], one["sort"]) for one in reversed(found["items"])] == [
        ("cash", "replaced"), ("price", "late"), ("position", "late"),
        ("own_figures", "changed"), ("own_figures", "changed"),
    ]  # fmt: skip
    assert found["items"][-1]["fields"] == [{"name": "amount", "before": -5, "after": 7}]
    assert found["figures"]["first"] == {"source": "computed", "by_currency": {"USD": -5}}
    assert found["figures"]["now"] == {"source": "model", "by_currency": {"USD": 50}}
    pages = [model.get("/changes", limit=2)]
    pages += [model.get("/changes", limit=3, cursor=pages[0]["next"])]
    assert [one for page in pages for one in page["items"]] == found["items"]
    assert pages[1]["next"] is None
    said = verified(model, tmp_path)
    assert "1 price, 1 cash entry, 1 position, 2 changes of the model's own figures" in said
    assert f"Cash c: amount changed from {MINUS}5.00 to 7.00, 7 h after its time" in said


def test_own_figures_that_take_the_place_of_a_loss_are_listed(
    arrival: Arrival, model: Model, service: Service, tmp_path: Any
) -> None:
    arrival.push(0, "set-pnl", values=[])
    arrival.order(0, "in", "buy", 100)
    arrival.order(1, "out", "sell", 60)
    arrival.push(6, "set-pnl", values=[{"time": arrival.start + 6 * HOUR, "value": 50.0}])
    found = model.get("/changes")
    (one,) = found["items"]
    assert one["fields"] == [
        {"name": "source", "before": "computed", "after": "model"},
        {"name": "value", "before": None, "after": 50},
    ]
    assert found["figures"]["first"] == {"source": "computed", "by_currency": {"USD": -40}}
    words = "figures changed from computed to the model's own, the last value set to 50.00"
    assert f"The model's own figures: {words}, 6 h after" in verified(model, tmp_path)
    with service.client() as stranger:
        assert words in page(shared(model, stranger)).replace("&#39;", "'")
        hidden = page(shared(model, stranger, percent_only=True)).replace("&#39;", "'")
        assert "figures changed from computed to the model's own, 6 h after" in hidden


def test_a_report_of_the_future_is_listed_and_counted_apart(
    arrival: Arrival, model: Model, service: Service, tmp_path: Any
) -> None:
    arrival.order(0, "in", "buy", 100)
    arrival.push(1, "mark-price", claims=25, symbol="BTC-USD", price=190)
    arrival.push(2, "mark-price", symbol="BTC-USD", price=60)
    found = model.get("/changes")
    assert [(one["sort"], one["late_by"]) for one in found["items"]] == [("early", 0)]
    assert (found["counts"]["early"], found["counts"]["prices"]) == (1, 0)
    assert found["figures"]["first"]["by_currency"] == {"USD": -40}
    words = "dated 1 d into the future: price 190.00"
    said = verified(model, tmp_path)
    assert f"Price BTC-USD: {words}" in said
    assert "1 report dated into the future" in said
    with service.client() as stranger:
        assert words in page(shared(model, stranger))
        (one,) = shared(model, stranger, hide_symbols=True).json("/changes")["items"]
        assert (one["sort"], one["fields"]) == ("early", [])


def test_a_symbol_that_is_left_out_later_is_listed_with_its_last_figure(
    arrival: Arrival, model: Model, service: Service, tmp_path: Any
) -> None:
    arrival.order(0, "in", "buy", 100)
    arrival.order(1, "out", "sell", 60)
    arrival.order(6, "odd", "buy", 1, size=0.0001, multiplier=5)
    found = model.get("/changes")
    (one,) = found["items"]
    assert (one["about"], one["symbol"], one["seq"]) == ("symbol", "BTC-USD", 3)
    assert (found["counts"]["symbols"], found["counts"]["account"]) == (1, 0)
    assert found["figures"]["first"]["by_currency"] == {"USD": -40}
    assert found["figures"]["now"]["by_currency"] == {}
    words = "not computed any more, 6 h after its first report"
    said = verified(model, tmp_path)
    assert f"Symbol BTC-USD: {words}" in said
    assert "Its entries say different multipliers: 1 and 5." in said
    with service.client() as stranger:
        assert words in page(shared(model, stranger))
        hidden = shared(model, stranger, hide_symbols=True)
        assert "BTC" not in whole(hidden.get("/changes"))
        assert "not computed any more" in page(hidden)
        for choice in ("percent_only", "hide_sizes"):
            less = shared(model, stranger, **{choice: True})
            without_numbers = "Its entries say different multipliers."
            (one,) = less.json("/changes")["items"]
            assert one["fields"] == [{"name": "reason", "before": None, "after": without_numbers}]
            assert less.json()["not_computed"][0]["reason"] == without_numbers
            assert "multipliers: 1" not in page(less)
        with pytest.MonkeyPatch.context() as patch:
            look_back_from(patch, arrival.start + 20 * HOUR)
            delayed = shared(model, stranger, delay_hours=2)
            assert words in page(delayed)
            assert delayed.json()["changes"]["symbols"] == 1


def test_a_currency_that_a_later_backtest_changes_is_listed(
    arrival: Arrival, model: Model, service: Service, tmp_path: Any
) -> None:
    arrival.order(0, "in", "buy", 100, symbol="TICK")
    arrival.order(1, "out", "sell", 60, symbol="TICK")
    result = {"backtest_id": "b", "symbols": ["TICK"], "quote_asset": "JPY", "start_time": 0,
              "stop_time": 1, "account_values": [], "trades": []}  # fmt: skip
    model.push("/v1/backtest/result", result)
    found = model.get("/changes")
    assert [one["fields"] for one in found["items"]] == [
        [{"name": "own_currency", "before": "USD", "after": "JPY"}]
    ]
    first, now = found["figures"]["first"], found["figures"]["now"]
    assert (first["by_currency"], now["by_currency"]) == ({"USD": -40}, {"JPY": -40})
    assert "Account: own currency changed from USD to JPY" in verified(model, tmp_path)
    with service.client() as stranger:
        shown = page(shared(model, stranger))
        assert "own currency changed from USD to JPY" in shown
        assert "JPY" not in whole(shared(model, stranger, hide_symbols=True).get("/changes"))


def test_a_withdrawn_order_is_counted_apart(arrival: Arrival, model: Model) -> None:
    said: dict[str, Any] = {"id": "l", "symbol": "BTC-USD", "exchange": "x", "side": "buy"}
    arrival.push(0, "spot-limit", **said, size=1, price=100)
    arrival.push(0, "mark-price", symbol="BTC-USD", price=50)
    arrival.push(3, "update-trade", id="l", status="canceled")
    found = model.get("/changes")
    assert [one["sort"] for one in found["items"]] == ["withdrawn"]
    assert (found["counts"]["withdrawn"], found["counts"]["orders"]) == (1, 0)
    (order,) = model.items("/orders")
    assert (order["late_by"], order["changes"]) == (None, found["items"])


def test_later_reports_continue_what_is_known(arrival: Arrival, model: Model) -> None:
    rewrite_a_loss(arrival)
    assert len(model.get("/changes")["items"]) == 1
    arrival.push(7, "update-trade", id="in", executionPrice=10)
    arrival.order(8, "out", "sell", 500)
    found = model.get("/changes")
    assert [one["fields"][0] for one in found["items"]] == [
        {"name": "price", "before": 190, "after": 500},
        {"name": "price", "before": 100, "after": 10},
        {"name": "price", "before": 60, "after": 190},
    ]
    assert found["figures"]["first"]["by_currency"] == {"USD": -40}
    assert found["figures"]["now"]["by_currency"] == {"USD": 490}


def test_a_link_has_both_figures_and_lists_what_was_changed(
    arrival: Arrival, model: Model, service: Service
) -> None:
    rewrite_a_loss(arrival)
    with service.client() as stranger:
        link = shared(model, stranger)
        head, words = link.json(), "price changed from 60.00 to 190.00, 5 h after the fill"
        assert (head["late"], head["changes"]["orders"], head["trades"]) == (1, 1, 2)
        assert (head["reported"]["unit"], head["reported"]["reason"]) == ("money", None)
        assert (head["reported"]["first"], head["reported"]["now"]) == (-40, 90)
        (one,) = link.json("/changes")["items"]
        assert one["fields"] == [{"name": "price", "before": 60, "after": 190}]
        assert one["id"] != "out"
        trades = link.json("/trades")["items"]
        assert [len(trade["changes"]) for trade in trades] == [1, 0]
        assert trades[0]["late_by"] == pytest.approx(5 * HOUR)
        assert link.json("/export.json")["changes"]["items"] == [one]
        assert words in link.get("/trades.csv").text
        shown = page(link)
        for said in (words, "As first reported", f"{MINUS}40.00", "As it stands", "+90.00",
                     "1 of 2 orders were reported late or changed after the fact.",
                     "Fills are what the model reported", "other accounts may exist"):  # fmt: skip
            assert said in shown, said


def test_a_link_without_changes_says_that_nothing_was_changed(
    arrival: Arrival, model: Model, service: Service
) -> None:
    arrival.order(0, "in", "buy", 100)
    with service.client() as stranger:
        link = shared(model, stranger)
        assert link.json("/changes") == {"items": [], "next": None, "unlisted": 0}
        assert "Nothing was changed" in page(link)


def test_a_delayed_link_shows_no_change_before_its_time(
    arrival: Arrival, model: Model, service: Service
) -> None:
    rewrite_a_loss(arrival)
    with service.client() as stranger:
        link = shared(model, stranger, delay_hours=2)
        with pytest.MonkeyPatch.context() as patch:
            look_back_from(patch, arrival.start + 7 * HOUR)  # the change arrived an hour before
            assert link.json()["reported"]["now"] == -40
            assert (link.json()["late"], link.json("/changes")["items"]) == (0, [])
            look_back_from(patch, arrival.start + 9 * HOUR)
            found = link.json()["reported"]
            assert (found["first"], found["now"]) == (-40, 90)
            assert len(link.json("/changes")["items"]) == 1
            assert "5 h after the fill" in page(link)


@pytest.mark.parametrize("choice", ["hide_symbols", "percent_only", "hide_sizes"])
def test_changes_show_nothing_that_a_link_hides(
    arrival: Arrival, model: Model, service: Service, choice: str
) -> None:
    more = {"symbol": "ZQXA-KWD", "size": 7.654321, "exchange": "qexchange"}
    arrival.order(0, "id-sentinel", "buy", 3141.59, **more)
    arrival.push(5, "update-trade", id="id-sentinel", executionPrice=2718.28, size=3.219876,
                 fee=11.223344)  # fmt: skip
    arrival.push(6, "cash", id="cash-sentinel", type="funding", amount=-445.5667, currency="KWD")
    arrival.push(9, "cash", id="cash-sentinel", type="funding", amount=998.8776, currency="KWD")
    arrival.push(9, "mark-price", claims=1, symbol="ZQXA-KWD", price=3456.78)
    hidden = {
        "hide_symbols": ("ZQXA", "KWD", "3141.59", "3,141.59", "2718.28", "3456.78", "7.654321"),
        "percent_only": ("7.654321", "3.219876", "11.223344", "445.5667", "998.8776"),
        "hide_sizes": ("7.654321", "3.219876", "11.223344", "445.5667", "998.8776"),
    }
    with service.client() as stranger:
        link = shared(model, stranger, **{choice: True})
        assert [one["about"] for one in link.json("/changes")["items"]] == [
            "price", "cash", "order",
        ]  # fmt: skip
        answers = [link.get(), link.get("/changes"), link.get("/trades"), link.get("/trades.csv"),
                   link.get("/export.json"), stranger.get(f"/s/{link.token}")]  # fmt: skip
        for answer in answers:
            assert answer.status_code == 200, answer.text
            for word in (*hidden[choice], "id-sentinel", "cash-sentinel"):
                assert word not in whole(answer), (word, answer.url)
        fields = {field["name"]: field for field in link.json("/changes")["items"][-1]["fields"]}
        assert (fields["size"]["before"], fields["size"]["after"]) == (None, None)


def test_a_record_that_hides_ids_shows_late_reports_alone(
    arrival: Arrival, model: Model, service: Service, tmp_path: Any
) -> None:
    rewrite_a_loss(arrival)
    arrival.push(9, "mark-price", claims=1, symbol="BTC-USD", price=50)
    with service.client() as stranger:
        link = shared(model, stranger, hide_symbols=True)
        file = tmp_path / "record.ndjson"
        file.write_bytes(link.get("/record").content)
    said = CliRunner().invoke(app, ["verify", str(file)]).output
    assert "Price: reported 8 h after its time" in said
    assert "This record hides what 4 of its events are about" in said
    assert "as first reported" not in said


def test_the_account_value_of_the_exchange_is_compared_with_the_books(
    arrival: Arrival, model: Model, service: Service
) -> None:
    arrival.push(0, "cash", type="deposit", amount=1000)
    arrival.order(1, "in", "buy", 100)
    arrival.push(2, "mark-price", symbol="BTC-USD", price=150)
    arrival.push(3, "account-value", value=1049.25)
    arrival.push(4, "account-value", value=1042.75)
    with service.client() as stranger:
        link = shared(model, stranger)
        found = link.json()["unexplained"]
        assert (found["unit"], found["difference"], found["reported"]) == ("money", -7.25, 1042.75)
        assert [one["value"] for one in found["items"]] == [-0.75, -7.25]
        shown = page(link)
        for said in ("Not explained by reported orders", f"{MINUS}7.25", "has grown"):
            assert said in shown
        hidden = shared(model, stranger, percent_only=True)
        found = hidden.json()["unexplained"]
        assert (found["unit"], found["reported"]) == ("percent", None)
        assert found["difference"] == pytest.approx(-7.25 / 1042.75)
        assert "1,042.75" not in page(hidden)
