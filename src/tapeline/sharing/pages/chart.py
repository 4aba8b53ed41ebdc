"""The curves of a shared page as SVG, once for each width of screen, because letters that are made
smaller with their drawing cannot be read. They stand there without any script."""

import math
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from tapeline.results.charts.tear_sheet_charts import round_steps, tick_text, time_ticks
from tapeline.sharing.exhibits.answers import SharedMark, SharedTrade, Unit
from tapeline.tape.backtest_results.series import Point

Kind = Literal["curve", "drawdown"]

LEFT, RIGHT, TOP, BOTTOM = 2.0, 66.0, 16.0, 26.0
ROOM = 90.0  # units that a tick of the time axis takes
BUCKET = 16.0  # units within which trades of one side share an arrow
ARROW = 5.0


class Shape(NamedTuple):
    name: str
    width: float
    height: float
    low_height: float
    """Of the drawdown."""


SHAPES = (
    Shape("wide", 1000.0, 320.0, 150.0),
    Shape("middle", 680.0, 300.0, 150.0),
    Shape("narrow", 380.0, 250.0, 140.0),
)


class Frame(NamedTuple):
    """Where values lie on a drawing."""

    width: float
    height: float
    start: float
    end: float
    low: float
    high: float

    def x(self, time: float) -> float:
        return LEFT + (time - self.start) / (self.end - self.start) * (self.width - LEFT - RIGHT)

    def y(self, value: float) -> float:
        span = self.high - self.low
        return TOP + (self.high - value) / span * (self.height - TOP - BOTTOM)

    @property
    def foot(self) -> float:
        return self.height - BOTTOM


class Drawing(NamedTuple):
    """One curve in every shape, and its points for a script that shows them."""

    svgs: list[str]
    times: str
    values: str
    unit: Unit
    last: str


def draw(
    items: Sequence[Point],
    unit: Unit,
    *,
    title: str,
    kind: Kind,
    marks: Sequence[SharedMark] = (),
    trades: Sequence[SharedTrade] = (),
) -> Drawing | None:
    """None for what is no curve: less than two values, or none that can be drawn."""
    known = [
        (one.time, one.value)
        for one in items
        if one.value is not None and math.isfinite(one.value) and math.isfinite(one.time)
    ]
    if len(known) < 2 or known[-1][0] <= known[0][0]:
        return None
    values = [value for _, value in known]
    low, high = min(values), max(values)
    if not math.isfinite(high - low):
        return None
    if kind == "drawdown" or unit != "percent":
        low, high = min(low, 0.0), max(high, 0.0)
    steps = round_steps(low, high)
    svgs = []
    for shape in SHAPES:
        height = shape.height if kind == "curve" else shape.low_height
        kept = steps if kind == "curve" else _fewer(steps)
        frame = Frame(shape.width, height, known[0][0], known[-1][0], steps[0], steps[-1])
        svgs.append(_svg(frame, shape, known, kept, unit, title, kind, marks, trades))
    return Drawing(
        svgs,
        " ".join(f"{time:.0f}" for time, _ in known),
        " ".join(f"{value:.8g}" for _, value in known),
        unit,
        _text(known[-1][1], steps, unit, kind),
    )


def _svg(
    frame: Frame,
    shape: Shape,
    known: list[tuple[float, float]],
    steps: list[float],
    unit: Unit,
    title: str,
    kind: Kind,
    marks: Sequence[SharedMark],
    trades: Sequence[SharedTrade],
) -> str:
    base = 0.0 if kind == "drawdown" else frame.low
    line = " ".join(f"{frame.x(time):.1f},{frame.y(value):.1f}" for time, value in known)
    foot = frame.y(base)
    area = f"{frame.x(frame.start):.1f},{foot:.1f} {line} {frame.x(frame.end):.1f},{foot:.1f}"
    shade = f"shade-{kind}-{shape.name}"
    return "".join(
        [
            f'<svg viewBox="0 0 {frame.width:.0f} {frame.height:.0f}" role="img"'
            f' aria-label="{title}" class="curve {kind} {shape.name}"'
            f' data-frame="{LEFT:g} {frame.width - RIGHT:g} {TOP:g} {frame.foot:g}'
            f' {frame.start:.3f} {frame.end:.3f} {frame.low!r} {frame.high!r}">',
            f'<defs><linearGradient id="{shade}" x1="0" x2="0" y1="0" y2="1">'
            '<stop class="most" offset="0"/><stop class="least" offset="1"/>'
            "</linearGradient></defs>",
            _downtimes(frame, marks),
            _values_axis(frame, steps, unit, kind, frame.y(known[-1][1])),
            _time_axis(frame),
            f'<polygon fill="url(#{shade})" points="{area}"/>'
            f'<polyline class="line" points="{line}"/>',
            _versions(frame, marks),
            _arrows(frame, known, trades),
            _end(frame, known[-1], steps, unit, kind),
            "</svg>",
        ]
    )


def _values_axis(frame: Frame, steps: list[float], unit: Unit, kind: Kind, taken: float) -> str:
    """`taken` is where the last value is written: a tick there would be hidden by half."""
    parts = []
    for step in steps:
        y = frame.y(step)
        zero = " zero" if step == 0 else ""
        parts.append(
            f'<line class="grid{zero}" x1="{LEFT:g}" x2="{frame.width - RIGHT:g}"'
            f' y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        if abs(y - taken) > 16:
            parts.append(
                f'<text class="tick" x="{frame.width - RIGHT + 8:g}" y="{y + 4:.1f}">'
                f"{_text(step, steps, unit, kind)}</text>"
            )
    return "".join(parts)


def _time_axis(frame: Frame) -> str:
    parts = []
    most = max(2, int((frame.width - RIGHT) / ROOM))
    for seconds, text in time_ticks(frame.start, frame.end, most):
        x = frame.x(seconds)
        anchor = "start" if x < 40 else "end" if x > frame.width - RIGHT - 24 else "middle"
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{frame.height - 8:.1f}"'
            f' text-anchor="{anchor}">{text}</text>'
        )
    return "".join(parts)


def _downtimes(frame: Frame, marks: Iterable[SharedMark]) -> str:
    parts = []
    for one in marks:
        start = max(one.time, frame.start)
        end = min(frame.end if one.until is None else one.until, frame.end)
        if one.kind == "downtime" and start < end:
            left, right = frame.x(start), frame.x(end)
            parts.append(
                f'<rect class="downtime" x="{left:.1f}" y="{TOP:g}" width="{right - left:.1f}"'
                f' height="{frame.foot - TOP:.1f}"><title>Not running</title></rect>'
            )
    return "".join(parts)


def _versions(frame: Frame, marks: Iterable[SharedMark]) -> str:
    parts = []
    taken = -math.inf  # where the last label ended: two on one another cannot be read
    for one in marks:
        if one.kind != "version" or not frame.start <= one.time <= frame.end:
            continue
        x = frame.x(one.time)
        parts.append(
            f'<line class="version" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP:g}" y2="{frame.foot:g}"/>'
        )
        if x > taken:
            text = f"v{one.version}"
            parts.append(f'<text class="mark" x="{x + 4:.1f}" y="{TOP - 4:g}">{text}</text>')
            taken = x + 8 + 8 * len(text)
    return "".join(parts)


def _arrows(frame: Frame, known: list[tuple[float, float]], trades: Iterable[SharedTrade]) -> str:
    """Grouped by place and side, so that a busy hour is one arrow and no side disappears."""
    buckets: dict[tuple[int, str], list[float]] = {}
    for one in trades:
        if one.time is None or one.side is None or not frame.start <= one.time <= frame.end:
            continue
        buckets.setdefault((int(frame.x(one.time) // BUCKET), one.side), []).append(one.time)
    parts = []
    for (_, side), times in sorted(buckets.items()):
        moment = times[len(times) // 2]
        x, y = frame.x(moment), frame.y(_value_at(known, moment))
        way = 1 if side == "buy" else -1
        tip, tail = y + way * 6, y + way * (6 + 1.7 * ARROW)
        count = f" ({len(times)})" if len(times) > 1 else ""
        parts.append(
            f'<polygon class="{side}" points="{x:.1f},{tip:.1f} {x - ARROW:.1f},{tail:.1f}'
            f' {x + ARROW:.1f},{tail:.1f}"><title>{side.capitalize()}{count}</title></polygon>'
        )
    return "".join(parts)


def _end(
    frame: Frame, last: tuple[float, float], steps: list[float], unit: Unit, kind: Kind
) -> str:
    """Where it stands now: a dot, and its value on the axis."""
    x, y = frame.x(last[0]), frame.y(last[1])
    left = frame.width - RIGHT + 2
    return (
        f'<circle class="last" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
        f'<rect class="pill" x="{left:g}" y="{y - 10:.1f}" width="{RIGHT - 2:g}" height="20"'
        ' rx="4"/>'
        f'<text class="now" x="{left + 6:g}" y="{y + 4:.1f}">'
        f"{_text(last[1], steps, unit, kind, finer=True)}</text>"
    )


def _text(value: float, steps: list[float], unit: Unit, kind: Kind, *, finer: bool = False) -> str:
    step = steps[1] - steps[0]
    if finer:
        step /= 50
        value = round(value / step) * step
    # A drawdown in percent is a share; a rebased curve counts in hundreds.
    scale = 100.0 if unit == "percent" and kind == "curve" else 1.0
    text = tick_text(value / scale, step / scale, percent=unit == "percent")
    return text.replace("-", "\N{MINUS SIGN}")


def _fewer(steps: list[float]) -> list[float]:
    """Every other one where there is little room, the last always."""
    return steps[::-1][::2][::-1] if len(steps) > 4 else steps


def _value_at(known: list[tuple[float, float]], moment: float) -> float:
    low, high = 0, len(known)
    while low < high:
        middle = (low + high) // 2
        if known[middle][0] <= moment:
            low = middle + 1
        else:
            high = middle
    return known[max(0, low - 1)][1]
