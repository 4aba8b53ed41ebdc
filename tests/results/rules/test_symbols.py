"""What a symbol says of itself, for whichever kind of contract it names."""

import pytest

from tapeline.results.rules.symbols import currency_of, pair


@pytest.mark.parametrize(
    ("symbol", "traded", "quote"),
    [
        ("BTC-USD", "BTC", "USD"),
        ("btc/usdt", "BTC", "USDT"),
        ("BRK-B/USD", "BRK-B", "USD"),
        ("BTC-USDT-SWAP", "BTC", "USDT"),
        ("eth-jpy-swap", "ETH", "JPY"),
        ("BTC-USD-PERP", "BTC", "USD"),
        ("BTC-USD-PERPETUAL", "BTC", "USD"),
        ("BTC/USD-FUTURES", "BTC", "USD"),
        ("BTC-USDT-FUT", "BTC", "USDT"),
        ("BTC-USDT-240927", "BTC", "USDT"),
        ("BTC-USDT-20240927", "BTC", "USDT"),
        ("BTC-USDT-27SEP24", "BTC", "USDT"),
        ("BTC-USDT-240927-FUTURES", "BTC", "USDT"),
        ("BTC/USDT:USDT", "BTC", "USDT"),
        ("BTC/USDT:USDT-240927", "BTC", "USDT"),
        ("BINANCE:BTC-USDT", "BINANCE:BTC", "USDT"),
        ("SWAP-USD", "SWAP", "USD"),
        ("PERP/USDT", "PERP", "USDT"),
        ("1INCH-1000X", "1INCH", "1000X"),
    ],
)
def test_a_symbol_is_quoted_in_the_currency_before_the_kind_of_contract(
    symbol: str, traded: str, quote: str
) -> None:
    assert pair(symbol) == (traded, quote)


@pytest.mark.parametrize(
    "symbol",
    ["AAPL", "BRK-B", "ETH-PERP", "btc-perp", "BTC-240927", "BTC-27DEC24", "ES-FUT", "BTC-0930"],
)
def test_a_ticker_with_the_kind_of_contract_alone_is_bare(symbol: str) -> None:
    assert currency_of(symbol) == ""


@pytest.mark.parametrize(
    "symbol",
    [
        "BTC-27DEC24-50000-C",
        "BTC-240927-50000-P",
        "BTC-USD-240927-50000-C",
        "BTC/USD:BTC-240927-50000-C",
        "BTC-27DEC24-50000",
        "SPY-241220-600-CALL",
        "SPY-241220-600-PUT",
    ],
)
def test_an_option_is_a_bare_ticker(symbol: str) -> None:
    """Its price may be in what is traded, whatever currency its name has."""
    assert currency_of(symbol) == ""


def test_an_option_that_names_its_currency_last_is_quoted_in_it() -> None:
    assert currency_of("BTC-27DEC24-50000-C-USDT") == "USDT"
