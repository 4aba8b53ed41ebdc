"""The content of a tear sheet: charts, tables and notes about a backtest."""

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

import numpy as np
from sqlalchemy import Connection

from tapeline import figures, moments, zones
from tapeline.results.backtests import reports
from tapeline.results.charts import pyramid
from tapeline.results.charts import tear_sheet_charts as charts
from tapeline.results.metrics import all_metrics
from tapeline.results.metrics.account import DAY
from tapeline.results.metrics.deflated import Deflated
from tapeline.results.metrics.report_fields import Report, Shown, Type

DETAIL = 700  # points of a chart
HEADLINES = (
    "total_return", "cagr", "sharpe", "sortino", "max_drawdown", "volatility", "win_rate_trades",
)  # fmt: skip
NEUTRAL = ("volatility", "ulcer_index", "probabilistic_sharpe", "kelly", "fees")
MOST_SYMBOLS = 12
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def facts(
    connection: Connection,
    upload: str,
    *,
    backtest: Mapping[str, Any],
    model_name: str,
    trials: Deflated,
    report: Report | None = None,
    equity: tuple[Any, Any] | None = None,
    zone: tzinfo = UTC,
) -> dict[str, Any]:
    """Everything that the template shows, formatted; `backtest` as the API shows it. A caller that
    shows less passes its own report and account values."""
    report = report or reports.load(connection, upload)
    shown, unit = all_metrics.shown(report.computed), str(backtest.get("quote_asset") or "")
    return {
        "model_name": model_name,
        "backtest": backtest,
        "title": named(backtest),
        "lead": backtest["description"] if backtest.get("label") else None,
        "period": _period(report, zone),
        "made_at": _time(datetime.now(UTC).timestamp(), zone),
        "zone": zones.name_of(zone),
        "headlines": [
            _figure(name, shown[name], unit, zone) for name in HEADLINES if name in shown
        ],
        "deflated": written(trials.deflated_sharpe, "percent", ""),
        "trials": trials,
        "expected_best": written(trials.expected_best, "number", ""),
        "charts": _charts(connection, upload, report, equity, zone),
        "months": MONTHS,
        "years": _years(report),
        "drawdowns": [_drawdown(one, zone) for one in report.drawdowns],
        "symbols": [
            {
                "symbol": one.symbol,
                "round_trips": f"{one.round_trips:,}",
                "win_rate": written(one.win_rate, "percent", ""),
                "profit": written(one.profit, "money", unit),
                "sign": figures.tone(written(one.profit, "money", unit)),
            }
            for one in report.trips.symbols[:MOST_SYMBOLS]
        ],
        "more_symbols": max(0, len(report.trips.symbols) - MOST_SYMBOLS),
        "groups": {
            title: [
                _figure(row.name, shown[row.name], unit, zone) for row in rows if row.name in shown
            ]
            for title, rows in all_metrics.GROUPS.items()
        },
        "custom": [
            (one.get("display_name") or name, _custom(one, unit, zone))
            for name, one in all_metrics.custom(backtest["metrics"]["custom"]).items()
        ],
        "basis": report.basis,
        "warnings": _warnings(report),
    }


def named(backtest: Mapping[str, Any]) -> str:
    """Its label, or else its description, or else the start of its id, as on the pages."""
    words = backtest.get("label") or backtest.get("description")
    return words or f"Backtest {backtest['backtest_id'][:8]}"


def written(value: float | None, kind: Type | str, unit: str, zone: tzinfo = UTC) -> str:
    """A figure as people read it."""
    if value is None:
        return "–"  # noqa: RUF001 - a dash stands for nothing
    if kind == "time":
        return _time(value, zone)
    if kind == "money":
        # With a space that splits: links show the currency smaller than its amount.
        return figures.money(value, unit or None).replace("\N{NO-BREAK SPACE}", " ")
    if kind == "count":
        return figures.integer(value)
    write = {"percent": figures.percent, "days": figures.days}.get(kind, figures.ratio)
    return write(value)


def _signed(text: str) -> str:
    """With the minus of the pages, and none before nothing."""
    nothing_unsigned = figures.without_sign_of_nothing(text)
    return figures.MINUS + text[1:] if nothing_unsigned.startswith("-") else nothing_unsigned


def _custom(one: Mapping[str, Any], unit: str, zone: tzinfo) -> str:
    """A metric of the model's own, as the pages write it."""
    value, kind = one.get("value"), one.get("type")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return written(float(value), "percent" if kind == "percentage" else str(kind), unit, zone)
    return "–" if value is None else str(value)  # noqa: RUF001


def _figure(name: str, shown: Shown, unit: str, zone: tzinfo) -> dict[str, Any]:
    value = written(shown.value, shown.type, unit, zone)
    return {
        "name": name,
        "label": shown.display_name,
        "value": value,
        "hint": shown.explanation + (f" {shown.reason}" if shown.reason else ""),
        "reason": shown.reason,
        "sign": figures.tone(value) if _is_gain_or_loss(name, shown.type) else "",
    }


def _is_gain_or_loss(name: str, kind: Type) -> bool:
    """A share of days is not a gain, however large."""
    return kind in {"percent", "money"} and not name.startswith(("win_rate", "exposure", *NEUTRAL))


def _sign(value: float | None) -> str:
    return "" if not value else "gain" if value > 0 else "loss"


def _time(seconds: float, zone: tzinfo) -> str:
    found = moments.moment(seconds, zone)
    if found is None:
        return "–"  # noqa: RUF001
    if found.tzinfo is not zone:  # beside the name of another zone
        return found.strftime("%Y-%m-%d %H:%M UTC")
    is_midnight = moments.wall(seconds, zone) % DAY == 0
    return found.strftime("%Y-%m-%d" if is_midnight else "%Y-%m-%d %H:%M")


def _period(report: Report, zone: tzinfo) -> str:
    first, last = report.basis.first, report.basis.last
    if first is None or last is None:
        return ""
    return f"{_time(first, zone)} to {_time(last, zone)} {zones.name_of(zone)}"


def _charts(
    connection: Connection,
    upload: str,
    report: Report,
    equity: tuple[Any, Any] | None,
    zone: tzinfo,
) -> dict[str, str]:
    def of(name: str) -> tuple[Any, Any]:
        times, values = pyramid.within(connection, upload, name, points=DETAIL)
        if name == "equity" and equity is not None:
            times, values = equity
        from tapeline.tape.backtest_results.series import thinned  # noqa: PLC0415 - beside its only use

        points = thinned(times, values, DETAIL)
        return (
            np.array([one.time for one in points]),
            np.array([np.nan if one.value is None else one.value for one in points]),
        )

    return {
        "equity": charts.line_chart(*of("equity"), zone=zone, title="Account value", kind="equity"),
        "drawdown": charts.line_chart(
            *of("drawdown"),
            zone=zone,
            title="Drawdown",
            kind="drawdown",
            height=170,
            percent=True,
            baseline=0.0,
        ),
        "sharpe": charts.line_chart(
            *of("rolling_sharpe"),
            zone=zone,
            title="Rolling Sharpe ratio",
            kind="sharpe",
            width=charts.NARROW,
            height=200,
            baseline=0.0,
        ),
        "volatility": charts.line_chart(
            *of("rolling_volatility"),
            zone=zone,
            title="Rolling volatility",
            kind="volatility",
            width=charts.NARROW,
            height=200,
            percent=True,
            baseline=0.0,
        ),
        "years": charts.bar_chart(
            [one.period for one in report.years if one.value is not None],
            [one.value for one in report.years if one.value is not None],
            title="Return by year",
        ),
    }


def _years(report: Report) -> list[dict[str, Any]]:
    """Rows of the table of months; each cell shaded relative to the largest value."""
    months = {one.period: one.value for one in report.months}
    largest = max((abs(value or 0.0) for value in months.values()), default=0.0) or 1.0
    rows = []
    for year in reversed(report.years):
        cells = [months.get(f"{year.period}-{month:02}") for month in range(1, 13)]
        rows.append(
            {
                "year": year.period,
                "total": _share(year.value),
                "sign": figures.tone(_share(year.value)),
                "cells": [
                    {
                        "text": "" if value is None else _signed(f"{100 * value:.1f}"),
                        "sign": _sign(value),
                        # Square roots, so that one extreme month does not leave all others pale.
                        "shade": round(8 + 62 * (abs(value or 0.0) / largest) ** 0.5),
                    }
                    for value in cells
                ],
            }
        )
    return rows


def _share(value: float | None) -> str:
    return "\N{EN DASH}" if value is None else _signed(f"{100 * value:,.1f} %")


def _drawdown(one: Any, zone: tzinfo) -> dict[str, str]:
    return {
        "depth": written(one.depth, "percent", ""),
        "start": _time(one.start, zone),
        "valley": _time(one.valley, zone),
        "end": "not yet" if one.end is None else _time(one.end, zone),
        "days": f"{one.seconds / DAY:,.0f}" if one.seconds >= DAY else f"{one.seconds / DAY:.2f}",
    }


def _warnings(report: Report) -> list[str]:
    notes, said = report.basis.notes, list(report.trips.warnings)
    for count, what in (
        (notes.missing, "are null and were left out"),
        (notes.duplicates, "have the time of a later one and were left out"),
        (notes.impossible, "have an impossible time and were left out"),
    ):
        if count:
            said.append(f"{count:,} of {notes.sent:,} account values {what}.")
    if notes.unsorted:
        said.append("The account values were not in the order of their times.")
    return said
