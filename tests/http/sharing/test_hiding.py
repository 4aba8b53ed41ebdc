"""What a link hides cannot be worked out of what it shows: not by words, not by arithmetic, not by
comparing what it shows of two models or at two moments."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import product
from typing import Any, NamedTuple

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from tests import examples
from tests.conftest import Person, Service, let_in
from tests.http.sharing.hidden_worlds import (
    CASH,
    FLOWS,
    VALUE,
    World,
    report,
    that_must_look_the_same,
    told,
)
from tests.http.sharing.scene import DAY, START, Link, shared
from tests.http.sharing.test_public_api import ADDRESSES
from tests.pushing import Model, pushing

Numbers = NDArray[np.float64]

FLAGS = ("percent_only", "hide_symbols", "hide_sizes", "hide_logs")
COMBINATIONS = [
    dict(zip(FLAGS, chosen, strict=True))
    for chosen in product((False, True), repeat=4)
    # One, three or all of them: any three choices meet in every way. `make slow` tries all.
    if sum(chosen) in ((1, 2, 3, 4) if examples.THOROUGH else (1, 3, 4))
]
PICTURE = "/s/{token}/picture.png"
TIMES = (1e9, 1e10)
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*\.?\d*(?:e[+-]?\d+)?(?![\w.])")
CELL = re.compile(r"<(?:td|dd)[^>]*>(.*?)</(?:td|dd)>", re.DOTALL)


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    shared_service.services.watchers.close()  # so that streams end after what there is
    return shared_service


@pytest.fixture(scope="module")
def made(service: Service, password_hash: str) -> Iterator[Callable[[World], Model]]:
    """A model that reported a world; each is made once."""
    with ExitStack() as stack:
        owner, known = let_in(service, "ada@example.com", password_hash), dict[World, Model]()
        stack.enter_context(owner.client)

        def make(world: World) -> Model:
            if world not in known:
                known[world] = stack.enter_context(pushing(service, owner))
                report(known[world], world)
            return known[world]

        yield make


class Look(NamedTuple):
    """All that a link shows."""

    link: Link
    answers: dict[str, httpx.Response]


Looking = Callable[[str, World, dict[str, Any]], Look]


@pytest.fixture(scope="module")
def looking(service: Service, made: Callable[[World], Model]) -> Iterator[Looking]:
    """A stranger who looks once at every address of every link."""
    with service.client() as stranger:
        known = dict[tuple[str, World, tuple[bool, ...]], Look]()

        def look(of: str, world: World, choices: dict[str, Any]) -> Look:
            key = (of, world, tuple(choices.values()))
            if key not in known:
                link = linked(made(world), world, stranger, of, choices)
                pictures = sum(choices.values()) == 1  # they take long
                known[key] = Look(link, dict(answers(link, pictures=pictures)))
            return known[key]

        yield look


def linked(
    model: Model, world: World, client: httpx.Client, of: str, choices: dict[str, Any]
) -> Link:
    subject = {"backtest_id": world.backtest_id} if of == "backtest" else {}
    # With and without a capital: what is a percentage in one is an index in the other.
    base = {"base": world.base} if of == "live" and choices["hide_logs"] else {}
    return shared(model, client, title="Mine", **choices, **subject, **base)


def answers(link: Link, *, pictures: bool) -> Iterator[tuple[str, httpx.Response]]:
    for path in ADDRESSES:
        if pictures or path != PICTURE:
            address = path.replace("{token}", link.token)
            yield path, link.client.get(address, headers={"Last-Event-ID": "0"})


@pytest.mark.heavy
@pytest.mark.repeated
@pytest.mark.parametrize("of", ["live", "funded", "backtest"])
def test_worlds_that_differ_in_what_is_hidden_look_the_same(looking: Looking, of: str) -> None:
    is_funded = of == "funded"
    for choices in COMBINATIONS:
        one = looking(of, World(funded=is_funded), choices)
        other = looking(of, that_must_look_the_same(choices, funded=is_funded), choices)
        for path, answer in one.answers.items():
            ours = told(answer, one.link.token)
            assert ours == told(other.answers[path], other.link.token), (choices, path)
            assert answer.status_code in (200, 404), (choices, path)
        assert sum(answer.status_code == 200 for answer in one.answers.values()) > 12


@pytest.mark.heavy
@pytest.mark.repeated
@pytest.mark.parametrize("of", ["live", "funded", "backtest"])
def test_no_two_numbers_of_a_link_give_a_hidden_one(
    made: Callable[[World], Model], looking: Looking, of: str
) -> None:
    world = World(funded=of == "funded")
    owned = Owned.of(made(world), world)
    for choices in COMBINATIONS:
        look = looking(of, world, choices)
        shown: set[float] = set()
        hidden = hidden_numbers(owned, world, choices)
        for path, answer in look.answers.items():
            kind = answer.headers["content-type"]
            if kind.startswith("text/html"):
                cells = numbers(" ".join(CELL.findall(answer.text)))
                assert not found_in(cells, hidden, 5e-7), (choices, path)
            elif path != PICTURE:
                shown |= numbers(answer.text)
        steps = differences(look.link)
        assert not found_in(shown | steps, hidden, 1e-10), choices


def differences(link: Link) -> set[float]:
    """From each value of the curve to the others, and from each price to the others."""
    curve = [one["value"] for one in link.json("/curve", points=50)["items"]]
    prices = [one["price"] for one in link.json("/trades")["items"] if one["price"]]
    return {abs(one - other) for some in (curve[:50], prices) for one in some for other in some} - {
        0.0
    }


class Owned(NamedTuple):
    """Prices, sizes and amounts of money as their owner sees them."""

    pnl: Any
    orders: list[dict[str, Any]]
    trips: list[dict[str, Any]]
    performance: Any

    @classmethod
    def of(cls, model: Model, world: World) -> "Owned":
        trips = model.items(f"/backtests/{world.backtest_id}/round-trips")
        return cls(model.get("/pnl"), model.items("/orders"), trips, model.get("/performance"))


def hidden_numbers(owned: Owned, world: World, choices: dict[str, Any]) -> set[float]:
    pnl, orders, trips, performance = owned
    fills = [one["fill"] for one in orders if one["fill"]]
    positions = pnl["positions"]
    no_money = choices["percent_only"] or choices["hide_sizes"]
    found: set[float] = set()
    if no_money or choices["hide_symbols"]:
        found |= {*world.raw_fees}
        found |= {*world.sizes, *(one["size"] for one in (*positions, *fills, *trips))}
    if choices["hide_symbols"]:
        found |= {*world.prices, world.third_price}
        found |= {one[name] for one in positions for name in ("average_price", "last_price")}
    if no_money:
        found |= {one["funds"] for one in orders if one.get("funds")} | {world.base}
        found |= {one["value"] for one in pnl["series"]}
        found |= {one[name] for one in positions for name in ("value", "realized", "fees")}
        found |= {one[name] for one in fills for name in ("fee", "realized")}
        found |= {one["profit"] for one in trips}
        found |= {amount * world.money for amount in (*CASH, *FLOWS, VALUE)}
        found |= {one["value"] for name in ("account", "profit") for one in performance[name]}
        found |= {one["value"] for one in performance["exposure"]["gross"]}
    return {abs(one) for one in found if one}


def numbers(text: str) -> set[float]:
    """Those in a text, as they are written, but no times."""
    found = {abs(float(one.replace(",", ""))) for one in NUMBER.findall(text)}
    return {one for one in found if one and not TIMES[0] <= one <= TIMES[1]}


def found_in(shown: set[float], hidden: set[float], tolerance: float) -> list[float]:
    """Hidden numbers that are shown, or that two shown ones give by a product or a ratio."""
    one = np.array(sorted(shown))
    if not one.size:
        return []
    tried = np.concatenate([one, np.outer(one, one).ravel(), np.divide.outer(one, one).ravel()])
    tried.sort()
    return [value for value in hidden if _is_near(tried, value, tolerance)]


def _is_near(tried: Numbers, value: float, tolerance: float) -> bool:
    low, high = np.searchsorted(tried, [value * (1 - tolerance), value * (1 + tolerance)])
    return bool(high > low)


def test_arithmetic_finds_what_is_hidden_badly() -> None:
    assert found_in({7.654321, 24_046.61}, {3141.5733048, 5.0}, 1e-6) == [3141.5733048]
    assert found_in({7.654321, 3141.57}, {24_046.585}, 1e-6) == [24_046.585]
    assert numbers('{"a":-1.5e3,"t":1700000000.5,"b":"12,345.6"}') == {1500.0, 12_345.6}


def test_a_backtest_hides_a_fee_together_with_its_currency(
    service: Service, enter: Callable[[str], Person]
) -> None:
    plain = {"symbol": "ETH-USD", "side": "buy", "size": 3, "price": 2137.5, "fee": 0.004}
    trades = [{**plain, "time": START}, {**plain, "time": START, "fee_currency": "ETH"}]
    result = {"backtest_id": "b", "symbols": ["ETH-USD"], "quote_asset": "USD", "trades": trades,
              "account_values": [], "start_time": START, "stop_time": START + DAY}  # fmt: skip
    with pushing(service, enter("ada")) as model, service.client() as stranger:
        model.push("/v1/backtest/result", result)
        link = shared(model, stranger, backtest_id="b", hide_symbols=True)
        fees = [one["fee"] for one in link.json("/trades")["items"]]
        assert sorted(fees, key=str) == [0.004, None]
