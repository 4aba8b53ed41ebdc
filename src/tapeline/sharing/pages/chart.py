"""What the curves of a shared page show, drawn once for each width of screen: letters that shrink
with their drawing cannot be read. They need no script."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from tapeline import figures
from tapeline.results.charts import svg
from tapeline.results.charts.svg import Curve, Layout, Plot
from tapeline.results.charts.ticks import value_texts
from tapeline.sharing.exhibits.answers import SharedMark, Unit
from tapeline.sharing.exhibits.exhibit import Arrow
from tapeline.tape.backtest_results.series import Point

Kind = Literal["curve", "drawdown"]

LAYOUT = Layout(
    left=2.0,
    right=66.0,
    top=16.0,
    bottom=26.0,
    labels="right",
    tick_width=90.0,
    last_label=24.0,
    time_grid=False,
)
BUCKET = 16.0  # units within which trades of one side share an arrow
ARROW = 5.0
HUNDRED = 100.0
# Units: of the axis of values, and of a digit on it, in the widest of the usual fonts.
LEAST_AXIS, LETTER = 66.0, 7.5


class Shape(NamedTuple):
    name: str
    width: float
    height: float
    drawdown_height: float


SHAPES = (
    Shape("wide", 1000.0, 320.0, 150.0),
    Shape("middle", 680.0, 300.0, 150.0),
    Shape("narrow", 380.0, 250.0, 140.0),
)


class Drawing(NamedTuple):
    """One curve in every shape, and its points for a script that shows them."""

    svgs: list[str]
    times: str
    values: str
    unit: Unit
    last: str


class Values(NamedTuple):
    """How values of a curve are written."""

    unit: Unit
    kind: Kind
    currency: str | None = None

    @property
    def scale(self) -> float:
        """A drawdown in percent is a fraction; a rebased curve counts in hundreds."""
        return HUNDRED if self.unit == "percent" and self.kind == "curve" else 1.0

    def texts(self, ticks: Sequence[float]) -> list[str]:
        scaled = [one / self.scale for one in ticks]
        return value_texts(scaled, percent=self.unit == "percent")

    def precise(self, value: float) -> str:
        """To the digits of the currency, or to a hundredth of a percent."""
        if self.unit == "percent":
            return f"{figures.hundredths(value / self.scale * HUNDRED)} %"
        return (
            figures.amount(value, self.currency)
            if self.unit == "money"
            else figures.hundredths(value)
        )


def draw(
    items: Sequence[Point],
    unit: Unit,
    *,
    title: str,
    kind: Kind,
    marks: Sequence[SharedMark] = (),
    arrows: Sequence[Arrow] = (),
    beside: Sequence[Point] = (),
    currency: str | None = None,
) -> Drawing | None:
    """`beside`: another series, to compare with. None if it cannot be drawn: fewer than two values,
    or values that no axis can hold."""
    baseline = 0.0 if kind == "drawdown" or unit != "percent" else None
    curve = Curve.of(((one.time, one.value) for one in items), baseline)
    if curve is None:
        return None
    other = Curve.of(((one.time, one.value) for one in beside), baseline)
    if other is not None:
        curve = curve.beside(other)
    values = Values(unit, kind, currency)
    last = values.precise(curve.points[-1][1])
    texts = [last, *values.texts(curve.ticks)]
    layout = LAYOUT._replace(right=max(LEAST_AXIS, LETTER * max(map(len, texts)) + 14))
    svgs = []
    for shape in SHAPES:
        height = shape.height if kind == "curve" else shape.drawdown_height
        plot = curve.plot(layout, shape.width, height)
        shade = f"shade-{'beside' if other else kind}-{shape.name}"
        parts = _parts(plot, curve, values, shade, marks, arrows)
        if other is not None:
            parts.append(svg.other_line(plot, other.points))
        svgs.append(
            svg.drawing(
                plot,
                parts,
                title=title,
                classes=f"curve {kind} {shape.name}",
                attributes=_for_script(plot),
            )
        )
    return Drawing(
        svgs,
        " ".join(f"{time:.0f}" for time, _ in curve.points),
        " ".join(f"{value:.8g}" for _, value in curve.points),
        unit,
        last,
    )


def _parts(
    plot: Plot,
    curve: Curve,
    values: Values,
    shade: str,
    marks: Sequence[SharedMark],
    arrows: Sequence[Arrow],
) -> list[str]:
    is_drawdown = values.kind == "drawdown"
    ticks = _fewer(curve.ticks) if is_drawdown else curve.ticks
    last = curve.points[-1]
    return [
        f'<defs><linearGradient id="{shade}" x1="0" x2="0" y1="0" y2="1">'
        '<stop class="most" offset="0"/><stop class="least" offset="1"/>'
        "</linearGradient></defs>",
        _downtimes(plot, marks),
        svg.value_axis(plot, ticks, values.texts(ticks), covered=plot.y(last[1])),
        svg.time_axis(plot),
        svg.line_and_area(
            plot, curve.points, 0.0 if is_drawdown else plot.low, f'fill="url(#{shade})"'
        ),
        _versions(plot, marks),
        _arrows(plot, curve.points, arrows),
        _last_value(plot, last, values),
    ]


def _for_script(plot: Plot) -> str:
    """Where values lie, for the script that shows the value under the pointer."""
    return (
        f' data-frame="{plot.left:g} {plot.right:g} {plot.top:g} {plot.foot:g}'
        f' {plot.start:.3f} {plot.end:.3f} {plot.low!r} {plot.high!r}"'
    )


def _downtimes(plot: Plot, marks: Iterable[SharedMark]) -> str:
    parts = []
    for one in marks:
        start = max(one.time, plot.start)
        end = min(plot.end if one.until is None else one.until, plot.end)
        if one.kind == "downtime" and start < end:
            left, right = plot.x(start), plot.x(end)
            parts.append(
                f'<rect class="downtime" x="{left:.1f}" y="{plot.top:g}"'
                f' width="{right - left:.1f}" height="{plot.foot - plot.top:.1f}">'
                "<title>Not running</title></rect>"
            )
    return "".join(parts)


def _versions(plot: Plot, marks: Iterable[SharedMark]) -> str:
    parts = []
    label_end = -math.inf  # labels overlap neither each other nor those of the axis
    for one in marks:
        if one.kind != "version" or not plot.start <= one.time <= plot.end:
            continue
        x = plot.x(one.time)
        parts.append(svg.vertical_line(plot, "version", x))
        text = f"v{one.version}"
        wide = 8.0 * len(text)
        is_late = x + 4 + wide > plot.right
        start = x - 4 - wide if is_late else x + 4
        if start > label_end:
            at, anchor = (x - 4, ' text-anchor="end"') if is_late else (start, "")
            parts.append(
                f'<text class="mark" x="{at:.1f}" y="{plot.top - 4:g}"{anchor}>{text}</text>'
            )
            label_end = start + wide
    return "".join(parts)


def _arrows(plot: Plot, points: list[tuple[float, float]], arrows: Iterable[Arrow]) -> str:
    """Grouped by place and side, so that a busy hour is one arrow and no side disappears."""
    buckets: dict[tuple[int, str], list[Arrow]] = {}
    for one in arrows:
        if plot.start <= one.time <= plot.end:
            buckets.setdefault((int(plot.x(one.time) // BUCKET), one.side), []).append(one)
    parts = []
    for (_, side), some in sorted(buckets.items()):
        moment, orders = some[len(some) // 2].time, sum(one.orders for one in some)
        x, y = plot.x(moment), plot.y(_value_at(points, moment))
        way = 1 if side == "buy" else -1
        tip, tail = y + way * 6, y + way * (6 + 1.7 * ARROW)
        count = f" ({orders:,})" if orders > 1 else ""
        parts.append(
            f'<polygon class="{side}" points="{x:.1f},{tip:.1f} {x - ARROW:.1f},{tail:.1f}'
            f' {x + ARROW:.1f},{tail:.1f}"><title>{side.capitalize()}{count}</title></polygon>'
        )
    return "".join(parts)


def _last_value(plot: Plot, last: tuple[float, float], values: Values) -> str:
    """A dot on the line, and the value on the axis."""
    y, left, wide = plot.y(last[1]), plot.right + 2, plot.layout.right - 2
    return (
        f"{svg.last_point(plot, *last)}"
        f'<rect class="pill" x="{left:g}" y="{y - 10:.1f}" width="{wide:g}" height="20"'
        ' rx="4"/>'
        f'<text class="now" x="{left + 6:g}" y="{y + 4:.1f}">{values.precise(last[1])}</text>'
    )


def _fewer(ticks: list[float]) -> list[float]:
    """Every other tick where there is little room, the last always."""
    return ticks[::-1][::2][::-1] if len(ticks) > 4 else ticks


def _value_at(points: list[tuple[float, float]], moment: float) -> float:
    """On the line as it is drawn, which is straight from one point to the next."""
    after = bisect_right(points, moment, key=lambda point: point[0])
    if after in {0, len(points)}:
        return points[max(0, after - 1)][1]
    (start, low), (end, high) = points[after - 1], points[after]
    return low + (high - low) * (moment - start) / (end - start)
