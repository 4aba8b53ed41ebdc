"""The preview picture of a link: the curve and three figures, as PNG.

Pillow draws it with a font that it includes. The file has nothing but pixels.
"""

import io
import math

from PIL import Image, ImageDraw, ImageFont

from tapeline.sharing.exhibits.answers import SharedCurve
from tapeline.sharing.exhibits.exhibit import ChartRange, Exhibit

WIDTH, HEIGHT = 1200, 630
EDGE = 64
TOP, BOTTOM = 330, 560
GROUND, INK, SOFT, LINE, AREA = "#0e1211", "#e8edea", "#9daaa4", "#52c7aa", "#14312a"
FIGURES = 3
LONGEST_TITLE = 44
SMOOTH = 2  # drawn larger and made smaller: edges become soft

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def drawn(exhibit: Exhibit) -> bytes:
    head, curve = exhibit.head, exhibit.curve(ChartRange(points=WIDTH))
    picture = Image.new("RGB", (WIDTH * SMOOTH, HEIGHT * SMOOTH), GROUND)
    _draw_curve(ImageDraw.Draw(picture), curve)
    picture = picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    pen = ImageDraw.Draw(picture)
    title = head.title
    if len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE - 1].rstrip() + "…"
    pen.text((EDGE, 52), title, INK, _font(46))
    kind = "Live record" if head.kind == "live" else "Backtest"
    late = f" · {head.late:,} reported late" if head.late else ""
    left_out = f" · {len(head.not_computed):,} not computed" if head.not_computed else ""
    if head.other_currencies:
        left_out += " · not in one currency"
    pen.text((EDGE, 116), f"{kind} · {head.trades:,} trades{late}{left_out}", SOFT, _font(26))
    for place, one in enumerate(head.figures[:FIGURES]):
        left = EDGE + place * (WIDTH - 2 * EDGE) // FIGURES
        pen.text((left, 178), one.display_name, SOFT, _font(26))
        pen.text((left, 212), one.text, INK, _font(54))
    pen.text((EDGE, 580), "Tapeline · a record that can be checked", SOFT, _font(22))
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=True)
    return out.getvalue()


def _draw_curve(pen: ImageDraw.ImageDraw, curve: SharedCurve) -> None:
    points = [(one.time, one.value) for one in curve.items if one.value is not None]
    if len(points) < 2 or points[-1][0] <= points[0][0]:
        return
    first, last = points[0][0], points[-1][0]
    low, high = min(value for _, value in points), max(value for _, value in points)
    if not math.isfinite(high - low):
        return
    span = (high - low) or 1.0
    line = [
        (
            SMOOTH * (EDGE + (time - first) / (last - first) * (WIDTH - 2 * EDGE)),
            SMOOTH * (BOTTOM - (value - low) / span * (BOTTOM - TOP)),
        )
        for time, value in points
    ]
    foot = SMOOTH * BOTTOM
    pen.polygon([(line[0][0], foot), *line, (line[-1][0], foot)], fill=AREA)
    pen.line(line, fill=LINE, width=4 * SMOOTH, joint="curve")


def _font(size: int) -> Font:
    return ImageFont.load_default(size)
