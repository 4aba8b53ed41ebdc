"""Watching from the pages: a rule is made, fires, rings, is acknowledged, and is over."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from tapeline.settings import Settings
from tests.e2e.conftest import Site
from tests.e2e.looks import is_fine
from tests.pushing import Model
from tests.receivers import http_receiver

pytestmark = [pytest.mark.heavy, pytest.mark.scripted]

SLOW = 60_000  # milliseconds


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    """Its operator lets messages go to this machine."""
    return replace(sqlite_settings, alerts_may_reach="127.0.0.1")


def test_a_rule_is_made_fires_rings_is_acknowledged_and_is_over(site: Site, model: Model) -> None:
    page, project = site.page, model.project_id
    page.set_default_timeout(SLOW)
    for message in ("Crashed", "Running"):
        model.push("/v1/live/lifecycle", {"message": message, "running": message == "Running"})
    site.sign_in(path=f"/auth/signin?redirectUrl=%2F{project}%2Fwatching")
    expect(page.get_by_text("Nothing is watched yet")).to_be_visible()
    is_fine(page, "no rules")
    page.get_by_role("link", name="Add the first rule").click()
    expect(page.get_by_text("Choose what to watch.", exact=True)).to_be_visible()
    page.get_by_label("Look at").select_option(label="Pusher")
    page.get_by_label("When").select_option(label="Crashed")
    page.get_by_label("Within").fill("soon")
    page.get_by_role("textbox", name="Name").fill("It fell over")
    page.get_by_label("Severity").select_option("critical")
    expect(page.get_by_text("Within must be a length of time")).to_be_visible()  # once
    expect(page.get_by_role("button", name="Add the rule")).to_be_disabled()
    is_fine(page, "the form of a rule")
    page.get_by_label("Within").fill("1s")
    expect(page.get_by_text("It would have fired once.")).to_be_visible()
    is_fine(page, "the preview of a rule")
    page.get_by_role("button", name="Add the rule").click()
    row = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="It fell over"))
    expect(row).to_contain_text("It has not crashed.")
    expect(row).to_contain_text("OK")
    expect(page.get_by_role("link", name="No open incidents")).to_be_visible()

    model.push("/v1/live/lifecycle", {"message": "Crashed", "running": False})
    expect(row).to_contain_text("Firing")  # without loading the page again
    is_fine(page, "a rule that fires")
    page.get_by_role("link", name="1 open incident").click()
    expect(page.get_by_role("heading", name="Incidents")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="It fell over").click()
    expect(page.get_by_text("Open for")).to_be_visible()
    page.get_by_label("Note").fill("I am on it")
    page.get_by_role("button", name="Acknowledge").click()
    expect(page.get_by_text("Acknowledged by")).to_be_visible()
    timeline = page.locator("section", has=page.get_by_role("heading", name="Timeline"))
    expect(timeline).to_contain_text("I am on it")
    is_fine(page, "an incident")

    model.push("/v1/live/lifecycle", {"message": "Running", "running": True})
    expect(page.get_by_text("Resolved after")).to_be_visible()
    expect(timeline).to_contain_text("Resolved")
    expect(page.get_by_role("link", name="No open incidents")).to_be_visible()
    page.get_by_role("link", name="The model at that moment").click()
    rules = page.locator("section", has=page.get_by_role("heading", name="Rules"))
    expect(rules).to_contain_text("It fell over")
    expect(rules).to_contain_text("OK")


def test_a_rule_is_changed_muted_and_deleted(site: Site, model: Model) -> None:
    page, project = site.page, model.project_id
    page.set_default_timeout(SLOW)
    said = {"name": "Flaps", "when": "restarting", "limit": 3, "model_id": model.id}
    assert model.owner.post(f"/api/projects/{project}/rules", json=said).status_code == 200
    site.sign_in(path=f"/auth/signin?redirectUrl=%2F{project}%2Fwatching")
    page.get_by_role("link", name="Flaps").click()
    expect(page.get_by_label("Limit")).to_have_value("3")
    page.get_by_label("Limit").fill("5,5")
    expect(page.get_by_text("Write 5.5 with a point.")).to_be_visible()
    expect(page.get_by_role("button", name="Save the rule")).to_be_disabled()
    page.get_by_label("Limit").fill("5")
    page.get_by_label("Counts").select_option("times")
    page.get_by_role("textbox", name="Time zone").fill("Europe/Berlin")
    page.get_by_role("button", name="Save the rule").click()
    row = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Flaps"))
    expect(row).to_contain_text("limit 5")
    actions = page.get_by_role("button", name="Actions for Flaps")
    actions.click()
    page.get_by_role("menuitem", name="Mute…").click()
    page.get_by_label("Why").fill("It is known")
    is_fine(page, "muting")
    page.get_by_role("button", name="Mute", exact=True).click()
    expect(row).to_contain_text("It is known")
    actions.click()
    page.get_by_role("menuitem", name="End the mute").click()
    expect(row).not_to_contain_text("It is known")
    kept = model.owner.get(f"/api/projects/{project}/rules").json()["items"][0]
    assert (kept["limit"], kept["hours"]["zone"]) == (5, "Europe/Berlin")
    actions.click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Nothing is watched yet")).to_be_visible()


def test_a_channel_says_what_arrived_and_what_did_not(site: Site, model: Model) -> None:
    page, project = site.page, model.project_id
    page.set_default_timeout(SLOW)
    site.sign_in(path=f"/auth/signin?redirectUrl=%2F{project}%2Fchannels")
    with http_receiver() as receiver:
        page.get_by_role("button", name="Add a channel").click()
        form = page.get_by_role("dialog")
        form.get_by_label("Name").fill("On call")
        form.get_by_label("Address").fill(f"{receiver.url}/secret-path")
        form.get_by_label("Quiet hours").check()
        is_fine(page, "the form of a channel")
        form.get_by_role("button", name="Add the channel").click()
        expect(page.get_by_text("it is shown only once")).to_be_visible()
        is_fine(page, "the secret of a webhook")
        page.get_by_role("button", name="Close").click()
        row = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="On call"))
        expect(row).to_contain_text("Quiet from 22:00")
        expect(row).not_to_contain_text("secret-path")
        row.get_by_role("button", name="Send a test").click()
        expect(row).to_contain_text("It arrived (204)")
        assert len(receiver.received) == 1
        receiver.status = 500
        row.get_by_role("button", name="Send a test").click()
        expect(row).to_contain_text("It did not arrive (500)")
        is_fine(page, "channels")
    row.get_by_role("button", name="Actions for On call").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Nobody is told yet")).to_be_visible()


def test_an_operator_halts_everything_from_the_page_of_health(site: Site, model: Model) -> None:
    page = site.page
    page.set_default_timeout(SLOW)
    model.push("/v1/live/log", {"line": "up", "type": "info"})
    site.sign_in(path="/auth/signin?redirectUrl=%2Fhealth")
    page.get_by_role("button", name="Halt everything").click()
    page.get_by_label("Why").fill("Drill")
    page.get_by_role("button", name="Stop every model now").click()
    page.wait_for_url("**/halt")
    row = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="Pusher"))
    expect(row).to_contain_text("Not known to be stopped")
    is_fine(page, "a halt of everything")
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Stop every model")).to_be_visible()
