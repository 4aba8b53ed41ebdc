"""Runs that no host takes: the pages say why, and call nothing failed."""

import msgspec
import pytest
from playwright.sync_api import expect
from sqlalchemy import insert

from tapeline.runs import described_hosts
from tapeline.runs.described_hosts import Description
from tapeline.store.tables.runs import runs
from tests.conftest import Service
from tests.e2e.conftest import Site
from tests.e2e.looks import is_fine
from tests.pushing import Model
from tests.watch.stored_runs import store_run

pytestmark = [pytest.mark.heavy, pytest.mark.scripted]

SLOW = 60_000  # milliseconds
WHY = "It waits for a host with Python 3.11"


def test_a_model_and_a_backtest_say_what_they_wait_for(
    site: Site, service: Service, model: Model
) -> None:
    page, project = site.page, model.project_id
    page.set_default_timeout(SLOW)
    silent = Description("n3vx8qhmw2td5rfy", "shed", "1.2.3", "")
    service.store.write_now(described_hosts.describe, silent)
    live = store_run(model)
    tested = msgspec.structs.replace(live, id="r-tested", kind="backtest", backtest_id="b1")
    row = msgspec.structs.asdict(tested)
    service.store.write_now(lambda c: c.execute(insert(runs).values(row)) and None)
    model.push("/v1/backtest/log", {"backtest_id": "b1", "line": "queued", "type": "info"})

    site.sign_in(path=f"/auth/signin?redirectUrl=%2F{project}")
    expect(page.get_by_role("row").filter(has_text="Pusher")).to_contain_text(WHY)
    expect(page.get_by_role("definition").nth(1)).to_have_text("0")  # failed
    is_fine(page, "a model that waits")
    site.open(f"/{project}/{model.id}/backtests")
    expect(page.get_by_role("row").filter(has_text="Backtest b1")).to_contain_text(WHY)
    is_fine(page, "a backtest that waits, in the list")
    page.get_by_role("link", name="Backtest b1").click()
    expect(page.get_by_role("main")).to_contain_text(WHY)
    expect(page.get_by_text("This backtest is queued")).to_have_count(0)
    is_fine(page, "a backtest that waits")
    site.open(f"/{project}/{model.id}/versions")
    expect(page.get_by_role("rowheader").filter(has_text=live.id)).to_be_visible()
    is_fine(page, "runs with their ids")
