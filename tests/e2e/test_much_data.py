"""The pages with more than they can hold: what the server searches, counts and sends in pages."""

import math
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from tests.acceptance.conftest import Home, Server
from tests.acceptance.traders import Trader
from tests.archives import zipped
from tests.e2e.backtesting import DAY, Candidate
from tests.e2e.browsing import SLOW, Pages, context, page, trader
from tests.waiting import wait_for

__all__ = ["context", "page", "trader"]  # fixtures, for the tests here

pytestmark = pytest.mark.heavy

START = 1_700_000_000
ORDERS = 7_000  # more than the list keeps
LINES = 60_000  # more than the server looks at for one request
TOGETHER = 10_000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    made = Home(tmp_path_factory.mktemp("home"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(home: Home) -> Server:
    return home.up()


@pytest.fixture(scope="module")
def busy(trader: Trader) -> Candidate:
    """A model that has traded and talked a lot."""
    candidate = Candidate(trader, "Busy")
    batch(candidate, "/v1/live/spot-market", [_order(number) for number in range(ORDERS)])
    lines = [{"line": f"tick {number}", "type": "stdout"} for number in range(LINES)]
    lines[40] = {"line": "the needle", "type": "stderr"}
    batch(candidate, "/v1/live/log", lines)
    return candidate


def batch(candidate: Candidate, path: str, bodies: list[dict[str, Any]]) -> None:
    for first in range(0, len(bodies), TOGETHER):
        some = enumerate(bodies[first : first + TOGETHER], first)
        items = [{"path": path, "time": START + 60 * at, "body": body} for at, body in some]
        candidate.push("/v1/batch", items)


def _order(number: int) -> dict[str, Any]:
    return {
        "id": f"o{number}", "symbol": "RARE-USD" if number == 7 else "BTC-USD",
        "exchange": "simulated", "side": "sell" if number % 2 else "buy", "size": 1,
        "price": 100 + number % 13,
    }  # fmt: skip


@pytest.fixture
def pages(page: Page, busy: Candidate) -> Pages:
    page.set_default_timeout(SLOW)
    return Pages(page, busy)


def scroll(box: Locator, pixels: int) -> None:
    box.evaluate("(box, pixels) => { box.scrollTop += pixels; }", pixels)


def answer_to(request: Request) -> Any:
    """What it was answered. Ask only for requests that have finished: the page gives up those that
    it replaces by closer ones, and the browser then has nothing of their answers."""
    response = request.response()
    assert response is not None
    return response.json()


def span(request: Request, path: str) -> float:
    """How many seconds a request is about; endless where it is about everything."""
    address = urlsplit(request.url)
    asked = parse_qs(address.query)
    if not address.path.endswith(path) or "from" not in asked:
        return math.inf
    return float(asked["to"][0]) - float(asked["from"][0])


def test_a_closer_look_at_the_live_chart_fetches_its_detail(pages: Pages) -> None:
    page, asked = pages.page, list[str]()
    page.on("request", lambda sent: asked.append(sent.url))
    pages.open("overview")
    chart = page.get_by_role("group", name=re.compile("^Profit and loss over time"))
    expect(chart.locator("canvas").first).to_be_visible()
    page.wait_for_timeout(600)
    assert not any("from=" in one for one in asked)
    chart.focus()
    # On a busy machine the first key alone may be asked for, which cuts little but the margins.
    twice = 60 * ORDERS * 0.7
    with (
        page.expect_request_finished(lambda one: span(one, "/pnl") < twice) as curve,
        page.expect_request_finished(lambda one: span(one, "/orders/marks") < twice) as marks,
    ):
        page.keyboard.press("+")
        page.keyboard.press("+")
    points = answer_to(curve.value)["series"]
    assert START < points[0]["time"] < points[-1]["time"] < START + 60 * ORDERS
    assert answer_to(marks.value)["grouped"]
    # So close that every order is told by itself.
    near = 60 * 1_000
    with page.expect_request_finished(lambda one: span(one, "/orders/marks") < near) as marks:
        for _ in range(5):
            page.keyboard.press("+")
            page.wait_for_timeout(400)
    assert not answer_to(marks.value)["grouped"]
    figure = page.get_by_role("figure", name="Profit and loss over time")
    expect(figure.get_by_role("button", name="All")).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("0")
    expect(figure.get_by_role("button", name="All")).to_have_attribute("aria-pressed", "true")
    figure.get_by_role("button", name="Show as a table").click()
    expect(figure.get_by_role("row").nth(5)).to_be_visible()
    pages.is_fine()


def test_orders_are_scrolled_through_without_being_kept(pages: Pages) -> None:
    page = pages.page
    pages.open("orders")
    expect(page.get_by_role("button", name="Details of order o6999")).to_be_visible()
    box = page.get_by_role("region", name="Orders")
    last = page.get_by_role("button", name="Details of order o0", exact=True)
    for _ in range(150):
        if last.is_visible():
            break
        scroll(box, 100_000)
        page.wait_for_timeout(50)
    expect(last).to_be_visible()
    assert box.evaluate("box => box.scrollHeight") < 6_300 * 36
    expect(page.get_by_role("button", name="Back to the newest")).to_be_visible()
    for _ in range(150):
        scroll(box, -100_000)
        page.wait_for_timeout(50)
        if not page.get_by_role("button", name="Back to the newest").is_visible():
            break
    scroll(box, -1_000_000)
    expect(page.get_by_role("button", name="Details of order o6999")).to_be_visible()
    # A change of one that is in sight, and a new one, come by themselves.
    pages.candidate.push("/v1/live/update-trade", {"id": "o6998", "status": "partly"})
    pages.candidate.push("/v1/live/spot-market", _order(ORDERS))
    expect(page.get_by_role("row").filter(has_text="partly")).to_be_visible()
    expect(page.get_by_role("button", name=f"Details of order o{ORDERS}")).to_be_visible()


def _is_folded(pages: Pages, log: Locator) -> None:
    """A traceback shows its last line, opens in full and lies over no other line."""
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1\n\x1b[31mKeyError: 7\x1b[0m'
    pages.candidate.push("/v1/live/log", {"line": trace, "type": "debug"})
    pages.candidate.push("/v1/live/log", {"line": "after it"})
    expect(log).to_contain_text("after it")
    expect(log.locator(".ansi-red")).to_have_text("KeyError: 7")
    expect(log).not_to_contain_text("a.py")
    log.get_by_role("button", name="Show all 3 lines").click()
    expect(log).to_contain_text("a.py")
    boxes = sorted(
        log.locator("[data-index]").evaluate_all(
            "rows => rows.map(row => row.getBoundingClientRect()).map(box => [box.top, box.bottom])"
        )
    )
    assert all(above[1] <= below[0] + 1 for above, below in pairwise(boxes))


def test_a_long_log_is_searched_by_the_server(pages: Pages) -> None:
    page = pages.page
    pages.open("logs")
    log = page.get_by_role("log")
    expect(log).to_contain_text(f"tick {LINES - 1}")
    page.get_by_label("Search the log").fill("the needle")
    expect(log).to_contain_text("the needle")
    page.get_by_label("Search the log").fill("no such line")
    expect(log).to_contain_text("No matching lines.")
    page.get_by_label("Search the log").fill("")
    page.get_by_label("Type of line").select_option("stderr")
    expect(log).to_contain_text("the needle")
    with page.expect_download() as downloaded:
        page.get_by_role("link", name="Download the log").click()
    path = downloaded.value.path()
    assert path.read_text() == "2023-11-14T22:53:20.000Z stderr the needle\n"
    page.get_by_label("Type of line").select_option("")
    expect(log).to_contain_text(f"tick {LINES - 1}")
    _is_folded(pages, log)
    page.get_by_role("button", name="Pause the log").click()
    pages.candidate.push("/v1/live/log", {"line": "said meanwhile"})
    expect(page.get_by_text("1 new")).to_be_visible()
    expect(log).not_to_contain_text("said meanwhile")
    page.get_by_role("button", name="Follow the log").click()
    expect(log).to_contain_text("said meanwhile")


def test_a_log_is_read_from_a_moment_on(pages: Pages) -> None:
    page = pages.page
    pages.open("logs")
    log = page.get_by_role("log")
    expect(log).to_contain_text("tick")
    # What counts is when a line arrived, and all of these arrived within some seconds.
    page.get_by_label("Jump to").fill("2023-01-01T00:00:00")
    expect(log.get_by_text("tick 0", exact=True)).to_be_visible()
    for _ in range(100):
        if log.get_by_text("tick 1200", exact=True).count():
            break
        scroll(log, 400)
        page.wait_for_timeout(50)
    expect(log.get_by_text("tick 1200", exact=True)).to_be_attached()
    page.get_by_role("button", name="Back to live").click()
    expect(log).to_contain_text(f"tick {LINES - 1}")


def test_a_closer_look_at_a_comparison_fetches_its_detail(pages: Pages) -> None:
    page = pages.page
    for name in ("left", "right"):
        pages.candidate.result(name, name.title(), days=2_000, seed=len(name))
    pages.open("backtests/compare?ids=left,right")
    tab = page.get_by_role("navigation", name="Model").get_by_role("link", name="Backtests")
    expect(tab).to_have_attribute("aria-current", "page")
    chart = page.get_by_role("group", name=re.compile("^Account values"))
    expect(chart.locator("canvas").first).to_be_visible()
    chart.focus()
    near = 1_100 * DAY
    with page.expect_request_finished(lambda one: span(one, "/backtests-compare") < near) as asked:
        for _ in range(3):
            page.keyboard.press("+")
            page.wait_for_timeout(400)
    found = answer_to(asked.value)
    assert found["items"][0]["values"][0] != 100  # still from its own start
    pages.open("left/backtest")
    expect(page.get_by_role("heading", name="Left")).to_be_visible()
    expect(tab).to_have_attribute("aria-current", "page")


BEFORE = {"main.py": "fast = 5\nslow = 20\n", "lib/old.py": "kept = 1\n", "notes.md": "x\n"}
AFTER = {"main.py": "fast = 8\nslow = 20 # \u202eteg\n", "lib/new.py": "kept = 1\n",
         "table.bin": b"\x00\x01"}  # fmt: skip


def test_versions_say_what_changed_down_to_the_line(pages: Pages) -> None:
    candidate, page = pages.candidate, pages.page
    versions: list[tuple[str, dict[str, Any]]] = [
        ("buys the dip", BEFORE),
        ("buys the deep dip", AFTER),
    ]
    for words, files in versions:
        candidate.trader.post(
            "/model/upload",
            data={"modelId": candidate.id, "versionDescription": words},
            files={"model": ("m.zip", zipped(files))},
        )
    pages.open("versions")
    page.get_by_role("link", name="Changes of version 2").click()
    expect(pages.panel("What changed").locator("ins").first).to_have_text("deep")
    expect(
        page.get_by_role("heading", name="1 changed, 1 added, 1 removed, 1 moved")
    ).to_be_visible()
    lines = page.get_by_role("table", name="Changed lines of main.py")
    expect(lines).to_contain_text("added: fast = 8")
    expect(lines).to_contain_text("U+202E")
    pages.is_fine()
    page.get_by_label("Side by side").check()
    page.wait_for_url("**view=split**")
    pages.is_fine()
    page.go_back()
    expect(page.get_by_label("Side by side")).not_to_be_checked()
    read_the_source(pages)
    page.get_by_role("button", name="Start", exact=True).click()
    dialog = page.get_by_role("alertdialog")
    expect(dialog.get_by_label("Version")).to_be_visible()


def read_the_source(pages: Pages) -> None:
    """The address names file and line, and the way back leads to the file before."""
    page = pages.page
    page.get_by_role("link", name="Source of main.py").click()
    source = page.get_by_role("region", name="Source of main.py")
    source.get_by_role("button", name="Link to line 2").click()
    page.wait_for_url(re.compile(r"[?&]line=2(&|$)"))
    pages.is_fine()
    page.get_by_role("navigation", name="Files").get_by_role("button", name="table.bin").click()
    expect(page.get_by_role("main")).to_contain_text("2 B that are not text")
    page.go_back()
    expect(source.locator("[aria-current]")).to_have_text("2")


# A browser without windows never allows notifications: this notes what it would show.
ALLOWED = """
Object.defineProperty(Notification, "permission", {get: () => "granted"});
window.told = [];
ServiceWorkerRegistration.prototype.showNotification = async (title, {body}) => {
    window.told.push(`${title}: ${body}`);
};
"""


def test_the_browser_tells_of_a_filled_order_once_it_may(pages: Pages) -> None:
    page, candidate = pages.page, pages.candidate
    address = f"{candidate.trader.server.address}/account"
    page.goto(address)
    expect(page.get_by_role("main")).to_contain_text("Your browser blocks notifications")
    page.add_init_script(ALLOWED)
    page.goto(address)
    page.get_by_role("button", name="Turn on notifications").click()
    pages.is_fine()
    path = f"**/api/models/{candidate.id}/orders?**"
    with page.expect_response(path):  # what is filled already is no news
        page.get_by_label("Filled orders").check()
    with page.expect_response(path):
        order = {"id": "told", "symbol": "NEWS-USD", "side": "buy", "size": 2, "price": 5}
        candidate.push("/v1/live/spot-market", order | {"exchange": "simulated"})
    # From here: the page's policy forbids Playwright to evaluate a text there again and again.
    wait_for(lambda: page.evaluate("window.told.length"))
    assert page.evaluate("window.told") == ["Busy: order filled: buy 2 NEWS-USD at 5.00"]
    page.get_by_role("button", name="Turn off").click()


def test_a_page_says_that_it_is_behind_and_catches_up(
    pages: Pages, home: Home, server: Server
) -> None:
    page, port = pages.page, server.port
    pages.open("logs")
    expect(page.get_by_role("log")).to_contain_text("tick")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    server.end()
    expect(page.get_by_role("status").filter(has_text="Not live for")).to_be_visible()
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_role("main")).to_contain_text("Whatever you last saw here is not live")
    expect(other.get_by_role("status")).to_contain_text("The server last answered on")
    assert all(path.startswith(("/offline", "/static/")) for path in kept_by(other))
    pages.candidate.trader.meet(home.up("--port", str(port)))
    pages.candidate.push("/v1/live/log", {"line": "here again"})
    expect(page.get_by_role("log")).to_contain_text("here again")
    expect(page.get_by_role("status").filter(has_text="Not live for")).to_be_hidden()
    expect(other.get_by_role("log")).to_contain_text("here again")  # without a touch
    other.close()


def kept_by(page: Page) -> set[str]:
    """The addresses of everything that the browser keeps for the time without a server."""
    found: list[str] = page.evaluate(
        """async () => {
            const stores = await Promise.all((await caches.keys()).map((one) => caches.open(one)));
            const kept = await Promise.all(stores.map((one) => one.keys()));
            return kept.flat().map((one) => new URL(one.url).pathname);
        }"""
    )
    return set(found)
