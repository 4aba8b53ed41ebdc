"""The real ccxt asks an exchange of our own, which lists, answers, stalls, refuses and lies."""

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tapeline.prices.source.exchange import answers
from tapeline.prices.source.messages import (
    DAY,
    HOUR,
    MINUTE,
    Asked,
    Away,
    Candles,
    Listing,
    Order,
    Refused,
    Said,
    Wanted,
)
from tests.prices.source.candle_exchange import CandleExchange, open_exchange

Open = tuple[CandleExchange, str]


@pytest.fixture
def opened() -> Iterator[Open]:
    with open_exchange() as made:
        yield made


def ask(opened: Open, *wanted: Wanted, patience: float = 20.0) -> list[Said]:
    order = Order("binance", opened[1], os.getpid(), 60.0, list(wanted), patience)
    return list(answers(order))


def minutes(market: str, count: int = 3) -> Wanted:
    return Wanted(market, {MINUTE: time.time() - 60 * count})


def test_only_listed_names_reach_the_exchange(opened: Open) -> None:
    said = ask(opened, minutes("SECRET/PLAN"), minutes("BTC/USDT"))
    assert said[0] == Listing({"BTC/USDT": "BTC/USDT"})
    assert said[-1] == Asked("BTC/USDT")
    assert not [one for one in opened[0].asked if "SECRET" in str(one)]
    assert opened[0].markets_asked() == ["BTCUSDT"]


def test_pages_follow_each_other_without_a_hole(opened: Open) -> None:
    now = time.time()
    since = {MINUTE: now - 1_200 * MINUTE, HOUR: now - 700 * HOUR, DAY: now - 600 * DAY}
    said = ask(opened, Wanted("BTC/USDT", since))
    for interval, count in ((MINUTE, 1_200), (HOUR, 700), (DAY, 600)):
        starts = [row[0] for row in rows(said, interval)]
        assert len(starts) >= count
        assert starts == [starts[0] + 1000 * interval * number for number in range(len(starts))]


def test_a_market_that_began_lately_is_found(opened: Open) -> None:
    began = int(time.time() * 1000) // 86_400_000 * 86_400_000 - 20 * 86_400_000
    opened[0].since["ETHUSDT"] = began
    opened[0].instead = lambda path, said: (
        (200, []) if path.endswith("klines") and int(said["startTime"]) < began - 5e10 else None
    )
    said = ask(opened, Wanted("ETH/USDT", {DAY: time.time() - 3_650 * DAY}))
    assert rows(said, DAY)[0][0] == began


def rows(said: list[Said], interval: int) -> list[list[Any]]:
    every = [one for one in said if isinstance(one, Candles) and one.interval == interval]
    return [row for one in every for row in one.rows]


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (503, b"<html>busy</html>", "It cannot be reached (ExchangeNotAvailable)."),
        (429, {"code": -1003, "msg": "Too many requests"}, "It refuses more requests for now."),
        (418, {"code": -1003, "msg": "Banned"}, "It refuses more requests for now."),
    ],
)
def test_an_exchange_that_is_away_is_not_asked_on(
    opened: Open, status: int, body: Any, why: str
) -> None:
    exchange = opened[0]
    exchange.instead = lambda path, _: (status, body) if path.endswith("klines") else None
    said = ask(opened, minutes("BTC/USDT"), minutes("ETH/USDT"))
    assert said[1:] == [Away(why)]
    assert exchange.markets_asked() == ["BTCUSDT"]
    exchange.instead = lambda _path, _said: (status, body)
    assert ask(opened, minutes("BTC/USDT")) == [Away(why)]


def test_an_exchange_that_stalls_is_given_up(opened: Open) -> None:
    exchange = opened[0]
    exchange.instead = lambda _path, _said: (200, exchange.hangs.wait() and {})
    assert ask(opened, minutes("BTC/USDT"), patience=0.1) == [Away("It did not answer in time.")]


def test_one_market_with_a_strange_answer_does_not_stop_the_others(opened: Open) -> None:
    exchange = opened[0]
    strange: list[Any] = [b"not json", [["x", "y"], 5, None], [[None] * 12]]

    for answer in strange:
        exchange.instead = lambda _path, said, answer=answer: (  # type: ignore[misc]
            (200, answer) if said.get("symbol") == "BTCUSDT" else None
        )
        said = ask(opened, minutes("BTC/USDT"), minutes("ETH/USDT"))
        assert Asked("ETH/USDT") in said, answer
        about = [one for one in said if getattr(one, "market", "") == "BTC/USDT"]
        assert about, answer
        for one in about:
            assert isinstance(one, Refused | Asked | Candles)
            assert isinstance(one, Asked) or "cannot be used" in str(one) or "None" in str(one)


def test_a_server_that_is_not_there_is_away() -> None:
    with open_exchange() as opened:
        pass
    assert ask(opened, minutes("BTC/USDT")) == [Away("It cannot be reached (NetworkError).")]
