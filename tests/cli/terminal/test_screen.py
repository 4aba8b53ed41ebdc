"""What is printed fits, is aligned, and is harmless."""

import io
from typing import Any

import pytest
from rich.console import Console

from tapeline.cli.model.backtest import typed
from tapeline.cli.model.ps import result
from tapeline.cli.record.logs import moment_of
from tapeline.cli.record.orders import size
from tapeline.cli.record.pnl import show_pnl
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.lines import show_line
from tapeline.cli.terminal.plain import clean
from tapeline.cli.terminal.screen import Screen


def printed(columns: list[str], rows: list[list[object]], width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(screen.table_of(columns, rows, width))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_table_cuts_names_and_then_leaves_columns_out() -> None:
    columns = ["~name", "id", "?when", ">size"]
    row: list[object] = ["a long name of a model", "abcdefgh", "3 days ago", 12]
    assert printed(columns, [row], 80) == [
        "NAME                    ID        WHEN        SIZE",
        "a long name of a model  abcdefgh  3 days ago    12",
    ]
    assert printed(columns, [row], 40)[1] == "a long name…  abcdefgh  3 days ago    12"
    assert printed(columns, [row], 30)[1] == "a long name o…  abcdefgh    12"


def test_a_column_that_says_nothing_is_left_out() -> None:
    assert printed(["a", "b", "c"], [["1", "", "3"]], 80) == ["A  C", "1  3"]


def test_an_id_keeps_its_case() -> None:
    assert printed(["metric", ">=8xk2"], [["x", "1"]], 80)[0] == "METRIC  8xk2"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (59.9, "59s"), (61, "1m 1s"), (7200, "2h"), (200_000, "2d 7h")]
)
def test_spans_are_short(seconds: float, text: str) -> None:
    assert screen.span(seconds) == text


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (0.1234, "percent", "12.34%"),
        (1234.5, "money", "1,234.50"),
        (0, "time", "1970-01-01"),
        (5.625, "days", "5.6 d"),
        (3.0, "count", "3"),
        (6.52801, "number", "6.53"),
        (None, "number", "-"),
        ("high", None, "high"),
        (True, None, "True"),
    ],
)
def test_metrics_are_told_by_their_kind(value: object, kind: str | None, text: str) -> None:
    assert screen.metric(value, kind) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.2345e-7, "0.00000012345"), (1.08515, "1.08515"), (75514.8, "75,514.80"), (None, "-")],
)
def test_a_price_has_its_digits_and_no_exponent(value: float | None, text: str) -> None:
    assert screen.price(value) == text


def test_a_loss_that_rounds_to_nothing_has_no_sign() -> None:
    assert str(screen.signed(-0.001, "USD")) == "0.00"
    assert str(screen.signed(-0.001, "BTC")) == "-0.001"
    assert str(screen.signed(-12.5)) == "-12.50"


def test_a_log_line_keeps_its_line_breaks(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\x1b[31mcolumns\x1b[0m\n1 2 3\n10%\r20%\n"
    show_line(Screen(), {"time": 0, "type": "stdout", "line": text})
    indent = " " * len("1970-01-01T00:00:00Z  ")
    assert capsys.readouterr().out == f"1970-01-01T00:00:00Z  columns\n{indent}1 2 3\n{indent}20%\n"


@pytest.mark.parametrize(
    ("values", "width", "line"),
    [
        ([1.0, 2.0, 3.0], 10, "▁▅█"),
        ([5.0, 5.0], 10, "▁▁"),
        ([], 10, ""),
        ([float(one) for one in range(100)], 4, "▁▃▆█"),
    ],
)
def test_a_sparkline_has_its_first_and_last(values: list[float], width: int, line: str) -> None:
    assert screen.sparkline(values, width) == line


def test_what_could_move_the_cursor_is_taken_out() -> None:
    assert clean("a\x1b[2Jb\x07\u202ec\td") == "a[2Jbc   d"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1), ("1.5", 1.5), ("true", True), ("True", True), ("null", None), ("None", None),
        ("BTC-USD", "BTC-USD"), ('{"a": [1]}', {"a": [1]}), ("{'a': 1}", {"a": 1}), ("", ""),
        ("007", "007"), ("1y", "1y"), ('"1"', "1"),
    ],
)  # fmt: skip
def test_arguments_are_read_as_they_were_meant(text: str, value: object) -> None:
    assert typed(text) == value
    assert type(typed(text)) is type(value)


def test_moments_are_read_in_both_spellings() -> None:
    assert moment_of("90s", 1000.0) == 910
    assert moment_of("1.5h", 10_000.0) == 4600
    assert moment_of("1970-01-01T00:01:00+00:00", 0.0) == 60


def test_profit_and_loss_names_what_it_leaves_out_and_what_disagrees(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def check(symbol: str, time: int, reported: float, held: float) -> dict[str, object]:
        return {
            "symbol": symbol, "time": time, "reported": reported, "held": held,
            "difference": reported - held,
        }  # fmt: skip

    checks = [check("A-USD", 3, 5, 2), check("A-USD", 1, 9, 2), check("B-USD", 2, 1, 1)]
    checks.append(check("B-USD", 1, 4, 1))
    reason = "It is an inverse contract, which is not computed."
    show_pnl(Screen(), {"checks": checks, "not_computed": [{"symbol": "XBT", "reason": reason}]})
    told = " ".join(capsys.readouterr().err.split())
    assert f"XBT is not computed and counts nowhere: {reason}" in told
    assert "A-USD: the model says that it holds 5, the books hold 2 (" in told
    assert "holds 9" not in told
    assert "B-USD" not in told


def test_a_list_of_models_shows_every_currency_and_what_is_left_out() -> None:
    pnl = {"value": 12, "currency": "USD", "by_currency": {"JPY": -36_000, "USD": 12}}
    assert result(pnl).plain == "+12.00 USD, -36,000.00 JPY"
    assert result(pnl | {"is_partial": True}).plain.endswith("JPY, partial")
    assert result({"value": None, "is_partial": True}).plain == "not computed"
    assert result({"value": 1.5, "currency": "USD"}).plain == "+1.50 USD"  # of an older server
    assert result({"value": 7, "currency": None}).plain == "+7.00"
    assert result({}).plain == "-"


def test_cash_and_positions_are_shown_in_their_currency(
    capsys: pytest.CaptureFixture[str],
) -> None:
    money = {"realized": 0, "unrealized": 0, "fees": 0, "fills": 1}
    position = {"size": 1, "average_price": 1, "last_price": 1, "value": 1} | money
    answer: dict[str, object] = {
        "currency": "USD",
        "cash": {"rebate": 2},
        "by_currency": {
            "JPY": money | {"total": -36, "cash": {"funding": -36}},
            "USD": money | {"total": 2, "cash": {"rebate": 2}},
        },
        "positions": [position | {"symbol": "BTC-JPY", "currency": "JPY"}],
    }
    show_pnl(Screen(), answer)
    told = capsys.readouterr()
    assert "Funding: -36.00 JPY" in told.err
    assert "Rebate: +2.00 USD" in told.err
    assert "BTC-JPY  JPY" in told.out


def test_an_order_shows_what_was_filled_of_what_was_ordered() -> None:
    sizes: list[tuple[dict[str, Any], str]] = [
        ({"size": 10, "fill": {"size": 10}}, "10"),
        ({"size": 10, "fill": {"size": 4}}, "4 / 10"),
        ({"size": 10, "fill": None}, "0 / 10"),
        ({"size": None, "funds": 5, "fill": None}, "5 funds"),
        ({"size": 10}, "10"),
    ]
    assert [size(order) for order, _ in sizes] == [text for _, text in sizes]


def test_profit_and_loss_is_shown_by_currency(capsys: pytest.CaptureFixture[str]) -> None:
    show_pnl(
        Screen(),
        {
            "source": "model",
            "by_currency": {"USD": {"realized": -5, "unrealized": 2.5, "fees": 1, "fills": 3}},
            "positions": [],
            "series": [{"time": 1, "value": 0.0}, {"time": 2, "value": -2.5}],
            "warnings": [{"message": "sold more than was held"}],
        },
    )
    told = capsys.readouterr()
    assert "USD       -2.50     -5.00       +2.50  1.00      3" in told.out
    assert "█▁" in told.out
    assert "sold more than was held" in told.err
    assert "the model's own" in told.err
