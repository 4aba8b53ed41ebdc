"""Compares pictures of pages with reference pictures: a broken layout differs, letters may not.

References are small and grey. A spot counts as different if no spot near it in the other picture
is as dark, so that neither the smoothing of letters nor a pixel of another Chromium matters; a
part of a page that moved, vanished or covers another one does."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from playwright.sync_api import Page

REFERENCES = Path(__file__).parent / "pictures"
DIFFERING = REFERENCES / "differing"
"""Where a test leaves the reference beside what it saw instead."""
SCALE = 3  # pixels of a page for one of its reference
NEAR = 5  # how many pixels of a reference are near each other, in each direction
SHADES = 44  # of 256: less is no difference
CELL, SPOTS = 10, 9  # so many spots in a cell of this side are a difference of layouts

# The element at a place of the page, as a person would look for it.
AT = """([x, y]) => {
    scrollTo(0, y - innerHeight / 2);
    const one = document.elementFromPoint(x, y - scrollY);
    if (!one) return 'nothing';
    return `<${one.tagName.toLowerCase()} class="${one.getAttribute('class') ?? ''}"> `
        + (one.innerText ?? '').trim().slice(0, 40).replaceAll('\\n', ' ');
}"""


@dataclass(frozen=True)
class Picture:
    """A page as it looks now."""

    colours: Image.Image

    @classmethod
    def of(cls, page: Page) -> "Picture":
        # How much space a tape takes depends on how its events happened to be grouped.
        usage = page.locator("section", has=page.get_by_role("heading", name="Usage"))
        content = page.screenshot(
            full_page=True, animations="disabled", caret="hide", mask=[usage], mask_color="#808080"
        )
        return cls(Image.open(BytesIO(content)).convert("RGB"))

    @property
    def small(self) -> Image.Image:
        wide, high = (side // SCALE for side in self.colours.size)
        grey = self.colours.convert("L").crop((0, 0, wide * SCALE, high * SCALE))
        return grey.resize((wide, high), Image.Resampling.BOX)

    def differences(self, name: str) -> list[tuple[int, int]]:
        """The middle of each cell of the page that differs from its reference."""
        with Image.open(_reference(name)) as file:
            return differing_cells(file.convert("L"), self.small)

    def keep(self, name: str) -> None:
        """As the reference from now on, in 32 shades: enough to compare, and half as large."""
        REFERENCES.mkdir(exist_ok=True)
        self.small.point([shade // 8 * 8 + 4 for shade in range(256)]).save(
            _reference(name), optimize=True
        )

    def show(self, name: str, cells: list[tuple[int, int]]) -> Path:
        """The reference on the left; on the right what is seen, with a frame around differences."""
        DIFFERING.mkdir(exist_ok=True)
        seen = self.colours.copy()
        draw, half = ImageDraw.Draw(seen), CELL * SCALE // 2
        for x, y in cells:
            draw.rectangle((x - half, y - half, x + half, y + half), outline="red", width=2)
        with Image.open(_reference(name)) as file:
            size = (file.width * SCALE, file.height * SCALE)
            left = file.convert("RGB").resize(size, Image.Resampling.BICUBIC)
        both = Image.new("RGB", (left.width + seen.width + 8, max(left.height, seen.height)), "red")
        both.paste(left, (0, 0))
        both.paste(seen, (left.width + 8, 0))
        both.save(DIFFERING / f"{name}.png")
        return DIFFERING / f"{name}.png"


def differing_cells(expected: Image.Image, seen: Image.Image) -> list[tuple[int, int]]:
    size = (max(expected.width, seen.width), max(expected.height, seen.height))
    one, other = (_padded(picture, size) for picture in (expected, seen))
    spots = _unlike(one, other) | _unlike(other, one)
    rows, columns = (side // CELL for side in spots.shape)
    cells = spots[: rows * CELL, : columns * CELL].reshape(rows, CELL, columns, CELL)
    found = np.argwhere(cells.sum(axis=(1, 3)) >= SPOTS)
    return [(int((x + 0.5) * CELL * SCALE), int((y + 0.5) * CELL * SCALE)) for y, x in found]


def _padded(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """What only one of two has is compared with a shade that pages do not have."""
    padded = Image.new("L", size, 128)
    padded.paste(picture, (0, 0))
    return padded


def _unlike(
    one: Image.Image, other: Image.Image
) -> "np.ndarray[tuple[int, int], np.dtype[np.bool_]]":
    """Where a picture is darker or lighter than the other one is anywhere near."""
    value = np.asarray(one, dtype=np.int16)
    low = np.asarray(other.filter(ImageFilter.MinFilter(NEAR)), dtype=np.int16)
    high = np.asarray(other.filter(ImageFilter.MaxFilter(NEAR)), dtype=np.int16)
    unlike: np.ndarray[tuple[int, int], np.dtype[np.bool_]] = (
        np.maximum(value - high, low - value) > SHADES
    )
    return unlike


def _reference(name: str) -> Path:
    return REFERENCES / f"{name}.png"
