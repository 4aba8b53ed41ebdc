"""The content of a link's page: figures, charts and tables, formatted, without what the link
hides."""

from typing import Any

from tapeline import figures
from tapeline.results.backtests.tear_sheet import MONTHS, written
from tapeline.results.changes import words
from tapeline.sharing.exhibits.answers import (
    Exported,
    SharedFigure,
    SharedHead,
    SharedPosition,
    SharedTrade,
    SharedTrip,
    SharedYear,
    Unit,
)
from tapeline.sharing.exhibits.exhibit import ChartRange, Exhibit
from tapeline.sharing.pages import account_notes, beside, chart, correction_notes
from tapeline.sharing.pages.log_entries import entries
from tapeline.sharing.pages.page_moment import moment

DETAIL = 700  # points of a chart
ROWS = 50  # of each table
SHADES = 5
SIGNED = {"total_return", "cagr", "profit"}
NUMERIC = {
    "price", "size", "profit", "value", "average_price", "last_price", "realized", "unrealized",
    "fills",
}  # fmt: skip
TRADE_COLUMNS = ("price", "size", "profit", "status", "annotation", "type", "exchange")
UNITS: dict[Unit, str] = {
    "money": "in money",
    "percent": "rebased to 100 %",
    "index": "as an index: 100 is the distance from the lowest to the highest value",
}


def facts(exhibit: Exhibit) -> dict[str, Any]:
    found = exhibit.everything(ChartRange(points=DETAIL), ROWS)
    head, marks = found.shared, found.curve.marks
    is_live, arrows = head.kind == "live", exhibit.arrows()
    curve = chart.draw(
        found.curve.items,
        found.curve.unit,
        title="Profit and loss over time" if is_live else "Account value over time",
        kind="curve",
        marks=marks,
        arrows=arrows.items,
        currency=head.currency,
    )
    drawdown = chart.draw(
        found.drawdown.items,
        found.drawdown.unit,
        title="Drawdown over time",
        kind="drawdown",
        currency=head.currency,
    )
    return {
        "head": head,
        "figures": [_figure(one) for one in head.figures],
        "state": _state(head),
        "first": moment(head.first),
        "last": moment(head.last),
        "as_of": moment(head.as_of),
        "signed": (moment(head.seals.first_signed_at), moment(head.seals.last_signed_at)),
        "unit": _unit(found),
        "curve": curve,
        "drawdown": drawdown,
        "beside": beside.facts(found.benchmark),
        "summary": _summary(found, curve),
        "has_versions": curve is not None and 'class="version"' in curve.svgs[0],
        "has_downtime": curve is not None and 'class="downtime"' in curve.svgs[0],
        "months": MONTHS,
        "years": _years(found.periods.years),
        "hidden": hidden(exhibit),
        "left_out": _left_out(head),
        "late_entries": account_notes.late(head.late_entries),
        **correction_notes.facts(found),
        "settings": [(moment(at), words) for at, words in account_notes.settings(head)],
        "elsewhere": _elsewhere(head),
        "unmarked": arrows.left_out,
        "has_password": exhibit.share.password_hash is not None,
        **_tables(found),
    }


class _Amounts:
    """Each with its own currency where there are several. Where there is one, its name is not
    repeated, but it says how many digits matter."""

    def __init__(self, head: SharedHead) -> None:
        self._only, self._named = head.currency, head.other_currencies > 0

    def money(self, value: float | None, own: str | None) -> str:
        return figures.money(value, own) if self._named else figures.amount(value, self._only)

    def gain(self, value: float | None, own: str | None) -> str:
        return figures.gain(value, own) if self._named else figures.signed_amount(value, self._only)


def hidden(exhibit: Exhibit) -> list[str]:
    """What the owner chose not to show, in words."""
    choices = exhibit.choices
    said = [
        (not choices.shows_money, "amounts of money"),
        (not choices.shows_symbols, "symbols and prices"),
        (not choices.shows_sizes, "sizes"),
        (not choices.shows_texts, "logs and annotations"),
    ]
    return [words for is_so, words in said if is_so]


def _tables(found: Exported) -> dict[str, Any]:
    amounts = _Amounts(found.shared)
    trades = [_trade(one, amounts) for one in found.trades.items]
    positions = _positions(found)
    unit = found.shared.currency or ""
    trips = [_trip(one, amounts) for one in found.round_trips.items] if found.round_trips else []
    logs = found.logs.items if found.logs else []
    metrics = [
        (one.display_name, written(one.value, one.type, unit), one.explanation)
        for one in found.metrics.computed.values()
        if one.value is not None
    ]
    return {
        "trades": trades,
        "trade_columns": _columns(trades, TRADE_COLUMNS),
        "more_trades": max(0, found.shared.trades - len(trades)),
        "positions": positions,
        "position_columns": _columns(positions, ("size", "average_price", "last_price", "value",
                                                 "unrealized", "realized", "fills")),
        "trips": trips,
        "trip_columns": _columns(trips, ("entry_price", "exit_price", "size", "profit")),
        "log": [(moment(one.time), one) for one in entries(logs[::-1])],
        "metrics": metrics,
        "custom": [
            (str(one.get("display_name") or name), str(one.get("value")))
            for name, one in found.metrics.custom.items()
        ],
        "numeric": NUMERIC | {"entry_price", "exit_price"},
    }  # fmt: skip


def _columns(rows: list[dict[str, Any]], names: tuple[str, ...]) -> list[str]:
    """Only those with content; a dash is none."""
    return [name for name in names if any(one[name] not in {"", figures.NOTHING} for one in rows)]


def _figure(one: SharedFigure) -> dict[str, str]:
    is_signed = one.name in SIGNED and one.value is not None
    tone = figures.tone(one.text) if is_signed else ""
    text = f"+{one.text}" if tone == "gain" else one.text.replace("-", figures.MINUS)
    number, _, unit = text.partition(" ")
    return {
        "name": one.display_name,
        "text": text,
        "number": number,
        "unit": unit,
        "sign": tone,
        "explanation": one.explanation,
    }


def _state(head: SharedHead) -> tuple[str, str]:
    """A tone and a word. A model's own message is free text and not shown."""
    running = head.lifecycle.running if head.lifecycle else None
    if head.kind == "backtest":
        return "idle", "Backtest"
    if running is None:
        return "idle", "Live record"
    return ("good", "Running") if running else ("idle", "Not running")


def _left_out(head: SharedHead) -> str:
    count = len(head.not_computed)
    if not count:
        return ""
    what = "One symbol is" if count == 1 else f"{count:,} symbols are"
    return f"{what} not computed and {'counts' if count == 1 else 'count'} in no figure."


def _elsewhere(head: SharedHead) -> str:
    """What the figures do not include because it is in another currency."""
    count = head.other_currencies
    if not count:
        return ""
    what = "another currency is" if count == 1 else f"{count:,} other currencies are"
    main, *others = [figures.gain(one, name) for name, one in head.by_currency.items()] or [""]
    amounts = f" Profit and loss: {main} and {', '.join(others)}." if others else ""
    return f"What was earned in {what} not in the figures and the curve.{amounts}"


def _unit(found: Exported) -> str:
    unit, currency = found.curve.unit, found.shared.currency
    return f"in {currency}" if unit == "money" and currency else UNITS[unit]


def _summary(found: Exported, drawn: chart.Drawing | None) -> str:
    """The curve in words, for readers who cannot see it."""
    known = [one for one in found.curve.items if one.value is not None]
    if drawn is None or not known:
        return ""
    values = [one.value for one in known if one.value is not None]
    first, last = moment(known[0].time), moment(known[-1].time)
    days = f"from {first.day} to {last.day}, " if first and last else ""
    written = chart.Values(found.curve.unit, "curve", found.shared.currency).precise
    return (
        f"{len(values):,} values {days}beginning at {written(values[0])} and ending at"
        f" {written(values[-1])}; the lowest is {written(min(values))}, the highest"
        f" {written(max(values))}."
    )


def _years(years: list[SharedYear]) -> list[dict[str, Any]]:
    known = sorted(abs(one) for year in years for one in year.months if one is not None)
    # One extreme month must not make all others pale.
    full = known[max(0, -(-len(known) * 95 // 100) - 1)] if known else 0.0
    return [
        {
            "year": year.year,
            "total": _percent(year.value, 1),
            "sign": figures.tone(_percent(year.value, 1)),
            "cells": [(_cell(value), _shade(value, full)) for value in year.months],
        }
        for year in reversed(years)
    ]


def _cell(value: float | None) -> str:
    return "" if value is None else _percent(value, 1).removesuffix(" %")


def _shade(value: float | None, full: float) -> str:
    """A class of the stylesheet: the page has no colours of its own."""
    if not value or full <= 0:
        return ""
    step = min(SHADES, 1 + int(abs(value) / full * SHADES))
    return f"{'gain' if value > 0 else 'loss'}-{step}"


def _percent(share: float | None, digits: int) -> str:
    if share is None:
        return "\N{EN DASH}"
    text = f"{abs(share) * 100:,.{digits}f}"
    if not any(digit in text for digit in "123456789"):
        return f"{text} %"
    return f"{'+' if share > 0 else chr(0x2212)}{text} %"


def _positions(found: Exported) -> list[dict[str, Any]]:
    """Those held, where it is shown how much; else every symbol that was traded."""
    if found.positions is None:
        return []
    some = found.positions.items
    knows = any(one.value is not None for one in some)
    amounts = _Amounts(found.shared)
    return [_position(one, amounts) for one in some if not knows or not _is_flat(one)]


def _is_flat(one: SharedPosition) -> bool:
    """What is null is hidden, or unknown."""
    return one.size == 0 or (one.size is None and one.value == 0)


def _position(one: SharedPosition, amounts: _Amounts) -> dict[str, Any]:
    gains = {
        "unrealized": amounts.gain(one.unrealized, one.currency),
        "realized": amounts.gain(one.realized, one.currency),
    }
    return {
        "symbol": one.symbol or "",
        "size": figures.quantity(one.size),
        "average_price": figures.price(one.average_price),
        "last_price": figures.price(one.last_price),
        "value": amounts.money(one.value, one.currency),
        **gains,
        "fills": f"{one.fills:,}",
        "signs": {name: figures.tone(text) for name, text in gains.items()},
    }


def _trade(one: SharedTrade, amounts: _Amounts) -> dict[str, Any]:
    profit = amounts.gain(one.profit, one.currency)
    return {
        "time": moment(one.time),
        "symbol": one.symbol or "",
        "side": one.side or "",
        "exchange": one.exchange or "",
        "type": (one.type or "").removeprefix("spot-"),
        "price": figures.price(one.price),
        "size": _size(one),
        "profit": profit if one.is_computed else figures.NOTHING,
        "signs": {"profit": figures.tone(profit)},
        "status": (one.status or "").replace("_", " "),
        "annotation": one.annotation or "",
        "note": _note(one),
        "late": "" if one.late_by is None else _late(one),
        "changes": [words.said(change) for change in one.changes],
    }


def _size(one: SharedTrade) -> str:
    """Filled / ordered, where they differ."""
    if one.ordered is None or one.ordered == one.size:
        return figures.quantity(one.size)
    return f"{figures.quantity(one.size or 0.0)} / {figures.quantity(one.ordered)}"


def _note(one: SharedTrade) -> str:
    if one.estimated:
        return "estimated"
    return "assumed" if one.assumed else ""


def _trip(one: SharedTrip, amounts: _Amounts) -> dict[str, Any]:
    profit = amounts.gain(one.profit, None)
    percent = "" if one.profit_percent is None else _percent(one.profit_percent, 2)
    return {
        "symbol": one.symbol or "",
        "entry": moment(one.entry_time),
        "exit": moment(one.exit_time),
        "entry_price": figures.price(one.entry_price),
        "exit_price": figures.price(one.exit_price),
        "size": figures.quantity(one.size),
        "profit": profit,
        "percent": percent,
        "sign": figures.tone(percent),
        "signs": {"profit": figures.tone(profit)},
    }


def _late(one: SharedTrade) -> str:
    is_changed = any(change.sort == "changed" for change in one.changes)
    return f"{words.length(one.late_by or 0.0)} {'after: changed' if is_changed else 'late'}"
