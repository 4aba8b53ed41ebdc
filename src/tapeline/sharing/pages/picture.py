"""The preview picture of a link: the curve and three figures, as PNG."""

from tapeline.results.charts.bitmap import INK, SOFT, Bitmap, Frame, Place
from tapeline.sharing.exhibits.answers import SharedCurve
from tapeline.sharing.exhibits.exhibit import ChartRange, Exhibit

WIDTH, HEIGHT = 1200, 630
EDGE = 64
TOP, BOTTOM = 330, 560
FIGURES = 3
LONGEST_TITLE = 44


def drawn(exhibit: Exhibit) -> bytes:
    head, curve = exhibit.head, exhibit.curve(ChartRange(points=WIDTH))
    pen = Bitmap(WIDTH, HEIGHT)
    _draw_curve(pen, curve)
    pen.finish_lines()
    title = head.title
    if len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE - 1].rstrip() + "…"
    pen.text((EDGE, 52), title, INK, 46)
    kind = "Live record" if head.kind == "live" else "Backtest"
    late = f" · {head.late:,} reported late" if head.late else ""
    left_out = f" · {len(head.not_computed):,} not computed" if head.not_computed else ""
    if head.other_currencies:
        left_out += " · not in one currency"
    pen.text((EDGE, 116), f"{kind} · {head.trades:,} trades{late}{left_out}", SOFT, 26)
    for place, one in enumerate(head.figures[:FIGURES]):
        left = EDGE + place * (WIDTH - 2 * EDGE) // FIGURES
        pen.text((left, 178), one.display_name, SOFT, 26)
        pen.text((left, 212), one.text, INK, 54)
    pen.text((EDGE, 580), "Tapeline · a record that can be checked", SOFT, 22)
    return pen.png()


def _draw_curve(pen: Bitmap, curve: SharedCurve) -> None:
    points = [(one.time, one.value) for one in curve.items if one.value is not None]
    place = Place.of(Frame(EDGE, WIDTH - EDGE, TOP, BOTTOM), points)
    if place is not None:
        pen.curve(place, points, width=4)
