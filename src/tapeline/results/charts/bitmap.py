"""A picture of a curve as PNG, for those who cannot show a drawing: preview pictures and messages.

Pillow draws it with a font that it includes. The file has nothing but pixels.
"""

import io
import math
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

GROUND, INK, SOFT, LINE, AREA, ALARM = (
    "#0e1211", "#e8edea", "#9daaa4", "#52c7aa", "#14312a", "#f0806c",
)  # fmt: skip
SMOOTH = 2  # curves are drawn larger and made smaller: edges become soft

Points = Sequence[tuple[float, float]]


class Frame(NamedTuple):
    """Where a curve lies in its picture."""

    left: float
    right: float
    top: float
    bottom: float


class Place(NamedTuple):
    """Where values of a curve are in the picture."""

    frame: Frame
    first: float
    last: float
    low: float
    high: float

    @classmethod
    def of(cls, frame: Frame, points: Points, *also: float) -> "Place | None":
        """None if there is no curve: fewer than two points, or values that no axis can hold."""
        if len(points) < 2 or points[-1][0] <= points[0][0]:
            return None
        values = [value for _, value in points] + list(also)
        low, high = min(values), max(values)
        if not math.isfinite(high - low):
            return None
        return cls(frame, points[0][0], points[-1][0], low, high)

    def x(self, time: float) -> float:
        wide = self.frame.right - self.frame.left
        return self.frame.left + (time - self.first) / (self.last - self.first) * wide

    def y(self, value: float) -> float:
        tall = self.frame.bottom - self.frame.top
        return self.frame.bottom - (value - self.low) / ((self.high - self.low) or 1.0) * tall


class Bitmap:
    """Curves and lines first, then texts: `finish_lines` is between them."""

    def __init__(self, width: int, height: int) -> None:
        self._size = (width, height)
        self._picture = Image.new("RGB", (width * SMOOTH, height * SMOOTH), GROUND)
        self._pen = ImageDraw.Draw(self._picture)

    def curve(self, place: Place, points: Points, *, width: int) -> None:
        line = [(SMOOTH * place.x(time), SMOOTH * place.y(value)) for time, value in points]
        foot = SMOOTH * place.frame.bottom
        self._pen.polygon([(line[0][0], foot), *line, (line[-1][0], foot)], fill=AREA)
        self._pen.line(line, fill=LINE, width=width * SMOOTH, joint="curve")

    def line(self, begin: tuple[float, float], end: tuple[float, float], colour: str) -> None:
        ends = [SMOOTH * one for one in (*begin, *end)]
        self._pen.line(ends, fill=colour, width=SMOOTH)

    def finish_lines(self) -> None:
        self._picture = self._picture.resize(self._size, Image.Resampling.LANCZOS)
        self._pen = ImageDraw.Draw(self._picture)

    def text(self, at: tuple[float, float], text: str, colour: str, size: int) -> None:
        self._pen.text(at, _drawable(text), colour, ImageFont.load_default(size))

    def png(self) -> bytes:
        out = io.BytesIO()
        self._picture.save(out, "PNG", optimize=True)
        return out.getvalue()


def _drawable(text: str) -> str:
    """As far as the font has letters for it: it is one of English, and shows a box for the rest.
    That the minus of a loss is a minus matters most."""
    for one, other in (("\N{MINUS SIGN}", "-"), ("\N{EN DASH}", "-"), ("\N{EM DASH}", "-")):
        text = text.replace(one, other)
    plain = unicodedata.normalize("NFD", text)
    return "".join(one for one in plain if not unicodedata.combining(one))
