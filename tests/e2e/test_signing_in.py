"""Signing up, in and out in a browser without JavaScript."""

from collections.abc import Callable
from dataclasses import replace

import httpx
import pytest
from playwright.sync_api import Page, expect

from tapeline.accounts import limits
from tapeline.accounts.users import User
from tapeline.models import onboarding
from tapeline.settings import Settings
from tests.conftest import PASSWORD, Service, running
from tests.e2e.conftest import Site

pytestmark = pytest.mark.heavy

ELSEWHERE = (
    "//evil.example",
    "/%5Cevil.example",
    "https://evil.example",
    "/%09/evil.example",
    "%0A//evil.example",
    "javascript:alert(1)",
    "/%00",
    "evil.example",
)


def test_a_new_server_leads_to_the_first_account_and_home(site: Site) -> None:
    site.open("/")
    assert (site.path, site.heading) == ("/auth/signup", "Create the first account")
    site.page.get_by_label("Email address").fill("ada@example.com")
    site.page.get_by_label("Name").fill("Ada")
    site.page.get_by_label("Password").fill(PASSWORD)
    assert site.press("Create account") == 200
    # The app itself is tested with JavaScript; without, it says what still works.
    assert (site.path, site.heading) == ("/", "These pages need JavaScript")
    site.page.get_by_role("link", name="change your password").click()
    expect(site.page.get_by_role("navigation")).to_contain_text("ada@example.com")


@pytest.mark.usefixtures("ada")
def test_signing_in_leads_home_and_then_the_sign_in_page_does_too(site: Site) -> None:
    site.open("/")
    assert site.path == "/auth/signin"
    site.fill_sign_in("ADA@example.com", PASSWORD)
    assert site.press("Sign in") == 200
    assert site.path == "/"
    site.open("/auth/signin")
    assert site.path == "/"


@pytest.mark.usefixtures("ada")
def test_a_wrong_password_is_told_and_the_email_address_kept(site: Site) -> None:
    site.open("/auth/signin?redirectUrl=/settings")
    site.fill_sign_in("ada@example.com", "wrong")
    assert site.press("Sign in") == 401
    expect(site.page.get_by_role("alert")).to_have_text(
        "The email address or the password is wrong."
    )
    expect(site.page.get_by_label("Email address")).to_have_value("ada@example.com")
    expect(site.page.get_by_label("Password")).to_have_value("")
    expect(site.page.get_by_label("Password")).to_be_focused()
    assert site.page.title().startswith("Error: ")
    assert site.session() is None
    site.page.get_by_label("Password").fill(PASSWORD)
    site.press("Sign in")
    assert site.path == "/settings"


def test_too_many_attempts_are_told_with_when_to_come_back(
    page: Page, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SHORTEST_WAIT", 900.0)
    with running(replace(settings, signin_limit_account=1)) as service:
        site = Site(page, service)
        for status in (401, 429):
            site.open("/auth/signin")
            site.fill_sign_in("ada@example.com", "wrong")
            assert site.press("Sign in") == status
        expect(page.get_by_role("alert")).to_contain_text("Try again in 15 minutes")


@pytest.mark.usefixtures("ada")
def test_signing_out_ends_the_session_on_the_server(site: Site) -> None:
    site.sign_in()
    kept = site.session()
    assert kept is not None
    cookies = {kept["name"]: kept["value"]}
    assert (
        httpx.get(f"{site.service.address}/api/me", cookies=cookies, verify=False).status_code
        == 200
    )
    site.open("/settings")
    site.press("Sign out")
    assert site.path == "/auth/signin"
    assert site.session() is None
    assert (
        httpx.get(f"{site.service.address}/api/me", cookies=cookies, verify=False).status_code
        == 401
    )


def test_signing_in_again_ends_the_session_it_replaces(
    site: Site, ada: User, account: Callable[[str], User]
) -> None:
    account("bob")
    site.open("/auth/signin")
    stale = site.page.context.new_page()
    other = Site(stale, site.service)
    other.open("/auth/signin")
    site.sign_in()
    first = site.session()
    assert first is not None
    other.fill_sign_in("bob@example.com", PASSWORD)
    other.press("Sign in")
    other.open("/settings")
    expect(stale.get_by_role("navigation")).to_contain_text("bob@example.com")
    cookies = {first["name"]: first["value"]}
    assert (
        httpx.get(f"{site.service.address}/api/me", cookies=cookies, verify=False).status_code
        == 401
    )


@pytest.mark.usefixtures("ada")
def test_a_redirect_that_could_lead_elsewhere_leads_home(site: Site) -> None:
    for elsewhere in ELSEWHERE:
        site.page.context.clear_cookies()
        site.sign_in(path=f"/auth/signin?redirectUrl={elsewhere}")
        assert site.path == "/", elsewhere
        # The same for somebody who is signed in already.
        site.open(f"/auth/signin?redirectUrl={elsewhere}")
        assert site.path == "/", elsewhere


@pytest.mark.usefixtures("ada")
def test_a_page_that_needs_an_account_comes_back_after_signing_in(site: Site) -> None:
    site.open("/deploy?port=9100&state=a%26b")
    assert site.path.startswith("/auth/signin?")
    site.fill_sign_in("ada@example.com", PASSWORD)
    site.press("Sign in")
    assert site.path == "/deploy?port=9100&state=a%26b"


@pytest.mark.usefixtures("ada")
def test_the_address_of_a_form_opened_by_hand_leads_to_its_page(site: Site) -> None:
    for form, page in {
        "/auth/signin/form": "/auth/signin",
        "/auth/signup/form": "/auth/signup",
        "/auth/signout/form": "/auth/signin",
        "/settings/password": "/auth/signin?redirectUrl=%2Fsettings",
    }.items():
        assert site.open(form) == 200
        assert site.path == page


@pytest.mark.parametrize(
    ("policy", "words"),
    [("invite", "needs an invitation"), ("closed", "Sign-up is closed"), ("open", "Name")],
)
def test_sign_up_says_who_may(
    page: Page, settings: Settings, password_hash: str, policy: str, words: str
) -> None:
    with running(replace(settings, signup=policy)) as service:  # type: ignore[arg-type]
        _someone(service, password_hash)
        site = Site(page, service)
        site.open("/auth/signup")
        expect(page.get_by_role("main")).to_contain_text(words)
        assert page.get_by_role("button").count() == (policy == "open")
        site.open("/auth/signin")
        assert page.get_by_role("link", name="Create an account").count() == (policy == "open")


def test_the_demo_leaves_the_first_account_to_the_newcomer(site: Site, password_hash: str) -> None:
    site.service.store.write_now(
        onboarding.add_demo, email="demo@tapeline.local", password_hash=password_hash
    )
    site.open("/auth/signin")
    site.page.get_by_role("link", name="Create the first account").click()
    assert site.heading == "Create the first account"
    expect(site.page.get_by_role("button", name="Create account")).to_be_visible()


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("Email address", "ada@example.com", "An account with this email address already exists"),
        ("Email address", "a@b@c", "The email address must be an email address"),
        ("Password", "short", "The password must have 8 to 1024 characters."),
    ],
)
def test_what_is_wrong_with_a_new_account_stands_at_its_field(
    page: Page, settings: Settings, password_hash: str, field: str, value: str, sentence: str
) -> None:
    with running(replace(settings, signup="open")) as service:
        _someone(service, password_hash)
        site = Site(page, service)
        site.open("/auth/signup")
        _without_the_browsers_own_checks(page)
        page.get_by_label("Email address").fill("new@example.com")
        page.get_by_label("Name").fill("New")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_label(field).fill(value)
        assert site.press("Create account") in {400, 409}
        control = page.get_by_label(field)
        expect(control).to_have_attribute("aria-invalid", "true")
        expect(control).to_be_focused()
        described = (control.get_attribute("aria-describedby") or "").split()
        texts = [page.locator(f"#{name}").inner_text() for name in described]
        assert any(text.startswith(sentence) for text in texts)
        expect(page.get_by_label("Name")).to_have_value("New")
        expect(page.get_by_label("Password")).to_have_value("")


def _someone(service: Service, password_hash: str) -> None:
    service.store.write_now(
        onboarding.add_by_operator,
        email="ada@example.com",
        name="Ada",
        password_hash=password_hash,
    )


def _without_the_browsers_own_checks(page: Page) -> None:
    page.locator("main form").evaluate("form => form.noValidate = true")
