"""A symbol means a market only by its exact name, and tenants take turns."""

import pytest

from tapeline.prices.source import names, wanted


@pytest.mark.parametrize(
    ("symbol", "market"),
    [
        ("BTC-USD", "BTC/USD"),
        ("btc/usdt", "BTC/USDT"),
        ("BTC/USDT:USDT", "BTC/USDT:USDT"),
        ("BTC-USDT:USDT-261225", "BTC/USDT:USDT-261225"),
        ("1INCH-EUR", "1INCH/EUR"),
    ],
)
def test_a_pair_names_a_market(symbol: str, market: str) -> None:
    assert names.market_of(symbol) == market
    assert market in names.symbols_of(market)


@pytest.mark.parametrize(
    "symbol",
    ["AAPL", "", "BTCUSDT", "BRK-B", "BTC-USD-PERP", "../x", "a/b?c=d", "BTC/U\nSD", "Ä-USD", "/"],
)
def test_anything_else_names_none(symbol: str) -> None:
    assert names.market_of(symbol) is None


def test_only_listed_names_are_used_and_never_one_of_two() -> None:
    there = ["BTC/USDT", "kBONK/USDC", "ABC/USD", "abc/USD"]
    found = names.listed(["BTC/USDT", "BTC/USD", "KBONK/USDC", "ABC/USD"], there)
    assert found == {"BTC/USDT": "BTC/USDT", "KBONK/USDC": "kBONK/USDC"}


def test_tenants_take_turns() -> None:
    greedy = [f"A{number}/USD" for number in range(1_000)]
    found = wanted.in_turns({"greedy": greedy, "modest": ["B/USD", "A1/USD"]})
    assert found[:4] == ["A0/USD", "B/USD", "A1/USD", "A2/USD"]
    assert len(found) == 1_001
