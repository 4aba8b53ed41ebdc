"""The red button: a project is halted from its page, each model is told apart, and it goes on."""

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Site
from tests.e2e.looks import is_fine
from tests.pushing import Model

pytestmark = [pytest.mark.heavy, pytest.mark.scripted]

SLOW = 60_000  # milliseconds
WHY = "Prices are wrong on every exchange since the maintenance of this morning"


def test_everything_of_a_project_is_halted_and_resumed(site: Site, model: Model) -> None:
    page, project = site.page, model.project_id
    page.set_default_timeout(SLOW)
    model.push("/v1/live/log", {"line": "up", "type": "info"})
    site.sign_in(path=f"/auth/signin?redirectUrl=%2F{project}")
    page.get_by_role("button", name="Halt", exact=True).click()
    page.get_by_label("Why").fill(WHY)
    is_fine(page, "the question before a halt")
    page.get_by_role("button", name="Stop every model now").click()
    page.wait_for_url(f"**/{project}/halt")
    row = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="Pusher"))
    expect(row).to_contain_text("Not known to be stopped")
    expect(page.get_by_text("1 not known to be stopped")).to_be_visible()
    is_fine(page, "a halt")

    page.get_by_role("link", name="Models", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text(WHY)
    expect(page.get_by_role("button", name="Halt", exact=True)).to_have_count(0)
    is_fine(page, "a halted project")
    page.get_by_role("link", name="See each model").click()

    model.post("/v1/live/lifecycle", {"message": "Stopped", "running": False})
    expect(row).to_contain_text("By its own word")
    expect(page.get_by_text("The model is stopped, by its own word.")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Resume").click()
    expect(page.get_by_text("Resumed", exact=False).first).to_be_visible()
    expect(page.get_by_role("button", name="Stop every model")).to_be_visible()
