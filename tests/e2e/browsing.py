"""One trader's browser for all tests of a module: fixtures, for modules that have a `server`."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.acceptance.conftest import PASSWORD, Server
from tests.acceptance.traders import Trader
from tests.e2e import looks
from tests.e2e.backtesting import Candidate

SLOW = 60_000  # milliseconds for what a busy machine takes long for


class Pages:
    """A trader's browser."""

    def __init__(self, page: Page, candidate: Candidate) -> None:
        self.page = page
        self.candidate = candidate
        self._address = candidate.trader.server.address

    def open(self, path: str) -> None:
        self.page.goto(f"{self._address}{self.candidate.path}/{path}")

    def is_fine(self) -> None:
        looks.is_fine_as_it_is(self.page, self.page.url)

    def panel(self, title: str) -> Locator:
        heading = self.page.get_by_role("heading", name=title, exact=True)
        return self.page.locator("section").filter(has=heading)


@contextmanager
def signed_in(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    """Ada's browser, with JavaScript. All tests of a module use it, each in a tab of its own: a new
    browser would load and compile the app again for each of them."""
    with browser.new_context(timezone_id="UTC") as context, context.new_page() as page:
        page.goto(f"{server.address}/auth/signin?redirectUrl=/settings")
        page.get_by_label("Email address").fill("ada@example.com")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("navigation")).to_contain_text("ada@example.com", timeout=SLOW)
        page.close()
        yield context


@pytest.fixture(scope="module")
def trader(server: Server) -> Iterator[Trader]:
    trader = Trader(server)
    yield trader
    trader.client.close()


@pytest.fixture(scope="module")
def context(browser: Browser, server: Server, trader: Trader) -> Iterator[BrowserContext]:
    with signed_in(browser, server) as context:
        yield context


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    with context.new_page() as page:
        yield page
