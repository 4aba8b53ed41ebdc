"""The app in a real browser, against the real command with a real model running in its sandbox."""

from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Request, TimeoutError, expect

from tests.acceptance.conftest import PASSWORD, Home, Server
from tests.acceptance.traders import Trader, pythons
from tests.archives import zipped
from tests.e2e.app_stage import TRADING, Stage, pages_of
from tests.e2e.backtesting import Candidate
from tests.e2e.looks import holds_its_controls, is_fine

pytestmark = [pytest.mark.heavy, pytest.mark.scripted]

SLOW = 60_000  # milliseconds: a loaded machine installs and starts slowly
OPERATOR = "operator@example.com"
SIZE, TESTED_SIZE = "7.654321", "3.219876"  # nobody writes these by chance
SHOWN_SIZE = "3.2199"


@pytest.fixture(scope="module")
def server(shared_home: Home) -> Iterator[Server]:
    home = shared_home
    everywhere = ",".join(one.path for one in pythons())
    up = home.up(TAPELINE_PYTHONS=everywhere, TAPELINE_STOP_SECONDS="2", TAPELINE_SIGNUP="open")
    Trader(up, OPERATOR).client.close()  # the first account
    yield up
    up.end()


@pytest.fixture(scope="module")
def stage(server: Server) -> Iterator[Stage]:
    trader = Trader(server, "grace@example.com")
    deployed = trader.deploy(TRADING)
    trader.wait_for_state(deployed, "running")
    trader.wait_for_line(deployed["modelId"], "tick 6")
    candidate = Candidate(trader, model=deployed["modelId"])
    candidate.result("first", "First try", label="baseline", days=400, seed=4)
    candidate.result("second", "Second try", days=400, seed=5)
    links = {
        "live": candidate.share(base=5_000, title="A live record"),
        "tested": candidate.share(backtest_id="first"),
        "hidden": candidate.share(percent_only=True, hide_symbols=True, hide_sizes=True),
        "locked": candidate.share(password="correct horse"),
    }
    yield Stage(trader, candidate, links)
    trader.kill(deployed["modelId"])
    trader.client.close()


@pytest.fixture
def complaints(page: Page) -> Iterator[list[str]]:
    """What the page's policy refuses must be nothing."""
    found: list[str] = []
    page.on("console", lambda message: found.append(message.text))
    page.on("pageerror", lambda error: found.append(f"Content Security Policy? {error}"))
    yield found
    assert [text for text in found if "Content Security Policy" in text] == []


def sign_in(page: Page, server: Server, path: str, email: str = "grace@example.com") -> None:
    page.goto(f"{server.address}/auth/signin?redirectUrl={quote(path, safe='')}")
    fill(page, email)


def fill(page: Page, email: str) -> None:
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


@pytest.mark.usefixtures("complaints")
def test_the_whole_line_from_signing_up_to_a_stranger_who_looks(
    page: Page, browser: Browser, server: Server
) -> None:
    page.set_default_timeout(SLOW)
    sign_up(page, server)
    connect_from_elsewhere(page, server)
    deploy(page)
    page.get_by_role("link", name="Open the model").click()
    watch_it_trade(page)
    compare_two_backtests(page)
    address = share_without_sizes(page)
    look_as_a_stranger(browser, address)
    stop(page)


def sign_up(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/auth/signup")
    page.get_by_label("Email address").fill("ada@example.com")
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", name="From your terminal")).to_be_visible(timeout=SLOW)


def connect_from_elsewhere(page: Page, server: Server) -> None:
    """The pass stays until it is dismissed, though the list has the new model meanwhile."""
    main = page.get_by_role("main")
    main.get_by_role("button", name="Connect a model").last.click()
    dialog = page.get_by_role("dialog", name="Connect a model")
    dialog.get_by_label("Name").fill("Elsewhere")
    dialog.get_by_role("button", name="Create a model and a key").click()
    fields = ("model_id", "api_key", "api_pass")
    said = {one: dialog.get_by_label(one, exact=True).inner_text() for one in fields}
    expect(page.get_by_role("link", name="Elsewhere", include_hidden=True).first).to_be_attached()
    page.keyboard.press("Escape")
    page.mouse.click(5, 5)
    holds_its_controls(page, dialog)
    log = {"line": "hello", "type": "stdout"}
    answer = page.request.post(f"{server.address}/v1/live/log", headers=said, data=log)
    assert answer.ok, answer.text()
    dialog.get_by_role("button", name="I have copied it").click()
    expect(dialog).to_have_count(0)
    expect(main.get_by_role("button", name="Connect a model")).to_be_visible()


def deploy(page: Page) -> None:
    page.get_by_role("link", name="Deploy a model").click()
    content = zipped({"main.py": TRADING}, backtest_args={"days": 30, "fast": 5})
    wrong = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"hello"}
    page.get_by_label("Model archive").set_input_files(wrong)  # type: ignore[arg-type]
    expect(page.get_by_role("alert")).to_contain_text("not a zip file")
    bad = {"name": "bad.zip", "mimeType": "application/zip", "buffer": b"PK nothing"}
    page.get_by_label("Model archive").set_input_files(bad)  # type: ignore[arg-type]
    page.get_by_role("button", name="Deploy", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible(timeout=SLOW)
    good = {"name": "Crossing.zip", "mimeType": "application/zip", "buffer": content}
    page.get_by_label("Model archive").set_input_files(good)  # type: ignore[arg-type]
    page.get_by_label("Plan").select_option("micro")
    page.get_by_role("button", name="Deploy", exact=True).click()
    expect(page.get_by_text("The model is running: done")).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("log")).to_contain_text("tick 0", timeout=SLOW)


def watch_it_trade(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("Crossing")
    main = page.get_by_role("main")
    expect(main.get_by_text("Running", exact=True)).to_be_visible()
    expect(main.get_by_text("micro")).to_be_visible()
    # The orders come by themselves: in the table, and on the chart.
    details = page.get_by_role("button", name="Details of order 5")
    expect(details).to_be_visible(timeout=SLOW)
    figure = page.get_by_role("figure", name="Profit and loss")
    expect(figure.locator("canvas").first).to_be_visible()
    # Three pairs of a buy and a sell, each three dollars above it.
    expect(main.get_by_text("+68.89").first).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Show as a table").click()
    table = page.get_by_role("region", name="Profit and loss over time as a table")
    expect(table.get_by_role("row")).to_have_count(7, timeout=SLOW)
    details.click()
    expect(page.get_by_role("dialog")).to_contain_text("crossed")
    page.keyboard.press("Escape")
    # The log is live: what was not there yet appears without a reload.
    seen = page.get_by_role("log").inner_text()
    last = max(int(line.rsplit(" ", 1)[1]) for line in seen.splitlines() if "tick " in line)
    expect(page.get_by_role("log")).to_contain_text(f"tick {last + 3}", timeout=SLOW)


def compare_two_backtests(page: Page) -> None:
    page.get_by_role("link", name="Backtests", exact=True).click()
    for name, fast in (("Slow", "5"), ("Fast", "9")):
        page.get_by_role("button", name="Run a backtest").first.click()
        dialog = page.get_by_role("dialog", name="Run a backtest")
        dialog.get_by_label("fast").fill(fast)
        dialog.get_by_label("Description").fill(name)
        dialog.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_role("heading", name=name)).to_be_visible(timeout=SLOW)
        state = page.get_by_role("status").filter(has_text="Done")
        expect(state).to_be_visible(timeout=SLOW)
        page.get_by_role("link", name="All backtests").click()
    for name in ("Slow", "Fast"):
        page.get_by_role("checkbox", name=f"Compare {name}").check()
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.get_by_role("heading", name="Compare 2 backtests")).to_be_visible(timeout=SLOW)
    chart = page.get_by_role("figure", name="Account values, each starting at 100")
    expect(chart.locator("canvas").first).to_be_visible()


def says_size(text: str) -> bool:
    return TESTED_SIZE in text or SHOWN_SIZE in text


def share_without_sizes(page: Page) -> str:
    page.get_by_role("link", name="Backtests", exact=True).click()
    page.get_by_role("row").get_by_role("link", name="Fast").click()
    page.get_by_role("button", name="Share this backtest").click()
    dialog = page.get_by_role("dialog", name="Share Fast")
    preview = dialog.frame_locator("iframe")
    trades = preview.get_by_role("region", name="Trades")
    expect(trades).to_contain_text(SHOWN_SIZE, timeout=SLOW)
    dialog.get_by_label("Percent only").check()
    # What others will see changes while one chooses.
    expect(preview.get_by_text("chose to hide amounts of money, sizes")).to_be_visible(timeout=SLOW)
    expect(trades).not_to_contain_text(SHOWN_SIZE)
    dialog.get_by_label("Title").fill("Fast averages")
    dialog.get_by_role("button", name="Create link").click()
    expect(dialog.get_by_text("it is shown this once")).to_be_visible(timeout=SLOW)
    address = dialog.get_by_label("link", exact=True).inner_text()
    assert "<iframe " in dialog.get_by_label("embed", exact=True).inner_text()
    expect(dialog.get_by_role("listitem").filter(has_text="Fast averages")).to_contain_text(
        "percent only"
    )
    page.keyboard.press("Escape")
    return address


def look_as_a_stranger(browser: Browser, address: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_have_text("Fast averages")
        expect(page.get_by_role("img", name="Account value over time").first).to_be_visible()
        expect(page.get_by_role("region", name="Trades")).to_contain_text("Buy")
        assert not says_size(page.content())
        token = address.rsplit("/", 1)[1]
        base = address.removesuffix(f"/s/{token}")
        for path in (
            "", "/curve", "/drawdown", "/metrics", "/trades", "/round-trips", "/export.json",
            "/trades.csv", "/round-trips.csv", "/tear-sheet", "/record",
        ):  # fmt: skip
            answer = page.request.get(f"{base}/api/shared/{token}{path}")
            assert answer.ok, path
            assert not says_size(answer.text()), path
        frame = page.request.get(f"{base}/embed/{token}")
        assert frame.ok
        assert not says_size(frame.text())


def stop(page: Page) -> None:
    main = page.get_by_role("main")
    page.get_by_role("link", name="Overview", exact=True).click()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("alertdialog").get_by_role("button", name="Stop").click()
    expect(main.get_by_text("Stopped", exact=True)).to_be_visible(timeout=SLOW)
    page.get_by_role("link", name="Models", exact=True).click()
    expect(main.get_by_role("link", name="Crossing")).to_be_visible()
    expect(page.get_by_role("button", name="Start Crossing")).to_be_visible()


@pytest.mark.usefixtures("complaints")
def test_a_live_record_is_shared_followed_and_revoked(
    page: Page, browser: Browser, server: Server, stage: Stage
) -> None:
    page.set_default_timeout(SLOW)
    sign_in(page, server, f"/{stage.project}/{stage.model}/overview")
    page.get_by_role("button", name="Share", exact=True).click()
    dialog = page.get_by_role("dialog", name="Share One")
    dialog.get_by_label("Percent only").check()
    dialog.get_by_label("Title").fill("Watched")
    dialog.get_by_label("Password").fill("open sesame")
    dialog.get_by_role("button", name="Create link").click()
    address = dialog.get_by_label("link", exact=True).inner_text()
    holds_its_controls(page, dialog)
    with browser.new_context() as context:
        stranger = context.new_page()
        told: list[str] = []
        stranger.on("pageerror", lambda error: told.append(str(error)))
        stranger.goto(address)
        stranger.get_by_label("Password").fill("wrong")
        stranger.get_by_role("button", name="Open").click()
        expect(stranger.get_by_text("The password for this link is wrong")).to_be_visible()
        stranger.get_by_label("Password").fill("open sesame")
        stranger.get_by_role("button", name="Open").click()
        expect(stranger.get_by_role("heading", level=1)).to_have_text("Watched")
        orders = stranger.get_by_role("region", name="Orders")
        # It is live: what the model does next appears by itself.
        expect(stranger.get_by_role("status").filter(has_text="Live")).to_be_visible(timeout=SLOW)
        expect(orders.get_by_role("row").nth(1)).to_be_visible()
        before = orders.get_by_role("row").count()
        stage.candidate.order("followed")
        expect(orders.get_by_role("row")).to_have_count(before + 1, timeout=SLOW)
        assert SIZE not in stranger.content()
        # Revoked, it is gone, also for who has it open.
        page.bring_to_front()
        dialog.get_by_role("button", name="Revoke Watched").click()
        page.get_by_role("alertdialog").get_by_role("button", name="Revoke").click()
        expect(dialog.get_by_text("Watched")).to_have_count(0)
        expect(dialog.get_by_role("button", name="Create link")).to_be_visible()
        stranger.reload()
        expect(stranger.get_by_role("heading", level=1)).to_have_text("This link does not work")
        assert told == []


class Questions:
    """What a page has asked the server and not heard of yet; its streams never end."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._open: set[Request] = set()
        page.on("request", self._asked)
        page.on("requestfinished", self._heard)
        page.on("requestfailed", self._heard)

    def _asked(self, request: Request) -> None:
        if not request.url.endswith("/stream") and "/stream?" not in request.url:
            self._open.add(request)

    def _heard(self, request: Request) -> None:
        self._open.discard(request)

    def are_answered(self) -> None:
        """All of them, and for a moment nothing more is asked."""
        quiet = 0
        for _ in range(SLOW // 100):
            self._page.wait_for_timeout(100)
            quiet = 0 if self._open else quiet + 1
            if quiet == 5:
                return
        raise AssertionError(f"not answered: {[one.url for one in self._open]}")


@pytest.mark.usefixtures("complaints")
def test_a_lost_session_returns_to_where_the_next_click_led(
    page: Page, server: Server, stage: Stage
) -> None:
    """On a live page, which asks for news by itself all the time."""
    page.set_default_timeout(SLOW)
    questions = Questions(page)
    overview = f"/{stage.project}/{stage.model}/overview"
    sign_in(page, server, overview)
    expect(page.get_by_role("heading", level=1)).to_have_text("One", timeout=SLOW)
    questions.are_answered()
    page.clock.install()
    page.clock.run_for(20_000)  # it has been open for a while
    questions.are_answered()
    page.context.clear_cookies()
    # What it asks for by itself takes nothing away from who reads.
    stage.candidate.order("unseen")
    expect(page.get_by_role("alert").filter(has_text="You are signed out")).to_be_visible(
        timeout=SLOW
    )
    assert page.url == server.address + overview
    expect(page.get_by_text("Newest orders")).to_be_visible()
    page.get_by_role("link", name="Keys", exact=True).click()
    page.wait_for_url("**/auth/signin?**", timeout=SLOW)
    fill(page, "grace@example.com")
    expect(page.get_by_role("heading", name="Keys", level=1)).to_be_visible(timeout=SLOW)
    assert page.url == f"{server.address}/{stage.project}/keys"
    # And on a page that is quiet, where nothing has noticed yet.
    expect(page.get_by_text("Keys in use")).to_be_visible(timeout=SLOW)
    questions.are_answered()
    page.clock.run_for(20_000)
    questions.are_answered()
    page.context.clear_cookies()
    page.get_by_role("link", name="Audit", exact=True).click()
    page.wait_for_url("**/auth/signin?**", timeout=SLOW)
    fill(page, "grace@example.com")
    page.wait_for_url("**/audit", timeout=SLOW)


@pytest.mark.usefixtures("complaints")
def test_the_palette_leads_anywhere_by_keyboard(page: Page, server: Server, stage: Stage) -> None:
    sign_in(page, server, f"/{stage.project}")
    expect(page.get_by_role("main").get_by_role("link", name="One")).to_be_visible(timeout=SLOW)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search").fill("on")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{stage.model}/overview")
    expect(page.get_by_role("link", name="Orders", exact=True)).to_be_visible(timeout=SLOW)
    page.keyboard.press("3")
    page.wait_for_url(f"**/{stage.model}/orders")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Portfolio of the project")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    for _ in range(10):  # the second key counts for a short time only
        page.keyboard.press("g")
        page.keyboard.press("p")
        with suppress(TimeoutError):
            page.wait_for_url(f"**/{stage.project}/portfolio", timeout=SLOW / 10)
            break
    page.wait_for_url(f"**/{stage.project}/portfolio")
    page.keyboard.press("/")
    page.get_by_role("combobox", name="Search").fill("dark")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_an_order_leads_to_its_place_in_the_price_chart_in_the_chosen_zone(
    page: Page, server: Server, stage: Stage
) -> None:
    sign_in(page, server, f"/{stage.project}/{stage.model}/orders")
    page.get_by_label("Time zone").locator("visible=true").select_option("utc")
    page.wait_for_url("**/orders?zone=utc")
    page.get_by_role("button", name="Details of order 5").click(timeout=SLOW)
    page.get_by_role("link", name="Show it in the price chart").click()
    figure = page.get_by_role("figure", name="Prices of BTC-USD")
    expect(figure).to_contain_text("A line of marks and fills", timeout=SLOW)
    expect(figure.locator("canvas")).to_be_visible(timeout=SLOW)
    assert {"zone=utc", "symbol=BTC-USD"} <= set(page.url.split("?")[1].split("&"))
    page.goto(f"{server.address}/{stage.project}/{stage.model}/overview")
    page.wait_for_url("**/overview?zone=utc")


def test_every_page_of_the_app_is_accessible_and_fits(
    page: Page, server: Server, stage: Stage
) -> None:
    sign_in(page, server, "/account")
    main = page.get_by_role("main")
    expect(main).to_contain_text("this browser", timeout=SLOW)
    for path, text in pages_of(stage)["app"].items():
        expect(main).not_to_contain_text(text)  # the words are those of the next page alone
        # As a link does it: the app and axe stay loaded, and compiled.
        page.evaluate("path => history.pushState({}, '', path)", path)
        expect(main).to_contain_text(text, timeout=SLOW)
        is_fine(page, path)


def test_every_form_is_accessible_and_fits(page: Page, server: Server, stage: Stage) -> None:
    for path in ("/auth/signin", "/auth/signup"):
        page.goto(server.address + path)
        is_fine(page, path)
    sign_in(page, server, "/settings")
    for path, text in pages_of(stage)["forms"].items():
        open_and_look(page, server, path, text)


def test_every_shared_page_is_accessible_and_fits(page: Page, server: Server, stage: Stage) -> None:
    for path, text in pages_of(stage)["shared"].items():
        open_and_look(page, server, path, text)


def open_and_look(page: Page, server: Server, path: str, text: str) -> None:
    page.goto(server.address + path)
    expect(page.get_by_role("main")).to_contain_text(text, timeout=SLOW)
    is_fine(page, path)


def test_the_health_page_is_accessible_and_fits(page: Page, server: Server) -> None:
    sign_in(page, server, "/health", OPERATOR)
    expect(page.get_by_role("main")).to_contain_text("Slowest statements", timeout=SLOW)
    is_fine(page, "the health page")
    page.set_viewport_size({"width": 390, "height": 844})
    table = page.get_by_role("region", name="Background work")
    expect(table).to_be_visible()
    cut = table.evaluate("it => it.scrollWidth - it.clientWidth")
    assert cut == 0, "no column is cut off"


def test_the_share_dialog_is_accessible_and_fits(page: Page, server: Server, stage: Stage) -> None:
    sign_in(page, server, f"/{stage.project}/{stage.model}/overview")
    page.get_by_role("button", name="Share", exact=True).click(timeout=SLOW)
    preview = page.get_by_role("dialog", name="Share One").frame_locator("iframe")
    end = preview.get_by_role("heading", name="Check this record")
    expect(end).to_be_visible(timeout=SLOW)
    is_fine(page, "the share dialog")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(end).to_be_visible()
