"""What things are called: a project is made and named anew, and so is a model."""

import pytest
from playwright.sync_api import Page, expect

from tapeline.accounts.users import User
from tests.e2e.conftest import Site

pytestmark = [pytest.mark.heavy, pytest.mark.scripted]

SLOW = 60_000  # milliseconds


def name(page: Page, called: str, description: str, button: str) -> None:
    page.get_by_role("textbox", name="Name").fill(called)
    page.get_by_role("textbox", name="Description").fill(description)
    page.get_by_role("button", name=button, exact=True).click()


def is_refused(page: Page, field: str) -> None:
    """The server's reason stands at the field it is about, and what was typed is still there."""
    box = page.get_by_role("textbox", name=field)
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert box.input_value()


@pytest.mark.usefixtures("ada")
def test_a_project_is_made_and_named_anew(site: Site) -> None:
    page = site.page
    page.set_default_timeout(SLOW)
    site.sign_in(path="/auth/signin?redirectUrl=%2Fnew-project")
    name(page, "   ", "For two", "Create")
    is_refused(page, "Name")
    name(page, "Fund", "For two", "Create")
    expect(page.get_by_role("heading", name="Fund", level=1)).to_be_visible(timeout=SLOW)
    page.get_by_role("link", name="Settings", exact=True).click()
    expect(page.get_by_role("textbox", name="Description")).to_have_value("For two")
    name(page, "Fund II", "For three", "Save")
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_role("button", name="Project Fund II")).to_be_visible()
    page.reload()
    expect(page.get_by_role("textbox", name="Name")).to_have_value("Fund II")
    expect(page.get_by_role("textbox", name="Description")).to_have_value("For three")


def test_a_model_is_named_anew(site: Site, ada: User) -> None:
    page = site.page
    page.set_default_timeout(SLOW)
    site.sign_in(path="/auth/signin?redirectUrl=%2Faccount")
    here = site.service.address
    made = page.request.post(
        f"{here}/model/create-model",
        data={"projectId": ada.id, "name": "Frist"},
        headers={"Origin": here},
    ).json()
    site.open(f"/{ada.id}/{made['modelId']}/settings")
    name(page, "First", "d" * 20_000, "Save")
    is_refused(page, "Description")
    name(page, "First", "Buys low", "Save")
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_role("heading", name="First", level=1)).to_be_visible()
    page.reload()
    expect(page.get_by_role("textbox", name="Description")).to_have_value("Buys low")
