"""What axe finds wrong with a page, whether it fits the window, and whether text has room."""

from pathlib import Path
from typing import Literal

from playwright.sync_api import Locator, Page

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"

# Rows of a table are alike: a few of them tell what many would, and axe takes long for each.
ALIKE = "[['tbody tr:nth-of-type(n+6)'], ['[role=row]:nth-of-type(n+6)']]"
EVERYTHING = ""
COLOURS = "runOnly: ['color-contrast']"
ALL_BUT_COLOURS = "rules: {'color-contrast': {enabled: false}}"

# Names with more lines than words, and numbers that are cut.
WITHOUT_ROOM = """() => {
    const lines = (one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
    };
    const squeezed = [...document.querySelectorAll('dt')]
        .filter((one) => one.checkVisibility({contentVisibilityAuto: true}))
        .filter((one) => lines(one) > one.innerText.trim().split(/[\\s\u002d\u00ad]+/).length);
    const cut = [...document.querySelectorAll('.num, td.n, .figures dd')]
        .filter((one) => getComputedStyle(one).overflowX === 'hidden'
            && one.scrollWidth > one.clientWidth + 1);
    return [...squeezed, ...cut].map((one) => one.outerHTML.slice(0, 200));
}"""

# Controls and texts of a dialog that are outside of it, or that others cover.
OUTSIDE = """(dialog) => {
    const frame = dialog.getBoundingClientRect();
    return [...dialog.querySelectorAll('button, a, pre, input, select, textarea')].filter((one) => {
        one.scrollIntoView({block: 'center'});
        const box = one.getBoundingClientRect();
        const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        return box.left < frame.left || box.right > frame.right || !one.contains(top);
    }).map((one) => one.outerHTML.slice(0, 200));
}"""
PATIENCE = 100
"""Tenths of a second in which a dialog finds its place."""
WIDTHS = (1920, 1440, 1280, 1024, 768, 390)

# Text that cannot be read (the file says how that is found), and a drawing of two frames, after
# which a page has the sizes of a new width.
TEXT_ROOM = (Path(__file__).parent / "text_room.js").read_text("utf-8")
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

# How a page is looked at, and what axe is asked. Colours differ by scheme alone and take longest.
LOOKS: tuple[tuple[Literal["light", "dark"], int, str], ...] = (
    ("light", 390, ALL_BUT_COLOURS),
    ("dark", 1440, COLOURS),
    ("light", 1440, EVERYTHING),
)


def is_fine(page: Page, where: str) -> None:
    """Nothing that axe finds wrong in light, in dark and on a phone, and nothing too wide."""
    for scheme, width, rules in LOOKS:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(150)
        is_fine_as_it_is(page, f"{where}, {scheme}, {width} wide", rules)


def is_fine_as_it_is(
    page: Page, where: str, rules: str = EVERYTHING, *, part: str = "html"
) -> None:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    # The violations alone: all that is right would take longer to tell than to find.
    asked = f"{{include: [['{part}']], exclude: {ALIKE}}}, {{resultTypes: ['violations'], {rules}}}"
    found = page.evaluate(f"async () => (await axe.run({asked})).violations")
    wrong = [
        (one["id"], node["html"][:200], node["failureSummary"][:300])
        for one in found
        for node in one["nodes"]
    ]
    assert wrong == [], where
    sizes = page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
    assert sizes[0] <= sizes[1], f"{where} scrolls sideways"
    has_room(page, where)


def holds_its_controls(page: Page, dialog: Locator) -> None:
    """At any width, everything that can be pressed or copied lies in the dialog, uncovered."""
    before = page.viewport_size
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(DRAWN)
        outside = dialog.evaluate(OUTSIDE)
        for _ in range(PATIENCE):  # while it still loads, its foot moves
            if not outside:
                break
            page.wait_for_timeout(100)
            outside = dialog.evaluate(OUTSIDE)
        assert outside == [], width
    if before:
        page.set_viewport_size(before)


def unreadable(page: Page) -> list[str]:
    """Text that is cut, covered or outside of its box, at each width, with its element."""
    wrong = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(DRAWN)
        wrong += [f"{width}: {one}" for one in page.evaluate(TEXT_ROOM)]
        if page.evaluate("document.scrollingElement.scrollWidth > innerWidth"):
            wrong.append(f"{width}: the page scrolls sideways")
    return wrong


def has_room(page: Page, where: str) -> None:
    """No name is squeezed, and no number is cut."""
    assert page.evaluate(WITHOUT_ROOM) == [], where
