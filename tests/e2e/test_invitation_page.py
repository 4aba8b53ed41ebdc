"""Invitation links, as the person who gets one sees them."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Connection, update

from tapeline.accounts import invitations, members, sign_ins
from tapeline.accounts.sign_ins import Origin
from tapeline.accounts.users import User
from tapeline.models import onboarding, projects
from tapeline.settings import Settings
from tapeline.store.tables import core
from tests.conftest import PASSWORD, Service, running
from tests.e2e.conftest import Site

pytestmark = pytest.mark.heavy


@dataclass(frozen=True)
class Invited:
    project_id: str
    link: str


def invite(service: Service, owner: User) -> Invited:
    store = service.store
    _, actor = store.write_now(sign_ins.begin, owner, "token", Origin("127.0.0.1", "test"))
    project = store.write_now(projects.create, actor, owner, "Momentum", "")
    secret, _ = store.write_now(invitations.invite, actor, project.id, "member", 7)
    return Invited(project.id, f"/auth/invitation/{secret}")


@pytest.fixture
def invited(service: Service, ada: User) -> Invited:
    return invite(service, ada)


def team(service: Service, project_id: str) -> dict[str, str]:
    return {one.email: one.role for one in service.store.read_now(members.of_project, project_id)}


def test_a_person_with_an_account_signs_in_and_joins(
    site: Site, invited: Invited, account: Callable[[str], User]
) -> None:
    account("bob")
    assert site.open(invited.link) == 200
    assert site.heading == "Join Momentum"
    expect(site.page.get_by_role("main")).to_contain_text("ada@example.com invited you")
    site.page.get_by_role("link", name="Sign in to join").click()
    site.fill_sign_in("bob@example.com", PASSWORD)
    site.press("Sign in")
    assert site.path == invited.link
    expect(site.page.get_by_role("main")).to_contain_text("You join as bob@example.com")
    site.press("Join")
    assert site.path == f"/{invited.project_id}"
    assert team(site.service, invited.project_id)["bob@example.com"] == "member"


def test_a_person_without_an_account_signs_up_through_the_link(
    site: Site, invited: Invited
) -> None:
    site.open(invited.link)
    site.page.get_by_role("link", name="Create an account").click()
    expect(site.page.get_by_role("main")).to_contain_text("To join Momentum as member")
    site.page.get_by_label("Email address").fill("new@example.com")
    site.page.get_by_label("Password").fill(PASSWORD)
    site.press("Create account")
    assert site.path == "/"
    assert team(site.service, invited.project_id)["new@example.com"] == "member"


def test_a_used_link_says_so(site: Site, invited: Invited, account: Callable[[str], User]) -> None:
    account("bob")
    site.sign_in("bob@example.com")
    site.open(invited.link)
    site.press("Join")
    assert site.open(invited.link) == 404
    assert site.heading == "This invitation does not work"


def test_an_expired_or_unknown_link_says_so(site: Site, invited: Invited) -> None:
    def expire(connection: Connection) -> None:
        connection.execute(update(core.invitations).values(expires_at=time.time() - 1))

    site.service.store.write_now(expire)
    secret = invited.link.rpartition("/")[2]
    for address in (invited.link, f"/auth/signup?invitation={secret}", "/auth/invitation/nope"):
        assert site.open(address) == 404
        assert site.heading == "This invitation does not work"
        expect(site.page.get_by_role("main")).to_contain_text("has expired or has been used")


def test_who_is_a_member_already_is_told(site: Site, invited: Invited) -> None:
    site.sign_in()
    site.open(invited.link)
    assert site.press("Join") == 409
    assert site.heading == "You are in already"


def test_where_sign_up_is_closed_the_link_asks_to_sign_in(
    page: Page, settings: Settings, password_hash: str
) -> None:
    with running(replace(settings, signup="closed")) as service:
        owner = service.store.write_now(
            onboarding.add_by_operator,
            email="ada@example.com",
            name="Ada",
            password_hash=password_hash,
        )
        site = Site(page, service)
        site.open(invite(service, owner).link)
        assert page.get_by_role("link", name="Create an account").count() == 0
        expect(page.get_by_role("link", name="Sign in to join")).to_be_visible()
