"""The pages of backtests in a browser: results that were pushed, and some that really run."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.acceptance.conftest import Home, Server
from tests.acceptance.traders import Trader, pythons
from tests.e2e import looks
from tests.e2e.backtesting import DAY, SCRIPT, START, Candidate, simulated
from tests.e2e.browsing import SLOW, Pages, context, page, trader

__all__ = ["context", "page", "trader"]  # fixtures, for the tests here

pytestmark = pytest.mark.heavy

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def server(shared_home: Home) -> Iterator[Server]:
    """The real command, for models really run."""
    home = shared_home
    everywhere = ",".join(one.path for one in pythons())
    yield home.up(TAPELINE_PYTHONS=everywhere, TAPELINE_STOP_SECONDS="2")
    home.servers[-1].end()


@pytest.fixture
def candidate(trader: Trader) -> Candidate:
    return Candidate(trader)


@pytest.fixture
def pages(page: Page, candidate: Candidate) -> Iterator[Pages]:
    """Ada, signed in. No page of hers may print an error."""
    told: list[str] = []
    page.on("console", lambda said: told.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: told.append(str(error)))
    page.set_default_timeout(SLOW)
    yield Pages(page, candidate)
    assert told == []


def test_a_pushed_result_is_shown_with_all_its_figures(pages: Pages, candidate: Candidate) -> None:
    candidate.result("first", "Trend following", label="baseline", seed=4)
    pages.open("first/backtest")
    page = pages.page
    expect(page.get_by_role("heading", name="Trend following")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Done")).to_be_visible()
    expect(page.get_by_text("Max drawdown", exact=True).first).to_be_visible()
    chart = page.get_by_role("figure", name="Account value and drawdown over time")
    expect(chart.locator("canvas").first).to_be_visible()
    expect(chart).to_contain_text("The account went from")
    expect(chart).to_contain_text("The deepest drawdown was")
    expect(chart.get_by_text("Mood").first).to_be_visible()
    months = page.get_by_role("table", name="Returns by month and year")
    expect(months.get_by_role("row")).to_have_count(4)
    expect(pages.panel("Skill or luck")).to_contain_text("Adjusted for trials")
    expect(pages.panel("Rolling").locator("canvas").first).to_be_visible()
    trips = page.get_by_role("table", name="Round trips", exact=True)
    expect(trips).to_have_attribute("aria-rowcount", "65")
    expect(pages.panel("Metrics")).to_contain_text("Edge")
    chart.get_by_role("button", name="Show as a table").click()
    expect(chart.get_by_role("columnheader", name="Drawdown")).to_be_visible()
    looks.is_fine_as_it_is(page, "the values as a table", part="figure")
    for link in page.get_by_role("link").filter(has_text=re.compile("CSV|JSON|sheet")).all():
        answer = page.request.get(
            f"{page.url.split('/', 3)[0]}//{page.url.split('/')[2]}{link.get_attribute('href')}"
        )
        assert answer.status == 200


def test_a_metric_that_is_not_there_says_why(pages: Pages, candidate: Candidate) -> None:
    candidate.result("short", "A month", days=30, every=100)
    pages.open("short/backtest")
    metrics = pages.panel("Metrics")
    expect(metrics).to_contain_text("The record is shorter than that.")
    for width in (1480, 1024, 390):  # at the first, a reason nearly fits beside its name
        pages.page.set_viewport_size({"width": width, "height": 900})
        looks.has_room(pages.page, f"metrics without values, {width} wide")
    expect(pages.panel("Rolling")).to_contain_text("It takes at least")
    expect(pages.panel("Round trips")).to_contain_text("There are no round trips.")
    metrics.get_by_label("Show explanations").check()
    explanation = "What the account gained from its first value to its last."
    expect(metrics).to_contain_text(explanation)
    pages.page.wait_for_url("**explained=yes**")
    pages.page.go_back()
    expect(metrics).not_to_contain_text(explanation)


def test_the_list_is_live_and_labels_and_deletes_in_place(
    pages: Pages, candidate: Candidate
) -> None:
    page = pages.page
    pages.open("backtests")
    expect(page.get_by_text("No backtest yet")).to_be_visible()
    pages.is_fine()
    candidate.result("one", "The first", days=60)
    row = page.get_by_role("row").filter(has_text="The first")
    expect(row).to_contain_text("Done")
    expect(row).to_contain_text("%")
    row.get_by_role("button", name="Add a label to The first").click()
    page.keyboard.type("keeper")
    page.keyboard.press("Enter")
    label = row.get_by_role("button", name="Change the label keeper")
    expect(label).to_be_focused()
    page.reload()
    label.click()
    page.keyboard.type("!")
    page.keyboard.press("Escape")
    expect(label).to_be_visible()
    pages.is_fine()
    row.get_by_role("button", name="Actions for keeper").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_role("alertdialog")).to_contain_text("still counts as a trial")
    pages.is_fine()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No backtest yet")).to_be_visible()


def test_the_list_sorts_by_any_figure(pages: Pages, candidate: Candidate) -> None:
    candidate.result("low", "Low", days=200, seed=3, drift=-0.002)
    candidate.result("high", "High", days=200, seed=3, drift=0.004)
    pages.open("backtests")
    names = pages.page.get_by_role("row").get_by_role("link")
    expect(names).to_have_text(["High", "Low"])
    pages.page.get_by_role("button", name="Return").click()
    expect(names).to_have_text(["High", "Low"])
    pages.page.get_by_role("button", name="Return").click()
    expect(names).to_have_text(["Low", "High"])
    expect(pages.page.get_by_role("columnheader", name="Return")).to_have_attribute(
        "aria-sort", "ascending"
    )


def test_who_looks_closer_gets_the_detail(pages: Pages, candidate: Candidate) -> None:
    candidate.result("long", "Long", days=9_000)
    asked: list[str] = []
    pages.page.on("request", lambda sent: asked.append(sent.url))
    pages.open("long/backtest")
    chart = pages.page.get_by_role(
        "group", name=re.compile("^Account value and drawdown over time")
    )
    expect(chart.locator("canvas").first).to_be_visible()
    assert not any("equity" in one and "from=" in one for one in asked)
    chart.focus()
    for _ in range(2):
        with pages.page.expect_request(re.compile(r"/equity\?.*from=")):
            pages.page.keyboard.press("+")
            pages.page.wait_for_timeout(500)
            pages.page.keyboard.press("+")
    pages.page.keyboard.press("ArrowRight")
    pages.page.keyboard.press("0")


def test_up_to_eight_are_compared(pages: Pages, candidate: Candidate) -> None:
    page = pages.page
    for number in range(9):
        candidate.result(f"b{number}", f"Try {number}", days=40 + number, seed=number)
    pages.open("backtests")
    for number in range(8):
        page.get_by_role("checkbox", name=f"Compare Try {number}").check()
    expect(page.get_by_role("checkbox", name="Compare Try 8")).to_be_disabled()
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.get_by_role("heading", name="Compare 8 backtests")).to_be_visible()
    chart = page.get_by_role("figure", name="Account values, each starting at 100")
    expect(chart.locator("canvas").first).to_be_visible()
    expect(chart).to_contain_text("best first: Try")
    expect(
        page.get_by_role("table", name="Metrics").get_by_text(", the best").first
    ).to_be_attached()
    expect(
        page.get_by_role("table", name="Metrics").get_by_text(", the worst").first
    ).to_be_attached()
    pages.is_fine()
    page.get_by_label("Align at the start").check()
    # Another axis is another chart, and ranges that end today mean nothing on it.
    expect(chart.get_by_role("button", name="The last week")).to_have_count(0)
    expect(chart.locator("canvas").first).to_be_visible()
    chart.get_by_role("button", name="Show as a table").click()
    expect(chart).to_contain_text("day 46")
    page.get_by_role("button", name="Remove Try 7").click()
    expect(page.get_by_role("heading", name="Compare 7 backtests")).to_be_visible()


def test_a_backtest_is_run_with_arguments_of_ones_own(pages: Pages, candidate: Candidate) -> None:
    page = pages.page
    candidate.upload()
    pages.open("backtests")
    page.get_by_role("button", name="Run a backtest").click()
    dialog = page.get_by_role("dialog", name="Run a backtest")
    days = dialog.get_by_label("days")
    expect(days).to_have_value("30")
    pages.is_fine()
    days.fill("many")
    dialog.get_by_label("Description").fill("Forty")
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(dialog).to_contain_text("days must be a number.")
    days.fill("40")
    dialog.get_by_label("deep").select_option("true")
    dialog.get_by_role("button", name="JSON").click()
    written = dialog.get_by_label("Arguments as JSON")
    expect(written).to_have_value(
        re.compile(r'"days": 40,\s+"fast": 5,\s+"label": "a",\s+"deep": true')
    )
    dialog.get_by_role("button", name="Run", exact=True).click()
    # Nothing here is loaded again: all of it comes over the stream.
    expect(page.get_by_role("heading", name="Forty")).to_be_visible()
    expect(page.get_by_role("log")).to_contain_text("testing 40 5 a True")
    expect(page.get_by_role("status").filter(has_text="Done")).to_be_visible()
    expect(page.get_by_role("figure", name="Account value and drawdown over time")).to_contain_text(
        "+19.50 %"
    )
    expect(page.get_by_role("listitem").filter(has_text="days 40")).to_be_visible()
    pages.is_fine()

    page.get_by_role("button", name="Run again").click()
    dialog = page.get_by_role("dialog", name="Run the backtest again")
    dialog.get_by_label("days").fill("-1")
    dialog.get_by_label("Description").fill("Wrong")
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("heading", name="Wrong")).to_be_visible()
    trouble = page.get_by_role("alert").filter(has_text="ValueError: days must not be negative")
    expect(trouble.locator("pre")).to_contain_text("Traceback")
    pages.is_fine()

    pages.open("backtests")
    page.get_by_role("checkbox", name="Compare Forty").check()
    page.get_by_role("checkbox", name="Compare Wrong").check()
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.get_by_role("table", name="Arguments")).to_contain_text("-1")


def test_a_backtest_that_takes_too_long_is_stopped(pages: Pages, candidate: Candidate) -> None:
    candidate.upload(SCRIPT.replace("time.sleep(1.5)", "time.sleep(600)"))
    pages.open("backtests")
    candidate.trader.post(
        "/model/backtest-uploaded-model",
        json={"modelId": candidate.id, "backtestDescription": "Endless"},
    )
    last = pages.page.get_by_role("row").filter(has_text="Endless")
    expect(last).to_contain_text(re.compile("Queued|Installing|Running"))
    last.get_by_role("button", name="Actions for Endless").click()
    pages.page.get_by_role("menuitem", name="Stop").click()
    pages.page.get_by_role("alertdialog").get_by_role("button", name="Stop").click()
    expect(last).to_contain_text("Stopped")


def test_it_fits_on_a_phone(pages: Pages, candidate: Candidate) -> None:
    candidate.result("a", "A long description of what was tried this time " * 3, seed=4)
    candidate.result("b", "Another", seed=5)
    pages.page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    pages.open("backtests")
    expect(pages.page.get_by_role("link", name="Another")).to_be_visible()
    pages.is_fine()
    pages.open("a/backtest")
    expect(pages.page.get_by_role("button", name=re.compile("Show all .* metrics"))).to_be_visible()
    expect(pages.page.locator("canvas").first).to_be_visible()
    pages.is_fine()
    pages.open("backtests/compare?ids=a,b")
    expect(pages.page.locator("canvas").first).to_be_visible()
    pages.is_fine()


def test_a_comparison_outlives_a_deleted_backtest(page: Page, candidate: Candidate) -> None:
    pages = Pages(page, candidate)
    for number in range(2):
        candidate.result(f"b{number}", f"Try {number}", days=40, seed=number)
    pages.open("backtests/compare?ids=b0,deleted,b1")
    expect(page.get_by_role("heading", name="Compare 2 backtests")).to_be_visible()
    expect(page.get_by_text("no longer there, and left out: deleted")).to_be_visible()
    expect(page.locator("canvas").first).to_be_visible()
    expect(page.get_by_role("button", name="Remove Try 1")).to_be_visible()
    pages.open("backtests/compare?ids=deleted,gone")
    expect(page.get_by_text("None of them is left")).to_be_visible()


def test_what_is_not_there_is_said_to_be_not_there(page: Page, candidate: Candidate) -> None:
    pages = Pages(page, candidate)
    pages.open("nothing/backtest")
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()


def test_the_price_chart_and_the_trades_lead_to_each_other(
    pages: Pages, candidate: Candidate
) -> None:
    days = list(range(60))
    prices = [100.0 + day % 7 for day in days]
    columns = dict.fromkeys(("open", "high", "low", "close"), prices)
    body = {"symbol": "BTC-USD", "interval": "1d", "time": [START + day * DAY for day in days]}
    candidate.push("/v1/live/bars", body | columns)
    trades = [
        {"time": START + day * DAY, "side": side, "note": f"sent on day {day}"}
        for day, side in ((20, "buy"), (30, "sell"))
    ]
    traded = {"symbol": "BTC-USD", "size": 1, "price": 103}
    result = simulated("chart", days=60) | {"trades": [one | traded for one in trades]}
    candidate.push("/v1/backtest/result", result)
    page = pages.page
    pages.open("chart/backtest")
    chart = page.get_by_role("figure", name="Prices of BTC-USD during the backtest")
    expect(chart).to_contain_text("Bars from the model")
    trips = page.get_by_role("table", name="Round trips", exact=True)
    trips.get_by_role("button", name="BTC-USD").click()
    first, last = START + 10 * DAY, START + 40 * DAY
    page.wait_for_url(f"**&prices={first}_{last}@{START + 20 * DAY}")
    expect(chart).to_contain_text("at 2022-01-11")
    press_arrow(page, chart)
    dialog = page.get_by_role("dialog", name="Trade 1")
    expect(dialog).to_contain_text("sent on day 20")
    pages.is_fine()
    page.keyboard.press("Escape")
    page.reload()
    expect(chart.locator("[data-mark=moment]")).to_be_visible()
    page.get_by_role("link", name="Overview", exact=True).click()
    page.go_back()
    expect(chart.locator("[data-mark=moment]")).to_be_visible()


def press_arrow(page: Page, chart: Locator) -> None:
    """At the moment that is marked, at whatever price."""
    line = chart.locator("[data-mark=moment]")
    expect(line).to_be_visible()
    line.scroll_into_view_if_needed()
    box = line.bounding_box()
    assert box is not None
    for at in range(8, int(box["height"]), 10):
        page.mouse.click(box["x"] + 1, box["y"] + at)
        if page.get_by_role("dialog").count():
            return
    pytest.fail("there is no arrow at the marked moment")
