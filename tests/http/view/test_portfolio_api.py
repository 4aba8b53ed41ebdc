"""Many models together, over the wire: held against fractions, and each decision by an example."""

import math
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import update

from tapeline.store.tables.core import models
from tapeline.store.tables.tape import tapes
from tests.conftest import Cast, Person, Service, on_both
from tests.http.view.test_results_api import is_part
from tests.pushing import NDJSON, Model, new_key, pushing
from tests.results.pnl.reference import Said, exact
from tests.results.portfolio import reference

DAY = 86_400.0
FIRST = 19_700  # the day since 1970 on which it begins
START = FIRST * DAY

Event = tuple[float, str, dict[str, Any]]


class Desk:
    """Some models of one person's project."""

    def __init__(self, service: Service, owner: Person, stack: ExitStack) -> None:
        self._service, self._stack, self.owner = service, stack, owner
        self.models: dict[str, Model] = {}
        self.said: dict[str, reference.Model] = {}

    def add(self, name: str, capital: tuple[float, str] | None = None) -> Model:
        model = self._stack.enter_context(pushing(self._service, self.owner))
        self.models[name], self.said[name] = model, reference.Model(capital=capital)
        if capital is not None:
            body = {"capital": {"amount": capital[0], "currency": capital[1]}}
            answer = self.owner.patch(f"/api/models/{model.id}/account", json=body)
            assert answer.status_code == 200, answer.text
        return model

    def say(self, name: str, *events: Event) -> None:
        """Days after the start, kind, body."""
        known = self.said[name].said
        told: list[Said] = [
            (START + day * DAY, len(known) + place, kind, body)
            for place, (day, kind, body) in enumerate(events, 1)
        ]
        known.extend(told)
        batch = [
            {"path": f"/v1/live/{kind}", "time": at, "body": body} for at, _, kind, body in told
        ]
        self.models[name].push("/v1/batch", batch)

    def get(self, path: str = "", **params: Any) -> Any:
        where = path or f"/api/projects/{self.owner.id}/portfolio"
        answer = self.owner.get(where, params={"points": 5000, **params})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def member(self, found: Any, name: str) -> Any:
        (one,) = [one for one in found["models"] if one["model_id"] == self.models[name].id]
        return one

    def codes(self, found: Any, name: str) -> set[str]:
        wanted = self.models[name].id
        return {one["code"] for one in found["attention"] if one["model_id"] == wanted}


@pytest.fixture
def desk(service: Service, enter: Callable[[str], Person]) -> Iterator[Desk]:
    with ExitStack() as stack:
        yield Desk(service, enter("ada"), stack)


def order(
    day: float, side: str, size: float, price: float, symbol: str = "BTC-USD", **more: Any
) -> Event:
    body = {"id": f"{symbol}{day}", "symbol": symbol, "exchange": "x", "side": side, "size": size}
    return (day, "spot-market", {**body, "executionPrice": price, **more})


def mark(day: float, symbol: str, price: float) -> Event:
    return (day, "mark-price", {"symbol": symbol, "price": price})


def cash(day: float, kind: str, amount: float, currency: str = "USD") -> Event:
    return (day, "cash", {"type": kind, "amount": amount, "currency": currency})


def month(chance: random.Random, symbol: str, begin: int, *, size: float) -> list[Event]:
    """A month of trading: an order and a mark on most days, and interest now and then."""
    price, events = 100.0, []
    currency = symbol.partition("-")[2]
    for day in range(begin, begin + 30):
        price = round(price * (1 + chance.gauss(0, 0.03)), 2)
        if chance.random() < 0.8:
            side = chance.choice(["buy", "sell"])
            events.append(order(day + 0.3, side, size, price, symbol, fee=0.11))
            price = round(price * (1 + chance.gauss(0, 0.02)), 2)
            events.append(mark(day + 0.7, symbol, price))
        if chance.random() < 0.1:
            events.append(cash(day + 0.8, "interest", round(chance.gauss(0, 3), 2), currency))
    return events


def known_desk(desk: Desk) -> None:
    """Three accounts that began at different times, in two currencies, with flows."""
    chance = random.Random(5)
    desk.add("dollars", (10_000, "USD"))
    desk.add("deposit")
    desk.add("euros", (4_000, "EUR"))
    desk.say("dollars", *month(chance, "BTC-USD", 0, size=3))
    desk.say("dollars", cash(11.4, "deposit", 2_500.5), cash(19.6, "withdrawal", -1_000.25))
    desk.say("deposit", cash(4.1, "deposit", 3_000))
    desk.say("deposit", *month(chance, "ETH-USD", 6, size=2), *month(chance, "X-EUR", 8, size=1))
    desk.say("euros", *month(chance, "DAX-EUR", 1, size=4))
    # The euro has a rate from the tenth day on, from two models, in both directions.
    for day in range(10, 45, 2):
        desk.say("dollars", mark(day + 0.5, "EUR-USD", round(1.1 + chance.gauss(0, 0.01), 4)))
        desk.say("euros", mark(day + 1.5, "USD-EUR", round(0.9 + chance.gauss(0, 0.01), 4)))


def test_a_model_joins_when_its_capital_is_there(desk: Desk) -> None:
    """What it gained before its first deposit comes in with it, and is no return."""
    desk.add("early", (1_000, "USD"))
    desk.add("late")
    desk.say("early", order(0.1, "buy", 1, 100), mark(2.5, "BTC-USD", 130))
    desk.say("late", order(0.2, "buy", 1, 100), mark(1.2, "BTC-USD", 150))
    desk.say("late", cash(2.2, "deposit", 1_000), mark(3.2, "BTC-USD", 255))
    found = desk.get()
    expected = reference.portfolio(list(desk.said.values()), desk.said, "USD")
    growth = expected.whole.growth()
    assert found["account_value"] == float(expected.whole.values[-1]) == 1_030 + 1_155
    assert found["metrics"]["total_return"]["value"] == pytest.approx(float(growth[-1] - 1))
    assert desk.member(found, "late")["total_return"] == pytest.approx(0.1)


@on_both
def test_a_portfolio_comes_out_as_it_does_in_fractions(desk: Desk) -> None:
    known_desk(desk)
    found = desk.get(currency="usd")
    expected = reference.portfolio(list(desk.said.values()), desk.said, "USD")
    whole, growth = expected.whole, expected.whole.growth()
    assert found["account_value"] == pytest.approx(float(whole.values[-1]), rel=1e-13)
    assert found["total_return"] == pytest.approx(float(growth[-1] - 1), abs=1e-11)
    assert found["invested"] == pytest.approx(float(sum(whole.flows)), rel=1e-12)
    assert found["gain"] == pytest.approx(found["account_value"] - found["invested"])
    times = [day * DAY for day in expected.days]
    for name, values in (
        ("account", whole.values),
        ("returns", [one - 1 for one in growth]),
        ("drawdown", expected.drawdown()),
    ):
        assert [one["time"] for one in found[name]] == times, name
        shown = [one["value"] for one in found[name]]
        assert shown == pytest.approx([float(one) for one in values], rel=1e-11, abs=1e-11), name
    assert found["max_drawdown"] == min(one["value"] for one in found["drawdown"]) < 0
    flows = {
        day * DAY: float(one) for day, one in zip(expected.days, whole.flows, strict=True) if one
    }
    assert {one["time"]: one["value"] for one in found["flows"]} == pytest.approx(flows)
    parts = expected.contributions()
    for name, row in expected.rows.items():
        one = desk.member(found, name)
        assert one["in_account"], one
        assert one["account_value"] == pytest.approx(float(row.values[-1]), rel=1e-13)
        assert one["since"] == expected.days[row.since] * DAY
        gains = sum((row.gain(place) for place in range(len(expected.days))), exact(0))
        assert one["gain"] == pytest.approx(float(gains), abs=1e-8)
        assert one["total_return"] == pytest.approx(float(row.growth()[-1] - 1), abs=1e-11)
        assert one["contribution"] == pytest.approx(float(parts[name]), abs=1e-11)
    total = sum(one["contribution"] for one in found["models"])
    assert total == pytest.approx(found["total_return"], abs=1e-12)


def test_correlations_come_out_as_they_do_in_fractions(desk: Desk) -> None:
    known_desk(desk)
    found = desk.get(currency="USD")
    expected = reference.portfolio(list(desk.said.values()), desk.said, "USD")
    names = {model.id: name for name, model in desk.models.items()}
    returns = {name: row.returns() for name, row in expected.rows.items()}
    matrix = found["correlation"]
    assert len(matrix["models"]) == 3
    for row, one in enumerate(matrix["models"]):
        for column, other in enumerate(matrix["models"]):
            days, square = reference.correlation(returns[names[one]], returns[names[other]])
            assert matrix["days"][row][column] == days > matrix["least_days"]
            value = matrix["values"][row][column]
            assert math.copysign(value**2, value) == pytest.approx(float(square), abs=1e-9)


def test_a_new_order_changes_it_with_the_next_request(desk: Desk) -> None:
    desk.add("one", (1000, "USD"))
    desk.add("two", (1000, "USD"))
    desk.say("one", order(0, "buy", 1, 100))
    desk.say("two", order(0, "buy", 1, 50, "ETH-USD"))
    assert desk.get()["account_value"] == 2000
    assert desk.get(correlated=0)["correlation"]["left_out"] == 2
    desk.say("two", order(1, "sell", 1, 80, "ETH-USD"))
    found = desk.get()
    assert found["account_value"] == 2030
    assert found["total_return"] == pytest.approx(0.015)
    desk.say("one", mark(2, "BTC-USD", 110))
    assert desk.get()["account_value"] == 2040
    desk.say("one", (3, "update-trade", {"id": "BTC-USD0", "executionPrice": 90}))
    assert desk.get()["account_value"] == 2050
    answer = desk.owner.patch(
        f"/api/models/{desk.models['one'].id}/account", json={"capital": None}
    )
    assert answer.status_code == 200
    assert desk.get()["account_value"] == 1030


def test_the_documented_rules_name_what_is_left_out(desk: Desk) -> None:
    desk.add("fine", (1000, "USD"))
    desk.add("poor")
    desk.add("wrong", (1000, "USD"))
    desk.add("yen", (100_000, "JPY"))
    desk.add("new", (700, "USD"))
    desk.add("off", (500, "USD"))
    desk.say("fine", order(0, "buy", 1, 100), mark(1, "BTC-USD", 150))
    desk.say("poor", order(0, "buy", 2, 100), mark(1, "BTC-USD", 110))
    desk.say("wrong", order(0, "buy", 1, 100), order(1, "buy", 1, 5, "XBT-USD", inverse=True))
    desk.say("yen", order(0, "buy", 1, 9000, "BTC-JPY"), mark(1, "BTC-JPY", 9500))
    desk.say("off", order(0, "buy", 1, 100), (1, "auto-pnl", {"enabled": False}))
    found = desk.get()
    assert found["currency"] == "USD"
    assert found["account_value"] == 1050  # that of one model
    assert found["profit"] == 50 + 20  # of all that can be added up
    reasons = {name: desk.member(found, name)["reason"] for name in desk.models}
    assert reasons.pop("fine") is None
    assert "capital" in reasons["poor"]
    assert reasons["wrong"].startswith("XBT-USD is not computed: ")
    assert reasons["yen"] == (
        "There is no rate between JPY and USD. Report one with mark-price of JPY-USD."
    )
    assert reasons["new"] == "It has not reported anything yet."
    assert "auto-pnl" in reasons["off"]
    assert {name: desk.codes(found, name) - {"stale_price"} for name in desk.models} == {
        "fine": set(), "poor": {"no_capital"}, "wrong": {"not_computed"}, "yen": {"no_rate"},
        "new": set(), "off": {"off"},
    }  # fmt: skip
    assert found["without_rate"] == ["JPY"]
    yen = desk.member(found, "yen")
    assert (yen["profit"], yen["profits"], yen["account_value"]) == (None, {"JPY": 500}, None)
    assert found["correlation"]["models"] == [desk.models["fine"].id]


def test_exposure_adds_up_one_symbol_over_all_models(desk: Desk) -> None:
    for name in ("one", "two", "three"):
        desk.add(name)
    desk.say("one", order(0, "buy", 3, 100), order(0.1, "buy", 1, 10, "ETH-EUR"))
    desk.say("two", order(0, "sell", 1, 90, "BTC/USD"), mark(1, "BTC/USD", 80))
    desk.say("three", order(0, "buy", 5, 7, "SOL-JPY"), mark(0, "EUR-USD", 1.5))
    found = desk.get(currency="USD")["exposure"]
    assert (found["gross"], found["net"]) == (300 + 80 + 15, 300 - 80 + 15)
    assert found["without_rate"] == ["JPY"]
    rows = {one["symbol"]: one for one in found["symbols"]}
    assert list(rows) == ["BTC-USD", "ETH-EUR", "SOL-JPY"]
    assert (rows["BTC-USD"]["gross"], rows["BTC-USD"]["net"]) == (380, 220)
    assert rows["BTC-USD"]["models"] == sorted(desk.models[one].id for one in ("one", "two"))
    assert (rows["ETH-EUR"]["net"], rows["ETH-EUR"]["net_converted"]) == (10, 15)
    assert (rows["SOL-JPY"]["gross"], rows["SOL-JPY"]["gross_converted"]) == (35, None)


def test_a_model_that_stopped_with_a_position_and_one_without_prices_need_attention(
    desk: Desk,
) -> None:
    desk.add("stopped", (1000, "USD"))
    desk.say("stopped", order(0, "buy", 1, 100))
    lifecycle = {"message": "Crashed", "running": False}
    desk.models["stopped"].push("/v1/live/lifecycle", lifecycle)
    found = desk.get()
    messages = {one["code"]: one["message"] for one in found["attention"]}
    assert messages == {
        "crashed": "It crashed. Its log has the exception.",
        "stopped_holding": "Crashed, and it still holds BTC-USD.",
        "stale_price": "No price of BTC-USD is known from the last 4 days.",
    }
    desk.say("stopped", order(1, "sell", 1, 100))
    assert desk.codes(desk.get(), "stopped") == {"crashed"}
    desk.models["stopped"].push("/v1/live/lifecycle", {"message": "Running", "running": True})
    assert desk.get()["attention"] == []


def test_a_model_that_says_it_runs_and_sends_nothing_needs_attention(
    desk: Desk, service: Service
) -> None:
    model = desk.add("quiet", (1000, "USD"))
    model.push("/v1/live/lifecycle", {"message": "Running", "running": True})
    assert desk.get()["attention"] == []
    heard = update(tapes).where(tapes.c.model_id == model.id)
    service.store.write_now(
        lambda connection: connection.execute(heard.values(signed_at=time.time() - 5.5 * DAY))
    )
    # Answers are kept for a minute while nothing changes; another number of points asks anew.
    (told,) = desk.get(points=4000)["attention"]
    assert told["code"] == "silent"
    assert told["message"].endswith("for 5 days.")


def test_a_portfolio_is_compared_with_a_symbol_that_one_of_its_models_knows(desk: Desk) -> None:
    desk.add("holder", (100, "USD"))
    desk.add("watcher")
    desk.say("holder", order(0.5, "buy", 1, 100), mark(1.5, "BTC-USD", 110))
    desk.say("holder", mark(2.5, "BTC-USD", 99))
    desk.say("watcher", *(mark(day + 0.5, "SPY", 50 + 5 * day) for day in range(3)))
    for path in ("", "/api/portfolio"):
        found = desk.get(path, benchmark="SPY")["benchmark"]
        assert found["sources"] == {"SPY": ["marks and fills"]}
        assert [one["value"] for one in found["items"]] == pytest.approx([0, 0.1, 0.2])
        assert [one["value"] for one in found["account"]] == pytest.approx([0, 0.1, -0.01])
        assert desk.get(path)["benchmark"] is None
    unknown = desk.get(benchmark="NOBODY")["benchmark"]
    assert (unknown["items"], "NOBODY" in unknown["reason"]) == ([], True)


def test_an_account_that_is_lost_has_a_value_and_no_return(desk: Desk) -> None:
    desk.add("lost", (100, "USD"))
    desk.say("lost", order(0, "buy", 2, 100), mark(1, "BTC-USD", 40))
    found = desk.get()
    assert (found["account_value"], found["total_return"], found["returns"]) == (-20, None, [])
    assert "zero or below" in found["reason"]
    assert "ruined" in desk.codes(found, "lost")
    assert desk.member(found, "lost")["contribution"] is None
    desk.add("rich", (1000, "USD"))
    desk.say("rich", order(0, "buy", 1, 100, "ETH-USD"))
    found = desk.get()
    assert (found["account_value"], found["reason"]) == (980, None)
    assert found["total_return"] == pytest.approx(980 / 1100 - 1)


def test_what_is_dated_in_the_future_counts_today(desk: Desk) -> None:
    desk.add("early", (100, "USD"))
    desk.say("early", order(0, "buy", 1, 100), mark(1e4, "BTC-USD", 110))
    found = desk.get()
    assert found["account_value"] == 110
    assert [one["value"] for one in found["account"]] == [100, 110]
    assert found["account"][-1]["time"] < START + 1e4 * DAY


def test_all_projects_of_a_person_are_one_portfolio(
    cast: Cast, service: Service, desk: Desk
) -> None:
    with (
        pushing(service, cast.owner, cast.project_id) as ours,
        pushing(service, cast.owner) as mine,
    ):
        for model, amount in ((ours, 100), (mine, 20)):
            model.push("/v1/live/cash", {"type": "deposit", "amount": amount})
        answers = {
            name: cast.person(name).get("/api/portfolio").json()
            for name in ("owner", "viewer", "outsider")
        }
        values = {name: one["account_value"] for name, one in answers.items()}
        assert values == {"owner": 120, "viewer": 100, "outsider": None}
        where = f"/api/projects/{cast.project_id}/portfolio"
        assert cast.viewer.get(where).json()["account_value"] == 100
        assert cast.outsider.get(where).status_code == 404
        assert ours.client.get(where).status_code == 401
        reader = new_key(service, cast.owner, cast.project_id, read=True, write=False)
        assert ours.client.get(where, headers=reader).json()["account_value"] == 100
        assert ours.client.get("/api/portfolio", headers=reader).status_code in (401, 403)


def test_a_rate_comes_from_the_project_of_the_model(cast: Cast, service: Service) -> None:
    """A member of one project cannot set the rates by which another is converted."""
    with (
        pushing(service, cast.owner, cast.project_id) as ours,
        pushing(service, cast.owner) as mine,
    ):
        deposit = {"type": "deposit", "amount": 100, "currency": "EUR"}
        for model in (ours, mine):
            model.push("/v1/live/cash", deposit)
        mine.push("/v1/live/mark-price", {"symbol": "EUR-USD", "price": 2})
        found = cast.owner.get("/api/portfolio", params={"currency": "USD"}).json()
        assert found["account_value"] == 200
        reasons = {one["model_id"]: one["reason"] for one in found["models"]}
        assert reasons[mine.id] is None
        assert "no rate between EUR and USD" in reasons[ours.id]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"currency": "U D"}, "currency"),
        ({"currency": "X" * 30}, "currency"),
        ({"points": 1}, "points"),
        ({"correlated": 201}, "correlated"),
    ],
)
def test_a_wrong_query_is_refused_and_its_field_named(
    desk: Desk, query: dict[str, Any], field: str
) -> None:
    answer = desk.owner.get("/api/portfolio", params=query)
    assert answer.status_code == 400
    assert answer.json()["field"] == field


def test_nothing_is_answered_with_nothing(desk: Desk) -> None:
    found = desk.get("/api/portfolio")
    assert (found["currency"], found["account_value"], found["models"]) == ("USD", None, [])
    assert "No model here has an account yet" in found["reason"]


def examples() -> list[list[tuple[str, str, str]]]:
    """Those of the page: each is what is sent, and what comes out."""
    page = (Path(__file__).parents[3] / "docs" / "portfolio.md").read_text("utf-8")
    found: list[list[tuple[str, str, str]]] = [[]]
    blocks = r'```(http|ndjson|json)(?: title="(\w)")?\n(.*?)```'
    for kind, name, text in re.findall(blocks, page, re.DOTALL):
        found[-1].append((kind, name, text))
        if kind == "json":
            found.append([])
    return found[:-1]


@pytest.mark.parametrize("number", range(len(examples())))
def test_a_documented_example_comes_out_as_documented(desk: Desk, number: int) -> None:
    def model(name: str) -> Model:
        return desk.models[name] if name in desk.models else desk.add(name)

    for kind, name, text in examples()[number]:
        if kind == "http":
            path, body = text.removeprefix("PATCH ").split("\n", 1)
            named = path.partition("{")[2].partition("}")[0]
            path = path.replace(f"{{{named}}}", model(named).id)
            assert desk.owner.patch(path, json=msgspec.json.decode(body)).is_success
        elif kind == "ndjson":
            model(name).push("/v1/batch", content=text, headers={"content-type": NDJSON})
        else:
            expected = msgspec.json.decode(text)
            answer = desk.owner.get(
                f"/api/projects/{desk.owner.id}/portfolio", params={"currency": "USD"}
            ).text
            for short, one in desk.models.items():
                answer = answer.replace(one.id, short)
            found = msgspec.json.decode(answer)
            assert is_part(expected, found), {key: found[key] for key in expected}


def test_a_screener_is_part_of_a_portfolio_only_if_it_trades(desk: Desk, service: Service) -> None:
    desk.add("trader", (1000.0, "USD"))
    for name in ("ranks", "trades"):
        made = desk.add(name)
        screener = update(models).where(models.c.id == made.id).values(type="screener")
        service.store.write_now(lambda connection, query: connection.execute(query), screener)
    desk.say("trades", order(1, "buy", 1, 100.0))
    found = desk.get()
    ids = {name: made.id for name, made in desk.models.items()}
    assert {one["model_id"] for one in found["models"]} == {ids["trader"], ids["trades"]}
    assert desk.codes(found, "trades") >= {"no_capital"}
    assert "`" not in str(found["attention"])
