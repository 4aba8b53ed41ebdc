"""What another site can do with a signed-in browser: nothing."""

import pytest

from tapeline.accounts import sign_ins
from tapeline.accounts.users import User
from tests.conftest import PASSWORD
from tests.e2e.conftest import Listen, Site, password_is

pytestmark = pytest.mark.heavy

FORMS: dict[str, dict[str, str]] = {
    "/deploy": {"host": "localhost", "port": "9082"},
    "/auth/signin/form": {"email": "ada@example.com", "password": PASSWORD},
    "/settings/password": {"current_password": PASSWORD, "new_password": "their own choice"},
    "/settings/sign-ins/end": {},
    "/auth/signout/form": {},
}


def hostile_form(address: str, fields: dict[str, str]) -> str:
    inputs = "".join(
        f'<input type="hidden" name="{name}" value="{value}">' for name, value in fields.items()
    )
    return f'<form method="post" action="{address}">{inputs}<button>Win a prize</button></form>'


# Another port is another origin of the same site; another name is another site as well.
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_form_of_another_origin_is_refused_and_changes_nothing(
    site: Site, ada: User, listen: Listen, host: str
) -> None:
    site.sign_in()
    before = site.session()
    assert before is not None
    for path, fields in FORMS.items():
        hostile = listen(html=hostile_form(site.service.address + path, fields))
        site.page.goto(f"http://{host}:{hostile.port}/")
        assert site.press("Win a prize") == 403
        assert site.heading == "That came from another site"
    after = site.session()
    assert after is not None
    assert after["value"] == before["value"]
    own = site.service.store.read_now(sign_ins.of_user, ada.id)
    assert [one.kind for one in own] == ["browser"]
    assert password_is(site.service, ada, PASSWORD)
    assert site.open("/settings") == 200
    assert site.path == "/settings"


@pytest.mark.usefixtures("ada")
def test_another_site_cannot_sign_anybody_in(site: Site, listen: Listen) -> None:
    form = hostile_form(site.service.address + "/auth/signin/form", FORMS["/auth/signin/form"])
    hostile = listen(html=form)
    site.page.goto(f"http://localhost:{hostile.port}/")
    assert site.press("Win a prize") == 403
    assert site.session() is None


@pytest.mark.usefixtures("ada")
def test_no_page_is_shown_in_a_frame(site: Site, listen: Listen) -> None:
    site.sign_in()
    for path in ("/auth/invitation/nope", "/deploy", "/settings"):
        outside = listen(html=f'<iframe src="{site.service.address}{path}"></iframe>')
        with site.page.expect_event("console", lambda message: "fram" in message.text.lower()):
            site.page.goto(f"http://127.0.0.1:{outside.port}/")
        assert site.page.frames[1].get_by_role("heading").count() == 0
