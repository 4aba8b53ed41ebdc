"""The price source on a real server: charts, marks, rates, benchmarks from an exchange of ours.

Each look at the exchange starts a process, so the tests on SQLite share the few that there are.
"""

import dataclasses
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Connection

from tapeline import compose
from tapeline.background import Background
from tapeline.errors import CannotStart
from tapeline.health.running import prices as health
from tapeline.prices.source import source, standing, wanted
from tapeline.prices.source.markets import Close
from tapeline.prices.source.source import PriceSource
from tapeline.prices.source.standing import Standing
from tapeline.results.prices import rate_pairs, stretches
from tapeline.results.prices.rate_pairs import Place
from tapeline.results.prices.source_marks import SourceMarks
from tapeline.settings import Settings
from tests.conftest import Service, let_in, run, running
from tests.http.view.test_results_api import is_part
from tests.prices.source.candle_exchange import CandleExchange, candle, open_exchange, price
from tests.pushing import Model, pushing

EXCHANGE = "binance"
PAGE = (Path(__file__).parents[3] / "docs" / "prices.md").read_text("utf-8")
MINUTE, DAY = 60, 86_400


class World(NamedTuple):
    """A server, the exchange that it asks, and models of different people."""

    service: Service
    exchange: CandleExchange
    models: dict[str, Model]
    began: float
    away: list[Standing]
    """How it stood while the exchange was away, twice."""
    found: Standing
    """And when it was back."""


@contextmanager
def with_source(settings: Settings, url: str) -> Iterator[Service]:
    """A server whose own schedule is far away: tests say when the exchange is asked."""
    chosen = dataclasses.replace(
        settings, price_source=EXCHANGE, price_source_url=url, price_source_minutes=1_440
    )
    with compose.open_store(chosen) as store:
        store.write_now(standing.keep, EXCHANGE, Standing(due_at=1e12))
    with running(chosen) as service:
        yield service


def ask(service: Service) -> Standing:
    """One turn of the source, as its schedule would take it; then how it stands."""
    services = service.services
    late = float(services.settings.late_seconds)
    marks = SourceMarks(
        services.store, services.inbox.appender, services.watchers, Background(), late
    )
    asking = PriceSource(
        services.settings, services.store, Background(), rate_pairs.wanted, marks.write
    )
    run(asking.ask())
    return services.store.read_now(standing.of, EXCHANGE)


def buy(model: Model, symbol: str, price: float, **more: Any) -> None:
    body = {"id": symbol, "symbol": symbol, "exchange": "x", "side": "buy", "size": 2}
    at = {"time": str(time.time() - 3_600)}
    model.push("/v1/live/spot-market", {**body, "executionPrice": price, **more}, headers=at)


def marks(model: Model) -> list[dict[str, Any]]:
    return [body for body in model.bodies() if "price" in body and "side" not in body]


def lying(now: int) -> Callable[[str, dict[str, str]], Any]:
    """A low above the open, text, the future, twice, out of order, and ten minutes of nothing."""

    def answer(_path: str, said: dict[str, str]) -> Any:
        if said.get("symbol") != "LTCUSDT" or said["interval"] != "1m":
            return None
        good = [candle("LTC", now - 60_000 * ago, 60_000) for ago in (30, 29, 28, 17, 16)]
        low = [now - 27 * 60_000, "5", "6", "5.5", "5", "1"]
        text = [now - 26 * 60_000, "x", "6", "5", "5", "1"]
        future = candle("LTC", now + 6_000_000, 60_000)
        return 200, [future, good[1], *good, low, text]

    return answer


def furnish(models: dict[str, Model], began: float) -> None:
    buy(models["holder"], "BTC-USDT", 40_000)
    bar = {"symbol": "ETH-USDT", "interval": "1m", "open": 1, "high": 1, "low": 1, "close": 1}
    models["reporter"].push("/v1/live/bar", bar, headers={"time": str(began)})
    models["reporter"].push("/v1/live/used-symbol", {"symbol": "ETH/USDT"})
    buy(models["private"], "HUSH-USDT", 1)
    buy(models["misled"], "LTC-USDT", 1)
    buy(models["future"], "BTC-USDT", 40_000, instrument="perpetual")
    for symbol in ("AAA-EUR", "BBB-USDT", "CCC-USDT"):
        buy(models["european"], symbol, 10)
    buy(models["lower"], "eth-usdt", 5)
    models["tester"].push("/v1/live/used-symbol", {"symbol": "BTC-USDT"})
    for model in models.values():
        model.get("/pnl")  # the books know everything


@pytest.fixture(scope="module")
def world(
    tmp_path_factory: pytest.TempPathFactory,
    empty: Callable[[str, Path], Settings],
    password_hash: str,
) -> Iterator[World]:
    names = [
        "holder",
        "reporter",
        "private",
        "misled",
        "future",
        "european",
        "tester",
        "lower",
        "stranger",
    ]
    began = time.time() // 60 * 60
    with ExitStack() as stack:
        exchange, url = stack.enter_context(open_exchange())
        data = tmp_path_factory.mktemp("source") / "data"
        service = stack.enter_context(with_source(empty("sqlite", data), url))
        people = {name: let_in(service, f"{name}@example.com", password_hash) for name in names}
        for one in people.values():
            stack.enter_context(one.client)
        models = {name: stack.enter_context(pushing(service, one)) for name, one in people.items()}
        exchange.symbols |= {"LTCUSDT": ("LTC", "USDT"), "EURUSDT": ("EUR", "USDT")}
        furnish(models, began)
        exchange.instead = lambda _path, _said: (503, b"")
        away = [ask(service)]
        exchange.instead = lying(int(began * 1000))
        yield World(service, exchange, models, began, away, ask(service))


def test_a_held_symbol_has_a_chart_and_marks_from_the_exchange(world: World) -> None:
    check_the_holder(world.models["holder"])


@pytest.mark.databases("postgresql")
def test_so_it_has_on_postgresql(settings: Settings, password_hash: str) -> None:
    with open_exchange() as (_, url), with_source(settings, url) as service:
        person = let_in(service, "ada@example.com", password_hash)
        with person.client, pushing(service, person) as model:
            buy(model, "BTC-USDT", 40_000)
            model.get("/pnl")
            ask(service)
            check_the_holder(model)


def check_the_holder(model: Model) -> None:
    shown = model.get("/prices", symbol="BTC-USDT")
    example = re.search(r"<!-- price source -->\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert example is not None
    assert is_part(json.loads(example[1]), shown)
    bars = shown["bars"]
    widths = bars["intervals"] or [shown["interval"]] * len(bars["time"])
    for start, seconds, close in zip(bars["time"], widths, bars["close"], strict=True):
        assert close == price("BTC", int((start + seconds - MINUTE) * 1000))
    days = model.get("/prices", symbol="BTC-USDT", interval="1d", points=5000)
    assert len(days["bars"]["time"]) >= 3_649
    [mark] = marks(model)
    assert (mark["symbol"], mark["source"]) == ("BTC-USDT", EXCHANGE)
    assert mark["price"] == shown["bars"]["close"][-1]
    position = model.get("/pnl")["positions"][0]
    assert position["unrealized"] == pytest.approx(2 * (mark["price"] - 40_000))


def test_bars_of_the_model_come_before_those_of_the_exchange(world: World) -> None:
    model, start = world.models["reporter"], world.began
    assert model.get("/prices", symbol="ETH-USDT")["source"] == "bars"
    older = model.get("/prices", symbol="ETH-USDT", **{"from": start - 600, "to": start})
    assert (older["source"], older["interval"]) == ("exchange bars", MINUTE)
    assert marks(model) == [], "nothing is held"


def test_nobody_learns_from_prices_what_others_use(world: World) -> None:
    stranger = world.models["stranger"]
    shown = stranger.get("/prices", symbol="ETH-USDT")
    assert (shown["source"], shown["price_source"]) == ("nothing", None)
    stranger.push("/v1/live/used-symbol", {"symbol": "ETH-USDT"})
    assert stranger.get("/prices", symbol="ETH-USDT")["source"] == "exchange bars"


def test_a_symbol_that_is_not_listed_never_reaches_the_exchange(world: World) -> None:
    shown = world.models["private"].get("/prices", symbol="HUSH-USDT")
    assert shown["source"] == "marks and fills"
    assert shown["price_source"]["problem"] == "It does not list this market."
    assert "HUSH" not in str(world.exchange.asked)


def test_wrong_candles_are_a_gap_that_is_said(world: World) -> None:
    model = world.models["misled"]
    known = world.found.markets["LTC/USDT"]
    assert known.problem.startswith("3 of 8 candles were left out: ")
    shown = model.get("/prices", symbol="LTC-USDT", interval="1m")
    bars = shown["bars"]
    fine = compress(bars["time"], (seconds == 60 for seconds in bars["intervals"]))
    minutes = [round((world.began - start) / 60) for start in fine]
    assert minutes == [30, 29, 28, 17, 16]
    assert shown["price_source"]["problem"] == known.problem
    assert marks(model) == [], "its newest price is old"
    verdict = health.judged(EXCHANGE, world.found, 0.0)
    assert (verdict.state, "LTC/USDT" in verdict.says) == ("yellow", True)


def test_an_exchange_that_is_away_is_said_and_asked_less_and_less(world: World) -> None:
    [away] = world.away
    assert (away.failures, away.problem) == (1, "It cannot be reached (ExchangeNotAvailable).")
    assert health.judged(EXCHANGE, away, away.due_at - 60).says == (
        "binance has no prices. It cannot be reached (ExchangeNotAvailable). Next attempt in 60 s."
    )
    assert (world.found.failures, world.found.problem) == (0, "")
    pauses = [standing.pause(300.0, failures) / 60 for failures in range(9)]
    assert pauses == [5, 10, 20, 40, 80, 160, 320, 360, 360]


def test_rates_come_from_the_exchange_and_say_so(world: World) -> None:
    model = world.models["european"]
    together = model.get("/pnl")["together"]
    assert together["reason"] is None
    [rate] = together["rates"]
    assert (rate["symbol"], rate["source"]) == ("EUR-USDT", EXCHANGE)
    assert 1.1 <= rate["price"] <= 1.2
    assert [mark["symbol"] for mark in marks(model)] == ["EUR-USDT"]


def test_the_case_of_a_symbol_does_not_matter(world: World) -> None:
    [mark] = marks(world.models["lower"])
    assert (mark["symbol"], mark["source"]) == ("eth-usdt", EXCHANGE)


def test_a_future_has_no_price_of_the_coin(world: World) -> None:
    assert marks(world.models["future"]) == []


def test_a_benchmark_is_priced_by_the_exchange(world: World) -> None:
    model, days = world.models["tester"], int(world.began) // DAY
    account = [{"time": (days - ago) * DAY, "value": 1000 + ago % 3} for ago in range(40, 1, -1)]
    result: dict[str, Any] = {"backtest_id": "b", "symbols": ["BTC-USDT"], "quote_asset": "USDT"}
    result |= {"start_time": account[0]["time"], "stop_time": account[-1]["time"]}
    model.push("/v1/backtest/result", {**result, "account_values": account, "trades": []})
    found = model.get("/backtests/b/equity", benchmark="BTC-USDT")["benchmark"]
    assert (found["reason"], found["sources"]) == (None, {"BTC-USDT": [EXCHANGE]})
    first, last = (price("BTC", ((days - ago + 1) * DAY - 60) * 1000) for ago in (40, 2))
    assert found["metrics"]["benchmark_return"]["value"] == pytest.approx(last / first - 1)


def test_a_market_is_asked_for_while_it_is_used(world: World) -> None:
    store = world.service.store
    with pushing(world.service, world.models["stranger"].owner) as model:
        model.push("/v1/live/used-symbol", {"symbol": "NEW-USDT"})
        assert "NEW/USDT" in store.read_now(wanted.markets, rate_pairs.wanted)
        it = {"projectId": model.project_id, "modelId": model.id}
        assert model.owner.post("/model/delete", json=it).is_success
        assert "NEW/USDT" not in store.read_now(wanted.markets, rate_pairs.wanted)


def test_a_process_that_fails_is_said_and_known_markets_stay(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    found = ask(world.service)
    assert found.problem.startswith("The process that asks it failed")
    assert found.markets["BTC/USDT"].name == "BTC/USDT"


def test_a_mark_a_minute_is_enough_and_a_rate_an_hour(world: World) -> None:
    services = world.service.services
    writing = SourceMarks(
        services.store, services.inbox.appender, services.watchers, Background(), 1e9
    )

    def write(model: Model, symbol: str, later: float, *, is_rate: bool) -> int:
        def act(connection: Connection) -> int:
            tape = model.tape(connection)
            book = stretches.book_of(connection, tape, symbol)
            assert book is not None
            assert book.state.priced_at is not None
            close = Close(1.5, book.state.priced_at + later)
            place = Place(tape, symbol, symbol.replace("-", "/"), is_rate)
            return len(writing.mark(connection, EXCHANGE, place, close))

        model.get("/pnl")  # the books know everything
        return services.store.write_now(act)

    holder, european = world.models["misled"], world.models["european"]
    assert write(holder, "LTC-USDT", 59, is_rate=False) == 0
    assert write(holder, "LTC-USDT", 61, is_rate=False) == 1
    assert write(european, "EUR-USDT", 3_590, is_rate=True) == 0
    assert write(european, "EUR-USDT", 3_610, is_rate=True) == 1


def test_a_wrong_name_or_a_missing_library_is_said_at_the_start(
    sqlite_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(exchange: str) -> str:
        chosen = dataclasses.replace(sqlite_settings, price_source=exchange)
        with pytest.raises(CannotStart) as refused, compose.open_services(chosen):
            pass
        return refused.value.message

    said = "price_source is 'krakn', which ccxt does not know. Did you mean kraken?"
    assert start("krakn") == said
    monkeypatch.setattr(source, "find_spec", lambda _name: None)
    assert start("kraken").endswith("Install it with: pip install 'tapeline[prices]'")
