"""What the page of a link says: figures, charts and tables of what the link leaves, written out."""

from typing import Any

import numpy as np

from tapeline.results import tear_sheet_charts as charts
from tapeline.results.tear_sheet import MONTHS, written
from tapeline.sharing.exhibit import Exhibit, Stretch
from tapeline.sharing.shown import Exported, SharedTrade, Unit
from tapeline.tape.series import Point

DETAIL = 700  # points of a chart
TRADES = 30
UNITS: dict[Unit, str] = {
    "money": "in money",
    "percent": "rebased to 100 %",
    "index": "as an index: 100 is the distance from the lowest to the highest value",
}


def facts(exhibit: Exhibit) -> dict[str, Any]:
    found = exhibit.everything(Stretch(points=DETAIL), TRADES)
    head = found.shared
    return {
        "head": head,
        "unit": UNITS[found.curve.unit],
        "curve": chart(found.curve.items, found.curve.unit, "Curve", "equity", 300.0),
        "drawdown": chart(found.drawdown.items, found.drawdown.unit, "Drawdown", "drawdown", 150.0),
        "months": MONTHS,
        "years": [
            {
                "year": one.year,
                "total": f"{one.value:.1%}",
                "sign": sign(one.value),
                "cells": [(_share(value), sign(value)) for value in one.months],
            }
            for one in reversed(found.periods.years)
        ],
        "trades": [_trade(one) for one in found.trades.items],
        "more_trades": max(0, head.trades - len(found.trades.items)),
        "columns": _columns(found),
        "hidden": hidden(exhibit),
    }


def chart(items: list[Point], unit: Unit, title: str, kind: str, height: float) -> str:
    times = np.array([one.time for one in items])
    values = np.array([np.nan if one.value is None else one.value for one in items])
    # A drawdown in percent is a share; a rebased curve counts in hundreds.
    is_share = kind == "drawdown"
    percent = unit == "percent"
    scaled = values / 100.0 if percent and not is_share else values
    baseline = 0.0 if is_share or unit != "percent" else None
    return charts.line_chart(
        times, scaled, title=title, kind=kind, height=height, percent=percent, baseline=baseline
    )


def hidden(exhibit: Exhibit) -> list[str]:
    """What the owner chose not to show, in words."""
    choices = exhibit.choices
    said = [
        (choices.percent_only, "amounts of money and sizes"),
        (choices.hide_symbols, "symbols and prices"),
        (choices.hide_sizes and not choices.percent_only, "sizes"),
        (not choices.shows_texts, "logs and annotations"),
    ]
    return [words for is_so, words in said if is_so]


def sign(value: float | None) -> str:
    return "" if not value else "gain" if value > 0 else "loss"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}".replace("-0.0", "0.0")


def _columns(found: Exported) -> list[str]:
    """Those of which anything is there."""
    names = ("exchange", "type", "price", "size", "profit", "status", "annotation")
    return [
        name for name in names if any(getattr(one, name) is not None for one in found.trades.items)
    ]


def _trade(one: SharedTrade) -> dict[str, Any]:
    return {
        "time": "" if one.time is None else written(one.time, "time", ""),
        "symbol": one.symbol or "",
        "side": one.side or "",
        "exchange": one.exchange or "",
        "type": one.type or "",
        "price": _number(one.price),
        "size": _number(one.size),
        "profit": _number(one.profit),
        "status": one.status or "",
        "annotation": one.annotation or "",
        "late": "" if one.late_by is None else _length(one.late_by),
    }


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.8g}"


def _length(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:,.0f} {unit} late"
    return f"{seconds:,.0f} s late"
