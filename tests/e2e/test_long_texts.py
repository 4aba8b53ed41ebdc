"""Long names, long numbers, long words and other scripts: everything can be read at any width."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page

from tests.conftest import Service, let_in
from tests.e2e.conftest import Site
from tests.e2e.long_texts import ARABIC, WORD, Project
from tests.e2e.looks import TEXT_ROOM, WIDTHS, holds_its_controls, unreadable

pytestmark = pytest.mark.heavy

SLOW = 60_000  # milliseconds
RENDER_ALL = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('* { content-visibility: visible !important }');
    document.adoptedStyleSheets.push(sheet);
}"""
# What moves while a page opens, as Chromium counts it: the share of the window that moved, times
# how far. A slow part may keep others unseen for as long as this machine needs: see opening.ts.
JUMPS = """
    const later = window.setTimeout;
    window.setTimeout = (act, wait, ...more) => later(act, wait === 1500 ? 60_000 : wait, ...more);
    window.jumps = [];
    const name = ({node, previousRect: from, currentRect: to}) => [
        (node?.outerHTML ?? node?.data ?? '').slice(0, 120), from.toJSON(), to.toJSON()];
    new PerformanceObserver((seen) => window.jumps.push(...seen.getEntries().map(
        ({value, sources}) => ({value, sources: sources.map(name)})))
    ).observe({type: 'layout-shift', buffered: true});
"""
SMALL = 0.01
EMAIL = "unreasonably-long-address-" * 2 + "@" + "sub." * 10 + "example.com"

# Every page, and words that say that it has loaded.
PAGES = {
    "{own}/overview": "Newest orders",
    "{own}/prices": "A line of marks and fills",
    "{own}/orders": "BTC-USD",
    "{own}/trades": "Distribution of results",
    "{own}/logs": "Jump to",
    "{own}/events": "annotation",
    "{own}/screener": "Symbol",
    "{own}/versions": "Version 2",
    "{own}/versions/{newer}": "print(1)",
    "{own}/versions/compare?before={older}&now={newer}": "print(1)",
    "{arabic}/logs": "Jump to",
    "{own}/settings": "Secrets",
    "{own}/backtests": "Sharpe",
    "{own}/first/backtest": "Skill or luck",
    "{own}/backtests/compare?ids=first,second": "Compare 2 backtests",
    "{own}/nothing": "Page not found",
    "/{project}?view=table": "Not deployed",
    "/{project}?view=cards": "Not deployed",
    "/{project}/portfolio": "Correlation",
    "/{project}/watching": "Restarting too often",
    "/{project}/watching/new?model={model}": "Choose what to watch",
    "/{project}/channels": "Never tested",
    "/{project}/incidents": "acknowledged by",
    "/{project}/incidents/{incident}": "Timeline",
    "/{project}/deploy": "Drop a zip",
    "/{project}/members": "invitations",
    "/{project}/keys": "Keys in use",
    "/{project}/audit": "model created",
    "/{project}/settings": "Project settings",
    "/portfolio": "Correlation",
    "/health": "Checks",
    "/halt": "Nothing was ever halted",
    "/account": "this browser",
    "/new-project": "New project",
    "/settings": "Current password",
    "/s/{live}": "Check this record",
    "/s/{tested}": "Its results are hypothetical",
    "/embed/{live}": "check it on Tapeline",
    "/api/models/{model}/backtests/first/tear-sheet": "Drawdowns",
}

# Where dialogs are, and the buttons that open them.
DIALOGS = {
    "connect": ("/{project}?view=table", "Connect a model"),
    "share": ("{own}/overview", "Share"),
    "a new link": ("{own}/overview", "Share"),
    "start": ("{own}/overview", "Start"),
    "order": ("{own}/orders", "Details of order"),
    "backtest": ("{own}/backtests", "Run a backtest"),
    "channel": ("/{project}/channels", "Add a channel"),
}


@pytest.fixture(scope="module")
def project(shared_service: Service, password_hash: str) -> Iterator[Project]:
    with ExitStack() as stack:
        owner = let_in(shared_service, EMAIL, password_hash)
        stack.enter_context(owner.client)
        made = Project(shared_service, owner, stack)
        made.fill()
        yield made


@pytest.fixture(scope="module")
def page(browser: Browser, shared_service: Service, project: Project) -> Iterator[Page]:
    """One page for all, signed in, without movement. It notes what jumps while it opens."""
    with browser.new_context(reduced_motion="reduce") as context:
        page = context.new_page()
        page.set_default_timeout(SLOW)
        page.add_init_script(JUMPS)
        Site(page, shared_service).sign_in(EMAIL)
        yield page


@pytest.fixture(scope="module")
def opened(page: Page, shared_service: Service, project: Project) -> Callable[[str], None]:
    """Opens a page on a phone, looks that nothing jumps, and leaves it in a wide window."""
    own = f"/{project.id}/{project.model.id}"
    arabic = f"/{project.id}/{project.others[0].id}"
    names = {
        "own": own, "arabic": arabic, "project": project.id, "model": project.model.id,
        "incident": project.incident,
        **project.links, **project.versions(),
    }  # fmt: skip

    def open_page(path: str) -> None:
        page.set_viewport_size({"width": WIDTHS[-1], "height": 900})
        Site(page, shared_service).open(path.format(**names))
        page.get_by_text(PAGES[path]).filter(visible=True).first.wait_for()
        jumps = [one for one in page.evaluate("window.jumps") if one["value"] > SMALL]
        assert not jumps, jumps
        page.evaluate(RENDER_ALL)
        page.set_viewport_size({"width": WIDTHS[0], "height": 900})

    return open_page


@pytest.mark.parametrize("path", PAGES)
def test_every_text_can_be_read_at_any_width(
    path: str, page: Page, opened: Callable[[str], None]
) -> None:
    opened(path)
    wrong = unreadable(page)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", DIALOGS)
def test_every_dialog_holds_its_texts_and_controls(
    name: str, page: Page, opened: Callable[[str], None]
) -> None:
    path, button = DIALOGS[name]
    opened(path)
    page.get_by_role("main").get_by_role("button", name=button).first.click()
    dialog = page.locator("[role=dialog], [role=alertdialog]")
    dialog.wait_for()
    if name == "a new link":
        dialog.get_by_role("button", name="Create link").click()
        dialog.get_by_text("/s/").first.wait_for()
    holds_its_controls(page, dialog)
    wrong = unreadable(page)
    assert not wrong, "\n".join(wrong)


# What the pages do not have, and what must be found where they do.
BROKEN = {
    "cut at the side": f"<p style='width: 9em; overflow: hidden'>{WORD}</p>",
    "cut above or below": "<p style='width: 3em; height: 1em; overflow: hidden'>one two three</p>",
    "outside of <div": f"<div style='width: 9em; border: 1px solid'>{WORD}</div>",
    "outside of the window": f"<p>{WORD * 3}</p>",
    "control outside": "<button style='position: absolute; left: 3000px'>Save</button>",
    "overlap": "<p style='margin: 0 0 -2em; line-height: 1'>first</p><p>second</p>",
    "against its direction": f"<p>{ARABIC}</p>",
    "cut in a list": f"<select style='width: 9em'><option>{WORD}</option></select>",
    "scrolls sideways": f"<div style='width: 9em; overflow: auto'>{WORD}</div>",
    "squeezed": "<p style='width: 2em; overflow-wrap: anywhere'>unbelievable</p>",
}
"""Each with the finding that it must be."""
WHOLE = (
    f"<p style='width: 9em; overflow: hidden; text-overflow: ellipsis' title='{WORD}'>{WORD}</p>"
    f"<pre style='width: 9em; overflow: auto'>{WORD}</pre><p>one</p><p>two</p>"
    f"<p dir='auto'>{ARABIC}</p><p>By <bdi>{ARABIC}</bdi></p>"
)


def test_text_that_cannot_be_read_is_found(page: Page) -> None:
    page.set_viewport_size({"width": 1024, "height": 900})
    page.goto("about:blank")
    for finding, html in BROKEN.items():
        page.set_content(html)
        assert any(one.startswith(finding) for one in page.evaluate(TEXT_ROOM)), finding
    page.set_content(WHOLE)
    assert page.evaluate(TEXT_ROOM) == []


def test_long_names_leave_room_for_curves(page: Page, opened: Callable[[str], None]) -> None:
    opened("/{project}?view=table")
    page.set_viewport_size({"width": 1440, "height": 900})
    curve = page.locator("tbody svg[viewBox='0 0 96 24']").first.bounding_box()
    assert curve is not None
    assert curve["width"] == 96
