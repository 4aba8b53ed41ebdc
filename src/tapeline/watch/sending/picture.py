"""The small chart of a message, as PNG: the curve until then, the moment, and the limit."""

from tapeline import figures
from tapeline.results.charts.bitmap import ALARM, INK, SOFT, Bitmap, Frame, Place
from tapeline.watch.sending.jobs import Chart

WIDTH, HEIGHT = 640, 320
FRAME = Frame(20.0, 540.0, 64.0, 280.0)
LONGEST_TITLE = 58


def drawn(chart: Chart) -> bytes | None:
    """None if there is no curve."""
    limits = [] if chart.limit is None else [chart.limit]
    place = Place.of(FRAME, chart.points, *limits)
    if place is None:
        return None
    pen = Bitmap(WIDTH, HEIGHT)
    pen.curve(place, chart.points, width=2)
    at = min(max(place.x(chart.moment), FRAME.left), FRAME.right)
    pen.line((at, FRAME.top - 8), (at, FRAME.bottom), ALARM)
    if chart.limit is not None:
        pen.line((FRAME.left, place.y(chart.limit)), (FRAME.right, place.y(chart.limit)), ALARM)
    pen.finish_lines()
    title = chart.title
    if len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE - 1].rstrip() + "…"
    pen.text((20, 18), title, INK, 20)
    last = chart.points[-1][1]
    pen.text((FRAME.right + 8, place.y(last) - 8), figures.amount(last, chart.currency), INK, 14)
    for value in {place.low, place.high} - {last}:
        if abs(place.y(value) - place.y(last)) > 18:
            text = figures.amount(value, chart.currency)
            pen.text((FRAME.right + 8, place.y(value) - 8), text, SOFT, 12)
    return pen.png()
