"""An open page says by itself that the host of its model has fallen silent."""

import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect

from tests import needs
from tests.acceptance.conftest import Home, Server
from tests.acceptance.traders import Trader, pythons
from tests.e2e.browsing import SLOW, context, page, trader
from tests.waiting import SLOW_MACHINE

pytestmark = [pytest.mark.heavy, needs.root("needs a host where models run")]

__all__ = ["context", "page", "trader"]

QUIET = "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.1)\n"


@pytest.fixture(scope="module")
def server(shared_home: Home) -> Server:
    return shared_home.up(TAPELINE_PYTHONS=pythons()[0].path, TAPELINE_STOP_SECONDS="2")


def test_an_open_page_says_that_the_host_is_silent(
    page: Page, trader: Trader, server: Server
) -> None:
    deployed = trader.deploy(QUIET)
    trader.wait_for_state(deployed, "running")
    page.goto(f"{server.address}/{trader.user_id}/{deployed['modelId']}/overview")
    facts = page.locator("section").filter(has=page.get_by_role("heading", name="Run", exact=True))
    expect(facts).to_contain_text("running", timeout=SLOW)
    tables = server.home.data / "tapeline.db"
    with closing(sqlite3.connect(tables, timeout=SLOW_MACHINE)) as database, database:
        database.execute("update runs set host = 'gone' where id = ?", [deployed["runId"]])
    expect(facts).to_contain_text("unreachable", timeout=SLOW)
    expect(facts).not_to_contain_text("running")
