"""Every page and state: fits a phone, is built for screen readers, shows where the keyboard is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser

from tapeline.accounts import invitations, sign_ins
from tapeline.accounts.sign_ins import Origin
from tapeline.accounts.users import User
from tapeline.models import onboarding, projects
from tests.conftest import Service
from tests.e2e.conftest import Site

pytestmark = pytest.mark.heavy

LONG_EMAIL = "unreasonably-long-address-" * 6 + "@" + "sub." * 20 + "example.com"

# Everything a page is asked, in one question to the browser.
FACTS = """() => ({
    width: document.scrollingElement.scrollWidth,
    window: innerWidth,
    lang: document.documentElement.lang,
    title: document.title,
    h1: document.querySelectorAll('h1').length,
    main: document.querySelectorAll('main').length,
    unlabelled: [...document.querySelectorAll('input:not([type=hidden]):not([hidden])')]
        .filter(input => !input.labels.length).map(input => input.name),
    unnamed: [...document.querySelectorAll('a, button')]
        .filter(control => !control.innerText.trim()).length,
    loose: [...document.querySelectorAll('[aria-describedby], [aria-labelledby]')]
        .flatMap(one => [one.getAttribute('aria-describedby'), one.getAttribute('aria-labelledby')])
        .filter(Boolean).flatMap(ids => ids.split(' ')).filter(id => !document.getElementById(id)),
    ids: [...document.querySelectorAll('[id]')].map(one => one.id),
    completed: [...document.querySelectorAll('input:not([type=hidden])')]
        .filter(input => !input.autocomplete).map(input => input.name),
    styled: document.querySelectorAll('[style], style, script').length,
    foreign: [...document.querySelectorAll('[src], link[href]')]
        .filter(one => !(one.src || one.href).startsWith(location.origin)).length,
    schemed: getComputedStyle(document.body).backgroundColor,
})"""


@dataclass(frozen=True)
class Stage:
    """A service with long names, many sign-ins and an open invitation."""

    service: Service
    invitation: str


@pytest.fixture
def stage(service: Service, password_hash: str) -> Stage:
    store = service.store
    long: User = store.write_now(
        onboarding.add_by_operator, email=LONG_EMAIL, name="N" * 120, password_hash=password_hash
    )
    _, actor = store.write_now(sign_ins.begin, long, "token", Origin("2001:db8::1", "x" * 200))
    for _ in range(12):
        store.write_now(sign_ins.begin, long, "token", Origin("192.0.2.1", "curl/8"))
    project = store.write_now(projects.create, actor, long, "W" * 120, "word " * 400)
    secret, _ = store.write_now(invitations.invite, actor, project.id, "viewer", 7)
    return Stage(service, secret)


def states(site: Site, stage: Stage) -> Iterator[str]:
    """Opens one page or state after the other, and says which."""
    page = site.page
    for path in (
        "/auth/signin",
        "/auth/signin?redirectUrl=/deploy",
        "/auth/signup",
        f"/auth/signup?invitation={stage.invitation}",
        f"/auth/invitation/{stage.invitation}",
        "/auth/invitation/nope",
    ):
        site.open(path)
        yield path
    site.open("/auth/signin")
    site.fill_sign_in(LONG_EMAIL, "wrong")
    site.press("Sign in")
    page.get_by_text("Forgot your password?").click()
    yield "wrong password, with what to do when it is forgotten"
    site.open(f"/auth/signup?invitation={stage.invitation}")
    page.get_by_label("Email address").fill(LONG_EMAIL)
    page.get_by_label("Password").fill("long enough")
    site.press("Create account")
    yield "email address taken"
    site.sign_in(LONG_EMAIL)
    for path in ("/settings", "/deploy?host=[::1]", "/deploy?host=evil.example",
                 f"/auth/invitation/{stage.invitation}"):  # fmt: skip
        site.open(path)
        yield f"{path}, signed in"
    site.open("/settings")
    page.get_by_label("Current password").fill("wrong")
    page.get_by_label("New password").fill("long enough")
    site.press("Change password")
    yield "wrong current password"


def check(state: str, facts: dict[str, Any]) -> None:
    assert facts["width"] <= facts["window"], f"{state}: scrolls sideways"
    assert facts["lang"] == "en", state
    assert facts["title"].endswith(" · Tapeline"), state
    assert (facts["h1"], facts["main"]) == (1, 1), state
    assert facts["unlabelled"] == [], state
    assert facts["unnamed"] == 0, state
    assert facts["loose"] == [], state
    assert len(facts["ids"]) == len(set(facts["ids"])), state
    assert facts["completed"] == [], state
    assert (facts["styled"], facts["foreign"]) == (0, 0), state


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_state_fits_a_phone_and_is_well_built(
    browser: Browser, stage: Stage, scheme: Literal["light", "dark"]
) -> None:
    with browser.new_context(
        viewport={"width": 390, "height": 844}, color_scheme=scheme, java_script_enabled=False
    ) as context:
        site = Site(context.new_page(), stage.service)
        complaints: list[str] = []
        site.page.on("console", lambda message: complaints.append(message.text))
        grounds = set()
        for state in states(site, stage):
            facts = site.page.evaluate(FACTS)
            check(state, facts)
            grounds.add(facts["schemed"])
        # The stylesheet came, with this scheme's ground, and the policy had nothing to refuse.
        assert grounds == {{"light": "rgb(245, 246, 248)", "dark": "rgb(11, 14, 18)"}[scheme]}
        assert [text for text in complaints if "Policy" in text] == []


def test_the_keyboard_reaches_everything_and_is_seen(site: Site, stage: Stage) -> None:
    site.sign_in(LONG_EMAIL)
    site.open("/deploy")
    reached = []
    for _ in range(8):
        site.page.keyboard.press("Tab")
        reached.append(
            site.page.evaluate(
                "() => [document.activeElement.innerText.trim(),"
                " getComputedStyle(document.activeElement).outlineStyle,"
                " document.activeElement.getBoundingClientRect().top >= 0]"
            )
        )
    assert [name for name, _, _ in reached] == [
        "Skip to the content", "Tapeline", LONG_EMAIL, "Sign out",
        "Allow", "Cancel", "settings", "Use another account",
    ]  # fmt: skip
    assert all(outline == "solid" and in_sight for _, outline, in_sight in reached)
