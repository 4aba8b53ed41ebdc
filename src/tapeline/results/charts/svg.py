"""How every SVG chart is drawn: where values lie, the axes, a line and its area.

Nothing is loaded and no script runs, so a chart prints and works in any page; colours come from the
page's style sheet. What a chart shows is up to `tear_sheet_charts` and `sharing/pages/chart`.
"""

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, tzinfo
from typing import Literal, NamedTuple

from tapeline.results.charts.ticks import time_ticks, value_ticks

TEXT = 0.85  # of the units of a label: the rest is space
EDGE = 40.0  # units: a label whose middle is closer to the left edge than this starts there


class Layout(NamedTuple):
    """What charts of one page have in common: their margins and the look of their axes."""

    left: float
    right: float
    top: float
    bottom: float
    labels: Literal["left", "right"]
    """The side of the values' labels."""
    tick_width: float
    """Units that a label of the time axis takes."""
    last_label: float
    """Units from the right end of the time axis within which a label ends at its tick."""
    time_grid: bool
    zone: tzinfo = UTC
    """In which the moments of the time axis are round."""


class Plot(NamedTuple):
    """Where times and values lie on a drawing."""

    layout: Layout
    width: float
    height: float
    start: float
    end: float
    low: float
    high: float

    @property
    def left(self) -> float:
        return self.layout.left

    @property
    def right(self) -> float:
        return self.width - self.layout.right

    @property
    def top(self) -> float:
        return self.layout.top

    @property
    def foot(self) -> float:
        return self.height - self.layout.bottom

    def base(self, baseline: float | None) -> float:
        """The value down to which an area reaches: the baseline, if the drawing has it."""
        if baseline is None or not self.low <= baseline <= self.high:
            return self.low
        return baseline

    def x(self, time: float) -> float:
        return self.left + (time - self.start) / (self.end - self.start) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.top + (self.high - value) / (self.high - self.low) * (self.foot - self.top)


class Curve(NamedTuple):
    """A series that can be drawn, and the ticks that enclose its values."""

    points: list[tuple[float, float]]
    ticks: list[float]

    @classmethod
    def of(
        cls, points: Iterable[tuple[float, float | None]], baseline: float | None
    ) -> "Curve | None":
        """None if it cannot be drawn: fewer than two values, or values that no axis can hold."""
        known = [
            (time, value)
            for time, value in points
            if value is not None and math.isfinite(value) and math.isfinite(time)
        ]
        if len(known) < 2 or known[-1][0] <= known[0][0]:
            return None
        low, high = min(value for _, value in known), max(value for _, value in known)
        if not math.isfinite(high - low):
            return None
        if baseline is not None and _is_near(baseline, low, high):
            low, high = min(low, baseline), max(high, baseline)
        return cls(known, value_ticks(low, high))

    def beside(self, other: "Curve") -> "Curve":
        """The same on an axis that holds the values of both."""
        values = [value for _, value in (*self.points, *other.points)]
        return self._replace(ticks=value_ticks(min(values), max(values)))

    def plot(self, layout: Layout, width: float, height: float) -> Plot:
        start, end = self.points[0][0], self.points[-1][0]
        return Plot(layout, width, height, start, end, self.ticks[0], self.ticks[-1])


def _is_near(baseline: float, low: float, high: float) -> bool:
    """An axis down to a far baseline would flatten the curve: an account of 95,000 to 108,000."""
    return low - baseline <= high - low and baseline - high <= high - low


def drawing(
    plot: Plot, parts: Iterable[str], *, title: str, classes: str, attributes: str = ""
) -> str:
    return (
        f'<svg viewBox="0 0 {plot.width:.0f} {plot.height:.0f}" role="img" aria-label="{title}"'
        f' class="{classes}"{attributes}>{"".join(parts)}</svg>'
    )


def line_and_area(
    plot: Plot, points: Sequence[tuple[float, float]], base: float, area_look: str
) -> str:
    """The line over its area, which reaches to `base`; `area_look` are attributes of the area."""
    line = _places(plot, points)
    foot = plot.y(base)
    area = f"{plot.left:.1f},{foot:.1f} {line} {plot.right:.1f},{foot:.1f}"
    return (
        f'<polygon {area_look} points="{area}"/><polyline class="line" points="{line}"/>'
    )  # fmt: skip


def other_line(plot: Plot, points: Sequence[tuple[float, float]]) -> str:
    """Of another series, to compare with."""
    return f'<polyline class="other" points="{_places(plot, points)}"/>'


def _places(plot: Plot, points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{plot.x(time):.1f},{plot.y(value):.1f}" for time, value in points)


def last_point(plot: Plot, time: float, value: float) -> str:
    return f'<circle class="last" cx="{plot.x(time):.1f}" cy="{plot.y(value):.1f}" r="3.5"/>'


def value_axis(
    plot: Plot,
    ticks: Sequence[float],
    texts: Sequence[str],
    *,
    covered: float = -math.inf,
) -> str:
    """Ticks with their labels. A label that something at the height `covered` hides is left out."""
    if plot.layout.labels == "left":
        place = f'x="{plot.left - 8:g}"', ' text-anchor="end"'
    else:
        place = f'x="{plot.right + 8:g}"', ""
    parts = []
    for tick, text in zip(ticks, texts, strict=True):
        y, zero = plot.y(tick), " zero" if tick == 0 else ""
        parts.append(
            f'<line class="grid{zero}" x1="{plot.left:g}" x2="{plot.right:g}"'
            f' y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        if abs(y - covered) > 16:
            parts.append(f'<text class="tick" {place[0]} y="{y + 4:.1f}"{place[1]}>{text}</text>')
    return "".join(parts)


def time_axis(plot: Plot) -> str:
    parts, free, wide = [], 0.0, TEXT * plot.layout.tick_width
    most = max(2, int(plot.right / plot.layout.tick_width))
    for seconds, text in time_ticks(plot.start, plot.end, most, plot.layout.zone):
        x = plot.x(seconds)
        if plot.layout.time_grid:
            parts.append(vertical_line(plot, "grid", x))
        near_end = x > plot.right - plot.layout.last_label
        anchor = "start" if x < EDGE else "end" if near_end else "middle"
        left = x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        if left < free:  # one that ends at its tick would lie over the one before
            continue
        free = left + wide
        parts.append(foot_label(plot, x, text, anchor))
    return "".join(parts)


def foot_label(plot: Plot, x: float, text: str, anchor: str = "middle") -> str:
    y = plot.foot + 18
    return f'<text class="tick" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def vertical_line(plot: Plot, name: str, x: float) -> str:
    return f'<line class="{name}" x1="{x:.1f}" x2="{x:.1f}" y1="{plot.top:g}" y2="{plot.foot:g}"/>'
