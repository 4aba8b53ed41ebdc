"""What the charts of a tear sheet show: series over time, and a bar for each year."""

import math
from datetime import UTC, tzinfo

from tapeline.results.charts import svg
from tapeline.results.charts.svg import Curve, Layout, Plot
from tapeline.results.charts.ticks import value_texts, value_ticks
from tapeline.results.metrics.account import Floats

WIDE, NARROW = 1000.0, 420.0
LAYOUT = Layout(
    left=64.0,
    right=12.0,
    top=10.0,
    bottom=24.0,
    labels="left",
    tick_width=120.0,
    last_label=30.0,
    time_grid=True,
)
LABEL = 70  # units that the name of a bar takes


def line_chart(
    times: Floats,
    values: Floats,
    *,
    title: str,
    kind: str,
    width: float = WIDE,
    height: float = 260.0,
    percent: bool = False,
    baseline: float | None = None,
    zone: tzinfo = UTC,
) -> str:
    """A line over time with its area down to the baseline; `kind` is its class in the style."""
    curve = Curve.of(zip(times.tolist(), values.tolist(), strict=True), baseline)
    if curve is None:
        return ""
    plot = curve.plot(LAYOUT._replace(zone=zone), width, height)
    parts = (
        svg.value_axis(plot, curve.ticks, value_texts(curve.ticks, percent=percent)),
        svg.time_axis(plot),
        svg.line_and_area(plot, curve.points, plot.base(baseline), 'class="area"'),
        svg.last_point(plot, *curve.points[-1]),
    )
    return svg.drawing(plot, parts, title=title, classes=f"chart {kind}")


def bar_chart(
    labels: list[str],
    values: list[float],
    *,
    title: str,
    width: float = NARROW,
    height: float = 200.0,
) -> str:
    """A bar for each year, above or below zero."""
    if not values or not math.isfinite(max(values) - min(values)):
        return ""
    ticks = value_ticks(min(0.0, *values), max(0.0, *values))
    plot = Plot(LAYOUT, width, height, 0.0, float(len(values)), ticks[0], ticks[-1])
    every = max(1, math.ceil(len(labels) * LABEL / width))
    parts = [svg.value_axis(plot, ticks, value_texts(ticks, percent=True))]
    for place, (label, value) in enumerate(zip(labels, values, strict=True)):
        parts.append(_bar(plot, place + 0.5, label, value))
        if place % every == 0:
            parts.append(svg.foot_label(plot, plot.x(place + 0.5), label))
    return svg.drawing(plot, parts, title=title, classes="chart bars")


def _bar(plot: Plot, place: float, label: str, value: float) -> str:
    zero, middle = plot.y(0.0), plot.x(place)
    thick = min((plot.x(1.0) - plot.x(0.0)) * 0.6, 60.0)
    top, tall = min(plot.y(value), zero), max(abs(plot.y(value) - zero), 1.0)
    side = "gain" if value >= 0 else "loss"
    return (
        f'<rect class="{side}" x="{middle - thick / 2:.1f}" y="{top:.1f}" width="{thick:.1f}"'
        f' height="{tall:.1f}" rx="2"><title>{label}: {value:+.1%}</title></rect>'
    )
