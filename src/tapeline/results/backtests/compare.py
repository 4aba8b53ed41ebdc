"""Backtests side by side: on one axis of time, from one start, metric by metric."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection

from tapeline.results.backtests import reports
from tapeline.results.charts import pyramid
from tapeline.results.metrics import all_metrics
from tapeline.results.metrics.account import Floats
from tapeline.results.metrics.report_fields import (
    Align,
    Base,
    Compared,
    ComparedMetric,
    Comparison,
    Report,
)

MOST = 8
BASE = 100.0
ROUNDING = 1e-6  # seconds by which an axis of even steps may be off


def compare(
    connection: Connection,
    rows: Sequence[Any],
    *,
    labels: Sequence[str | None],
    align: Align,
    points: int,
    start: float | None,
    end: float | None,
    base: Base = "window",
) -> Comparison:
    """`rows` are the stored rows of the backtests."""
    found = [None if row.upload is None else reports.load(connection, row.upload) for row in rows]
    axis = _axis(found, align, points, start, end)
    items = [
        _compared(connection, row, report, label, align, axis, base)
        for row, report, label in zip(rows, found, labels, strict=True)
    ]
    return Comparison(
        align=align, times=axis.tolist(), items=items, metrics=list(_side_by_side(found))
    )


def _axis(
    found: Sequence[Report | None],
    align: Align,
    points: int,
    start: float | None,
    end: float | None,
) -> Floats:
    spans = [
        (report.basis.first, report.basis.last)
        for report in found
        if report is not None and report.basis.first is not None and report.basis.last is not None
    ]
    if not spans:
        return np.empty(0)
    if align == "start":
        low, high = 0.0, max(last - first for first, last in spans)
    else:
        low, high = min(first for first, _ in spans), max(last for _, last in spans)
    low, high = low if start is None else start, high if end is None else end
    if high < low:
        return np.empty(0)
    if high == low:
        return np.array([low])
    own = 0.0 if align == "time" else 1.0  # each one's time begins with itself
    ends = [moment - own * first for first, last in spans for moment in (first, last)]
    return _with_ends(np.linspace(low, high, points), np.unique(ends))


def _with_ends(axis: Floats, ends: Floats) -> Floats:
    """Even steps, except that each first and last value has a step of its own, in the place of the
    nearest one: a curve must not end before its last value."""
    inner = ends[(ends > axis[0]) & (ends < axis[-1])]
    if not len(inner):
        return axis
    kept = np.ones(len(axis), dtype=bool)
    kept[np.abs(axis[:, None] - inner).argmin(axis=0)] = False
    kept[[0, -1]] = True
    return np.unique(np.concatenate([axis[kept], inner]))


def _compared(
    connection: Connection,
    row: Any,
    report: Report | None,
    label: str | None,
    align: Align,
    axis: Floats,
    base: Base,
) -> Compared:
    item = Compared(
        backtest_id=row.id, label=label, first=None, last=None, values=[None] * len(axis)
    )
    if report is None or report.basis.first is None or report.basis.last is None:
        item.reason = "There is no account value."
        return item
    item.first, item.last = report.basis.first, report.basis.last
    if not len(axis):
        return item
    moments = axis + report.basis.first if align == "start" else axis
    times, values = pyramid.within(
        connection,
        row.upload,
        "equity",
        points=len(axis),
        start=float(moments[0]) - ROUNDING,
        end=float(moments[-1]) + ROUNDING,
        known_at_start=True,
    )
    there = ~np.isnan(values)
    times, values = times[there], values[there]
    # The last one known at each moment.
    places = np.searchsorted(times, moments + ROUNDING, side="right") - 1
    within = (places >= 0) & (moments <= report.basis.last + ROUNDING)
    if not within.any():
        return item
    known = values[places[within]]
    # Fewer values are read of a long series, perhaps not the last.
    known[moments[within] >= report.basis.last - ROUNDING] = report.basis.last_value
    first = report.basis.first_value if base == "start" else known[0]
    if first is None or first <= 0:
        item.reason = "It starts from an account value that is not positive."
        return item
    rebased = np.full(len(axis), np.nan)
    with np.errstate(all="ignore"):
        rebased[within] = BASE * (known / first)
    item.values = [float(value) if np.isfinite(value) else None for value in rebased]
    return item


def _side_by_side(found: Sequence[Report | None]) -> Any:
    for name, metric in all_metrics.BY_NAME.items():
        values = [
            None if report is None or name not in report.computed else report.computed[name].value
            for report in found
        ]
        yield ComparedMetric(
            name=name,
            display_name=metric.display_name,
            type=metric.type,
            explanation=metric.explanation,
            values=values,
            best=_best(name, values),
        )


def _best(name: str, values: list[float | None]) -> list[int]:
    known = [value for value in values if value is not None]
    if name in all_metrics.NEITHER or len(known) < 2:
        return []
    best = min(known) if name in all_metrics.HIGHER_IS_WORSE else max(known)
    return [place for place, value in enumerate(values) if value == best]
