"""The app in a real browser, against the real command with a real model running in its sandbox."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.acceptance.conftest import PASSWORD, Home, Server
from tests.acceptance.traders import Trader, pythons
from tests.archives import zipped

pytestmark = pytest.mark.heavy

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
SLOW = 60_000  # milliseconds: a loaded machine installs and starts slowly
TRADING = """
import json, os, time, urllib.request

def push(path, body):
    headers = {"Content-Type": "application/json", "model_id": os.environ["TAPELINE_MODEL_ID"],
        "api_key": os.environ["TAPELINE_API_KEY"], "api_pass": os.environ["TAPELINE_API_PASS"]}
    address = os.environ["TAPELINE_URL"] + path
    urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), headers))

push("/v1/model/used-symbol", {"symbol": "BTC-USD"})
for tick in range(100000):
    print("tick", tick, flush=True)
    if tick < 6:
        side = "buy" if tick % 2 == 0 else "sell"
        push("/v1/live/spot-limit", {"id": str(tick), "symbol": "BTC-USD", "exchange": "simulated",
            "side": side, "size": 1, "price": 100 + tick, "annotation": "crossed"})
    time.sleep(0.5)
"""


@pytest.fixture
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """With JavaScript, which all other pages do without."""
    return {**browser_context_args, "java_script_enabled": True}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = Home(tmp_path_factory.mktemp("app") / "home")
    home.path.mkdir()
    everywhere = ",".join(one.path for one in pythons())
    yield home.up(TAPELINE_PYTHONS=everywhere, TAPELINE_STOP_SECONDS="2", TAPELINE_SIGNUP="open")
    home.servers[0].end()
    home.close()


@pytest.fixture(scope="module")
def stage(server: Server) -> Iterator[tuple[Trader, str]]:
    """A trader with a model that trades."""
    trader = Trader(server, "grace@example.com")
    deployed = trader.deploy(TRADING)
    trader.wait_for_state(deployed, "running")
    trader.wait_for_line(deployed["modelId"], "tick 6")
    yield trader, deployed["modelId"]
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
def test_a_newcomer_deploys_a_zip_watches_it_trade_and_stops_it(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/auth/signup")
    page.get_by_label("Email address").fill("ada@example.com")
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Make account").click()
    expect(page.get_by_role("heading", name="From your terminal")).to_be_visible(timeout=SLOW)

    page.get_by_role("link", name="Upload a zip").click()
    content = zipped({"main.py": TRADING})
    wrong = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"hello"}
    page.get_by_label("Archive of the model").set_input_files(wrong)  # type: ignore[arg-type]
    expect(page.get_by_role("alert")).to_contain_text("not a zip file")
    bad = {"name": "bad.zip", "mimeType": "application/zip", "buffer": b"PK nothing"}
    page.get_by_label("Archive of the model").set_input_files(bad)  # type: ignore[arg-type]
    page.get_by_role("button", name="Deploy", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible(timeout=SLOW)
    good = {"name": "Crossing.zip", "mimeType": "application/zip", "buffer": content}
    page.get_by_label("Archive of the model").set_input_files(good)  # type: ignore[arg-type]
    page.get_by_label("Plan").select_option("micro")
    page.get_by_role("button", name="Deploy", exact=True).click()
    expect(page.get_by_text("It runs: done")).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("log")).to_contain_text("tick 0", timeout=SLOW)

    page.get_by_role("link", name="Open the model").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Crossing")
    main = page.get_by_role("main")
    expect(main.get_by_text("Running", exact=True)).to_be_visible()
    expect(main.get_by_text("micro")).to_be_visible()
    # The orders come by themselves: in the table, and on the chart.
    details = page.get_by_role("button", name="Details of order 5")
    expect(details).to_be_visible(timeout=SLOW)
    expect(
        page.get_by_role("figure", name="Profit and loss").locator("canvas").first
    ).to_be_visible()
    page.get_by_role("button", name="Show as a table").click()
    table = page.get_by_role("region", name="Profit and loss as a table")
    expect(table.get_by_role("row")).to_have_count(7, timeout=SLOW)
    details.click()
    expect(page.get_by_role("dialog")).to_contain_text("crossed")
    page.keyboard.press("Escape")
    # The log is live: what was not there yet appears without a reload.
    seen = page.get_by_role("log").inner_text()
    last = max(int(line.rsplit(" ", 1)[1]) for line in seen.splitlines() if "tick " in line)
    expect(page.get_by_role("log")).to_contain_text(f"tick {last + 3}", timeout=SLOW)

    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("alertdialog").get_by_role("button", name="Stop it").click()
    expect(main.get_by_text("Stopped", exact=True)).to_be_visible(timeout=SLOW)
    page.get_by_role("link", name="Models", exact=True).click()
    expect(main.get_by_role("link", name="Crossing")).to_be_visible()
    expect(page.get_by_role("button", name="Start Crossing")).to_be_visible()


@pytest.mark.usefixtures("complaints")
def test_a_lost_session_returns_to_the_same_place(
    page: Page, server: Server, stage: tuple[Trader, str]
) -> None:
    trader, model = stage
    sign_in(page, server, f"/{trader.user_id}/{model}/overview")
    expect(page.get_by_role("heading", level=1)).to_have_text("One", timeout=SLOW)
    page.context.clear_cookies()
    page.goto(f"{server.address}/{trader.user_id}/keys")
    page.wait_for_url("**/auth/signin?**", timeout=SLOW)
    fill(page, "grace@example.com")
    expect(page.get_by_role("heading", name="Keys", level=1)).to_be_visible(timeout=SLOW)
    assert page.url == f"{server.address}/{trader.user_id}/keys"


@pytest.mark.usefixtures("complaints")
def test_the_palette_leads_anywhere_by_keyboard(
    page: Page, server: Server, stage: tuple[Trader, str]
) -> None:
    trader, model = stage
    sign_in(page, server, f"/{trader.user_id}")
    expect(page.get_by_role("main").get_by_role("link", name="One")).to_be_visible(timeout=SLOW)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search").fill("on")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{model}/overview")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search").fill("dark")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def pages_of(project: str, model: str) -> dict[str, str]:
    """Every page, and the heading or region that says that it has loaded."""
    own = f"/{project}/{model}"
    return {
        f"/{project}": "One",
        f"{own}/overview": "Newest orders",
        f"{own}/orders": "Annotation",
        f"{own}/logs": "Jump to",
        f"{own}/events": "No events",
        f"{own}/versions": "No description",
        f"{own}/settings": "No secrets yet",
        f"/{project}/deploy": "Drop the zip",
        f"/{project}/members": "No open invitations",
        f"/{project}/keys": "Keys in use",
        f"/{project}/audit": "model created",
        f"/{project}/settings": "Project settings",
        "/account": "this browser",
        "/new-project": "New project",
        f"{own}/nothing": "There is nothing here",
    }


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 1440), ("light", 390)])
def test_every_page_is_accessible_and_fits(
    browser: Browser,
    server: Server,
    stage: tuple[Trader, str],
    scheme: Literal["light", "dark"],
    width: int,
) -> None:
    trader, model = stage
    axe = AXE.read_text("utf-8")
    with browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    ) as context:
        page = context.new_page()
        sign_in(page, server, "/account")
        for path, text in pages_of(trader.user_id, model).items():
            page.goto(server.address + path)
            expect(page.get_by_role("main")).to_contain_text(text, timeout=SLOW)
            page.wait_for_timeout(300)
            found = page.evaluate(f"() => {{ {axe}; return axe.run(); }}")
            wrong = [
                (one["id"], node["html"][:200], node["failureSummary"][:300])
                for one in found["violations"]
                for node in one["nodes"]
            ]
            assert wrong == [], path
            sizes = page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
            assert sizes[0] <= sizes[1], f"{path} scrolls sideways"
