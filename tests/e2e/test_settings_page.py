"""The settings: sign-ins that can be ended, and a password that can be changed."""

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tapeline.accounts import sign_ins
from tapeline.accounts.sign_ins import Origin
from tapeline.accounts.users import User
from tests.conftest import PASSWORD, Service
from tests.e2e.conftest import Site, password_is

pytestmark = pytest.mark.heavy

MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Chrome/120.0.0.0 Safari/537.36"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Version/17.0 Safari/604.1"


def begin(service: Service, user: User, kind: sign_ins.Kind, agent: str) -> str:
    return service.store.write_now(sign_ins.begin, user, kind, Origin("192.0.2.7", agent))[0]


def is_good(service: Service, refresh_token: str) -> bool:
    answer = httpx.post(
        f"{service.address}/auth/token", data={"refreshToken": refresh_token}, verify=False
    )
    return answer.status_code == 200


def test_sign_ins_are_listed_so_that_a_person_knows_them(site: Site, ada: User) -> None:
    begin(site.service, ada, "token", "curl/7.88.1")
    begin(site.service, ada, "token", MAC)
    begin(site.service, ada, "browser", IPHONE)
    site.sign_in()
    site.page.goto(f"{site.service.address}/settings")
    assert site.heading == "Settings"
    rows = site.page.get_by_role("listitem")
    expect(rows).to_have_count(4)
    expect(rows.nth(0)).to_contain_text("this browser")
    expect(rows.nth(0).get_by_role("button")).to_have_count(0)
    names = [rows.nth(index).locator("strong").inner_text() for index in range(1, 4)]
    assert names == ["Safari on iPhone", "Command line, allowed in Chrome on macOS", "curl"]
    expect(rows.nth(3)).to_contain_text("192.0.2.7")
    expect(rows.nth(3)).to_contain_text("used just now")


def test_ending_a_sign_in_ends_that_one_at_once(site: Site, ada: User) -> None:
    curl = begin(site.service, ada, "token", "curl/7.88.1")
    script = begin(site.service, ada, "token", "python-requests/2.31")
    site.sign_in()
    site.open("/settings")
    site.press("End curl, used just now")
    expect(site.page.get_by_role("status")).to_have_text("The sign-in was ended.")
    expect(site.page.get_by_role("listitem")).to_have_count(2)
    assert not is_good(site.service, curl)
    assert is_good(site.service, script)


def test_ending_what_has_ended_is_told_on_the_page(site: Site, ada: User) -> None:
    begin(site.service, ada, "token", "curl/7.88.1")
    site.sign_in()
    site.open("/settings")
    one = next(
        one for one in site.service.store.read_now(sign_ins.of_user, ada.id) if one.kind == "token"
    )
    _, actor = site.service.store.write_now(
        sign_ins.begin, ada, "token", Origin("192.0.2.7", "other")
    )
    site.service.store.write_now(sign_ins.end, actor, one.id)
    assert site.press("End curl, used just now") == 404
    expect(site.page.get_by_role("alert")).to_contain_text("has already ended")
    assert site.heading == "Settings"


def test_all_others_can_be_ended_together(site: Site, ada: User) -> None:
    tokens = [begin(site.service, ada, "token", f"script-{number}/1") for number in range(30)]
    site.sign_in()
    site.open("/settings")
    site.press("End all others")
    expect(site.page.get_by_role("listitem")).to_have_count(1)
    expect(site.page.get_by_role("status")).to_have_text("Every other sign-in has ended.")
    assert not any(is_good(site.service, token) for token in tokens[:3])
    assert site.open("/") == 200
    assert site.path == "/"


def test_a_new_password_ends_the_others_and_keeps_this_one(
    site: Site, ada: User, browser: Browser
) -> None:
    token = begin(site.service, ada, "token", "curl/7.88.1")
    with browser.new_context(java_script_enabled=False) as context:
        elsewhere = Site(context.new_page(), site.service)
        elsewhere.sign_in()
        site.sign_in()
        site.open("/settings")
        site.page.get_by_label("Current password").fill(PASSWORD)
        site.page.get_by_label("New password").fill("a better horse battery")
        assert site.press("Change password") == 200
        expect(site.page.get_by_role("status")).to_contain_text("Your password was changed")
        expect(site.page.get_by_role("listitem")).to_have_count(1)
        elsewhere.open("/settings")
        assert elsewhere.path == "/auth/signin?redirectUrl=%2Fsettings"
    assert not is_good(site.service, token)
    assert password_is(site.service, ada, "a better horse battery")
    site.page.reload()
    assert site.heading == "Settings"


def test_a_wrong_current_password_is_told_at_its_field(site: Site, ada: User) -> None:
    token = begin(site.service, ada, "token", "curl/7.88.1")
    site.sign_in()
    site.open("/settings")
    site.page.get_by_label("Current password").fill("wrong")
    site.page.get_by_label("New password").fill("a better horse battery")
    assert site.press("Change password") == 400
    current = site.page.get_by_label("Current password")
    expect(current).to_have_attribute("aria-describedby", "current_password-error")
    expect(site.page.locator("#current_password-error")).to_have_text(
        "The current password is wrong."
    )
    expect(current).to_be_focused()
    expect(current).to_be_in_viewport()
    assert password_is(site.service, ada, PASSWORD)
    assert is_good(site.service, token)
