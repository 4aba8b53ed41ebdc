"""Ten pages look as their reference pictures do. `make references` takes new references."""

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Literal

import pytest
from PIL import Image, ImageDraw, ImageFilter
from playwright.sync_api import Browser, Page

from tests.conftest import Service, let_in
from tests.e2e.backtesting import simulated
from tests.e2e.conftest import Site
from tests.e2e.pictures import AT, Picture, differing_cells
from tests.http.view.test_portfolio_api import DAY, START, Desk, mark, month

pytestmark = pytest.mark.heavy

NOW = START + 31.5 * DAY
"""The time of the browser, which stands still, and when that of the server begins."""
SLOW = 60_000  # milliseconds
TRIES = 40  # half a second apart: a page that still loads is not a page that differs
STILL = 3  # as many times alike before a picture becomes a reference
EMAIL = "ada@example.com"
TRACEBACK = 'Traceback (most recent call last):\n  File "main.py", line 7, in trade\nValueError: no'

# Every page, where it is, and words that say that it has loaded.
PAGES = {
    "models": ("/{project}", "Trend"),
    "overview": ("{own}/overview", "Newest orders"),
    "prices": ("{own}/prices?symbol=BTC-USD", "A line of marks and fills"),
    "orders": ("{own}/orders", "BTC-USD"),
    "trades": ("{own}/trades", "Distribution of results"),
    "logs": ("{own}/logs", "ValueError"),
    "backtest": ("{own}/first/backtest", "Skill or luck"),
    "compare": ("{own}/backtests/compare?ids=first,second", "Compare 2 backtests"),
    "portfolio": ("/{project}/portfolio", "Correlation"),
    "link": ("/s/{link}", "Check this record"),
}
Scheme = Literal["light", "dark"]
LOOKS: dict[str, tuple[int, Scheme]] = {"wide": (1440, "light"), "phone": (390, "dark")}


@pytest.fixture(scope="module", autouse=True)
def _clock() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        ahead = NOW - time.monotonic()
        patch.setattr(time, "time", lambda: time.monotonic() + ahead)
        yield


@pytest.fixture(scope="module")
def places(_clock: None, shared_service: Service, password_hash: str) -> Iterator[dict[str, str]]:
    """Three models with accounts, of which one has lines, backtests and a link."""
    with ExitStack() as stack:
        owner = let_in(shared_service, EMAIL, password_hash)
        stack.enter_context(owner.client)
        desk, dice = Desk(shared_service, owner, stack), random.Random(11)
        for name, symbol in {"Trend": "BTC-USD", "Carry": "ETH-USD", "Pairs": "SOL-USD"}.items():
            model = desk.add(name, (10_000, "USD"))
            assert model.owner.patch(f"/api/models/{model.id}", json={"name": name}).is_success
            desk.say(name, *month(dice, symbol, 0, size=3), mark(31, symbol, 104.5))
        trend = desk.models["Trend"]
        for line in ("connected", "signal 0.42", "order sent", TRACEBACK):
            kind = "stderr" if line == TRACEBACK else "stdout"
            said = {"line": line, "type": kind}
            trend.push("/v1/live/log", said, headers={"time": str(START + 31 * DAY)})
        for place, name in enumerate(("first", "second")):
            trend.push("/v1/backtest/result", simulated(name, seed=4 + place, days=500))
            done = {"backtest_id": name, "successful": True, "description": f"The {name} try"}
            trend.push("/v1/backtest/status", done)
        made = owner.post(f"/api/models/{trend.id}/shares", json={"title": "A trend"}).json()
        own = f"/{owner.id}/{trend.id}"
        yield {"own": own, "project": owner.id, "link": made["token"]}


@pytest.fixture(scope="module")
def page(browser: Browser, shared_service: Service, places: dict[str, str]) -> Iterator[Page]:
    options: dict[str, Any] = {"timezone_id": "UTC", "locale": "en-US", "reduced_motion": "reduce"}
    with browser.new_context(**options) as context:
        page = context.new_page()
        page.set_default_timeout(SLOW)
        page.clock.set_fixed_time(NOW)
        Site(page, shared_service).sign_in(EMAIL)
        yield page


def look(page: Page, service: Service, places: dict[str, str], name: str) -> str:
    """Opens a page as a picture shows it; the picture's name."""
    what, _, how = name.partition("-")
    (path, words), (width, scheme) = PAGES[what], LOOKS[how]
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 900})
    Site(page, service).open(path.format(**places))
    page.get_by_text(words).filter(visible=True).first.wait_for()
    return name


@pytest.mark.parametrize("name", [f"{one}-{how}" for how in LOOKS for one in PAGES])
def test_a_page_looks_as_its_reference_does(
    name: str,
    page: Page,
    shared_service: Service,
    places: dict[str, str],
    request: pytest.FixtureRequest,
) -> None:
    look(page, shared_service, places, name)
    if request.config.getoption("--new-pictures"):
        still(page).keep(name)
        return
    for _ in range(TRIES):
        seen = Picture.of(page)
        wrong = seen.differences(name)
        if not wrong:
            return
        page.wait_for_timeout(500)
    where = {page.evaluate(AT, place) for place in wrong[:40]}
    kept = seen.show(name, wrong)
    pytest.fail(f"{name} differs (see {kept}) at:\n" + "\n".join(sorted(where)), pytrace=False)


def still(page: Page) -> Picture:
    """The page when nothing more changes."""
    seen, times = Picture.of(page), 0
    while times < STILL:
        page.wait_for_timeout(500)
        before, seen = seen, Picture.of(page)
        times = times + 1 if before.small.tobytes() == seen.small.tobytes() else 0
    return seen


def test_smoothing_is_no_difference_and_a_moved_part_is() -> None:
    expected = Image.new("L", (200, 200), 255)
    draw = ImageDraw.Draw(expected)
    for line in range(5):
        draw.text((20, 20 + 12 * line), "The account went from 10,000", fill=60)
    assert differing_cells(expected, expected.filter(ImageFilter.GaussianBlur(0.4))) == []
    moved = Image.new("L", expected.size, 255)
    moved.paste(expected, (0, 1))
    assert differing_cells(expected, moved) == []
    moved.paste(expected, (24, 30))
    assert differing_cells(expected, moved) != []
    assert differing_cells(expected, expected.crop((0, 0, 200, 160))) != []
