"""Dialogs by keyboard alone: whoever closes one goes on where they were."""

import msgspec
import pytest
from playwright.sync_api import Locator, Page, expect

from tapeline.runs import described_hosts
from tapeline.runs.described_hosts import Description, Node
from tests.conftest import Service
from tests.e2e.conftest import Site
from tests.pushing import RESULT, Model

pytestmark = [pytest.mark.heavy, pytest.mark.scripted]

SLOW = 60_000  # milliseconds
NODE = Node(
    address="10.0.0.2", cores=4.0, cores_free=2.5, memory=8_000_000_000,
    memory_free=6_000_000_000, confinement="bubblewrap",
)  # fmt: skip


@pytest.fixture
def page(page: Page) -> Page:
    page.set_default_timeout(SLOW)
    return page


def opened_by(button: Locator, dialog: Locator) -> Locator:
    button.focus()
    button.press("Enter")
    expect(dialog).to_be_visible()
    return dialog


def gives_back_the_focus(button: Locator, dialog: Locator, to: Locator | None = None) -> None:
    opened_by(button, dialog).press("Escape")
    expect(dialog).to_have_count(0)
    expect(to or button).to_be_focused()


def test_a_confirmation_gives_back_the_focus_also_when_confirmed(
    site: Site, page: Page, service: Service, model: Model
) -> None:
    said = msgspec.json.encode(NODE).decode()
    for name in ("n3vx8qhmw2td5rfy", "k3vx8qhmw2td5rfy"):
        known = Description(name, "vm", "1.2.3", "", "", "[]", said)
        service.store.write_now(described_hosts.describe, known)
    site.sign_in(path="/auth/signin?redirectUrl=%2Fhealth")
    drain = page.get_by_role("button", name="Drain vm (n3vx8qhmw2td5rfy)", exact=True)
    question = page.get_by_role("alertdialog", name="Drain vm (n3vx8qhmw2td5rfy)?")
    gives_back_the_focus(drain, question)
    opened_by(drain, question).get_by_role("button", name="Drain").press("Enter")
    expect(question).to_have_count(0)
    undrain = page.get_by_role("button", name="Undrain vm (n3vx8qhmw2td5rfy)", exact=True)
    expect(undrain).to_be_focused()


def test_dialogs_give_back_the_focus_to_their_button_or_menu(
    site: Site, page: Page, model: Model
) -> None:
    model.push("/v1/backtest/result", RESULT)
    site.sign_in(path=f"/auth/signin?redirectUrl=%2F{model.project_id}%2F{model.id}%2Fbacktests")
    share = page.get_by_role("button", name="Share", exact=True)
    gives_back_the_focus(share, page.get_by_role("dialog", name="Share Pusher"))
    search = page.get_by_role("dialog", name="Search")
    share.press("Control+k")
    expect(search).to_be_visible()
    search.press("Escape")
    expect(share).to_be_focused()

    actions = page.get_by_role("button", name="Actions for")
    actions.press("Enter")
    delete = page.get_by_role("menuitem", name="Delete")
    question = page.get_by_role("alertdialog")
    gives_back_the_focus(delete, question, to=actions)

    actions.press("Enter")
    opened_by(delete, question).get_by_role("button", name="Delete").press("Enter")
    expect(question).to_have_count(0)
    expect(actions).to_have_count(0)
    expect(page.locator("main")).to_be_focused()
