"""Charts of the tear sheet as SVG, drawn here: nothing is loaded, no script runs, it prints."""

import math
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from tapeline.results.metrics.account import Floats

WIDE, NARROW = 1000.0, 420.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 12.0, 10.0, 24.0
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
HOUR, DAY = 3600.0, 86400.0
# The shortest span for which a step of the time axis reads well, and how its ticks are written.
UNITS = (
    (3 * 365 * DAY, "Y", "%Y"),
    (100 * DAY, "M", "%b %Y"),
    (3 * DAY, "D", "%b %d"),
    (4 * HOUR, "h", "%b %d %H:%M"),
    (240.0, "m", "%H:%M"),
    (0.0, "s", "%H:%M:%S"),
)
# Steps that people count in, by unit.
EVERY = {
    "Y": (1, 2, 5, 10, 20, 50),
    "M": (1, 2, 3, 6),
    "D": (1, 2, 5, 7, 14),
    "h": (1, 2, 3, 6, 12),
    "m": (1, 2, 5, 10, 15, 30),
    "s": (1, 2, 5, 10, 15, 30),
}
ROOM = 120.0  # units of the drawing that a tick of the time axis takes


class Frame(NamedTuple):
    """Where a chart's values lie on paper."""

    width: float
    height: float
    start: float
    end: float
    low: float
    high: float

    def x(self, time: float) -> float:
        span = (self.end - self.start) or 1.0
        return LEFT + (time - self.start) / span * (self.width - LEFT - RIGHT)

    def y(self, value: float) -> float:
        span = (self.high - self.low) or 1.0
        return TOP + (self.high - value) / span * (self.height - TOP - BOTTOM)


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
) -> str:
    """A line over time with its area down to the baseline; `kind` is its class in the style."""
    there = ~np.isnan(values)
    times, values = times[there], values[there]
    if len(times) < 2 or times[-1] <= times[0]:
        return ""
    low, high = float(values.min()), float(values.max())
    if not math.isfinite(high - low):
        return ""
    if baseline is not None:
        low, high = min(low, baseline), max(high, baseline)
    ticks = round_steps(low, high)
    frame = Frame(width, height, float(times[0]), float(times[-1]), ticks[0], ticks[-1])
    foot = frame.y(frame.low if baseline is None else baseline)
    line = " ".join(
        f"{frame.x(time):.1f},{frame.y(value):.1f}"
        for time, value in zip(times.tolist(), values.tolist(), strict=True)
    )
    area = f"{frame.x(frame.start):.1f},{foot:.1f} {line} {frame.x(frame.end):.1f},{foot:.1f}"
    return "".join(
        [
            f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{title}"'
            f' class="chart {kind}">',
            _value_axis(frame, ticks, percent=percent),
            _time_axis(frame),
            f'<polygon class="area" points="{area}"/><polyline class="line" points="{line}"/>',
            _last(frame, float(times[-1]), float(values[-1])),
            "</svg>",
        ]
    )


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
    ticks = round_steps(min(0.0, *values), max(0.0, *values))
    frame = Frame(width, height, 0.0, float(len(values)), ticks[0], ticks[-1])
    zero, room = frame.y(0.0), frame.x(1.0) - frame.x(0.0)
    thick = min(room * 0.6, 60.0)
    every = max(1, math.ceil(len(labels) * 70 / width))
    parts = []
    for place, (label, value) in enumerate(zip(labels, values, strict=True)):
        middle, top = frame.x(place + 0.5), min(frame.y(value), zero)
        tall = max(abs(frame.y(value) - zero), 1.0)
        side = "gain" if value >= 0 else "loss"
        parts.append(
            f'<rect class="{side}" x="{middle - thick / 2:.1f}" y="{top:.1f}" width="{thick:.1f}"'
            f' height="{tall:.1f}" rx="2"><title>{label}: {value:+.1%}</title></rect>'
        )
        if place % every == 0:
            parts.append(
                f'<text class="tick" x="{middle:.1f}" y="{height - 6:.1f}"'
                f' text-anchor="middle">{label}</text>'
            )
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{title}"'
        f' class="chart bars">{_value_axis(frame, ticks, percent=True)}{"".join(parts)}</svg>'
    )


def _value_axis(frame: Frame, ticks: list[float], *, percent: bool) -> str:
    step = ticks[1] - ticks[0]
    parts = []
    for tick in ticks:
        y = frame.y(tick)
        zero = " zero" if abs(tick) < step / 1000 else ""
        parts.append(
            f'<line class="grid{zero}" x1="{LEFT}" x2="{frame.width - RIGHT}"'
            f' y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">'
            f"{tick_text(tick, step, percent=percent)}</text>"
        )
    return "".join(parts)


def tick_text(value: float, step: float, *, percent: bool) -> str:
    """A tick in as many digits as tell it from its neighbours."""
    unit = "%" if percent else ""
    if percent:
        value, step = value * 100, step * 100
    else:
        for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
            if abs(value) >= 10 * size and step >= size / 100:
                value, step, unit = value / size, step / size, letter
                break
    digits = 0
    while digits < 8 and abs(round(step, digits) - step) > step / 1000:
        digits += 1
    text = f"{value:,.{digits}f}"
    return (text if float(text.replace(",", "")) else text.removeprefix("-")) + unit


def time_ticks(start: float, end: float, most: int) -> list[tuple[float, str]]:
    """At most so many round moments, each with how it is written."""
    unit, form = next((unit, form) for least, unit, form in UNITS if end - start >= least)
    ends = (np.datetime64(int(one), "s").astype(f"M8[{unit}]") for one in (start, end))
    first, last = (int(one.astype("i8")) for one in ends)
    rough = max(1, math.ceil((last - first) / most))
    every = next((one for one in EVERY[unit] if one >= rough), rough)
    # Multiples since the epoch: whole quarters, half hours, ten minutes.
    numbers = np.arange(-(-(first + 1) // every) * every, last + 1, every)
    moments = numbers.astype(f"M8[{unit}]").astype("M8[s]").astype("f8").tolist()
    return [(one, datetime.fromtimestamp(one, UTC).strftime(form)) for one in moments]


def _time_axis(frame: Frame) -> str:
    parts = []
    for seconds, text in time_ticks(frame.start, frame.end, int(frame.width / ROOM)):
        x = frame.x(seconds)
        anchor = "end" if x > frame.width - RIGHT - 30 else "middle"
        parts.append(
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}"'
            f' y2="{frame.height - BOTTOM}"/><text class="tick" x="{x:.1f}"'
            f' y="{frame.height - 6:.1f}" text-anchor="{anchor}">{text}</text>'
        )
    return "".join(parts)


def _last(frame: Frame, time: float, value: float) -> str:
    return f'<circle class="last" cx="{frame.x(time):.1f}" cy="{frame.y(value):.1f}" r="3.5"/>'


def round_steps(low: float, high: float) -> list[float]:
    """Four to six round numbers that enclose the values."""
    if not high > low:
        spread = abs(low) * 0.01 or 1.0
        low, high = low - spread, high + spread
    rough = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(one * size for one in STEPS if one * size >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]
