"""The way a command line gets its token: a page, a click, and a listener on this computer."""

from collections.abc import Callable
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import expect

from tapeline.accounts import sign_ins
from tapeline.accounts.users import User
from tests.conftest import PASSWORD, Service
from tests.e2e.conftest import Listen, Site

pytestmark = [pytest.mark.heavy, pytest.mark.usefixtures("ada")]

ADDRESSES = {"localhost": "127.0.0.1", "127.0.0.1": "127.0.0.1", "[::1]": "::1"}

REFUSED = (
    "host=evil.example",
    "host=localhost.evil.example",
    "host=127.0.0.1%40evil.example",
    "host=localhost%2F%40evil.example",
    "port=0",
    "port=65536",
    "port=80%40evil.example",
    "port=0000809999999",
    "port=-1",
    "port=%D9%A1",
    "state=" + 1025 * "s",
)


def user_of(service: Service, refresh_token: str) -> str:
    answer = httpx.post(
        f"{service.address}/auth/token", data={"refreshToken": refresh_token}, verify=False
    )
    assert answer.status_code == 200, answer.text
    id_token = answer.json()["idToken"]
    with service.client(token=id_token) as client:
        assert client.get("/project/list").status_code == 200
    return str(answer.json()["data"]["user_id"])


def tokens_of(service: Service, user: User) -> int:
    own = service.store.read_now(sign_ins.of_user, user.id)
    return sum(one.kind == "token" for one in own)


def test_an_old_client_gets_a_token_that_works(site: Site, ada: User, listen: Listen) -> None:
    client = listen("127.0.0.1", 9082)
    site.sign_in(path="/auth/signin?redirectUrl=/deploy")
    assert (site.path, site.heading) == ("/deploy", "Approve the command line?")
    expect(site.page.get_by_role("main")).to_contain_text("http://localhost:9082")
    assert client.asked == []
    site.press("Allow")
    assert user_of(site.service, client.token()) == ada.id
    assert tokens_of(site.service, ada) == 1


def test_who_is_signed_in_already_is_only_asked(site: Site, ada: User, listen: Listen) -> None:
    client = listen("127.0.0.1", 9082)
    site.sign_in()
    site.open("/auth/signin?redirectUrl=/deploy")
    assert site.path == "/deploy"
    site.press("Allow")
    assert user_of(site.service, client.token()) == ada.id


@pytest.mark.parametrize(("host", "address"), ADDRESSES.items())
def test_each_loopback_name_gets_the_token_on_the_port_it_asks_for(
    site: Site, ada: User, listen: Listen, host: str, address: str
) -> None:
    client = listen(address)
    asked = f"/deploy?host={host}&port={client.port}"
    site.sign_in(path=f"/auth/signin?redirectUrl={quote(asked, safe='')}")
    site.press("Allow")
    assert site.page.url.startswith(f"http://{host}:{client.port}/?token=")
    assert user_of(site.service, client.token()) == ada.id


def test_the_state_comes_back_as_it_was(site: Site, listen: Listen) -> None:
    client = listen()
    site.sign_in()
    site.open(f"/deploy?port={client.port}&state={quote('a b&token=x#é', safe='')}")
    site.press("Allow")
    (request,) = [path for path in client.asked if path != "/favicon.ico"]
    query = httpx.URL(f"http://localhost{request}").params
    assert query.get_list("state") == ["a b&token=x#é"]
    assert len(query.get_list("token")) == 1


def test_cancel_gives_nothing(site: Site, ada: User, listen: Listen) -> None:
    client = listen()
    site.sign_in()
    site.open(f"/deploy?port={client.port}")
    site.page.get_by_role("link", name="Cancel").click()
    assert site.path == "/"
    assert client.asked == []
    assert tokens_of(site.service, ada) == 0


def test_a_foreign_host_or_a_bad_port_gets_a_problem_and_no_token(site: Site, ada: User) -> None:
    site.sign_in()
    cookie = site.session()
    assert cookie is not None
    for asked in REFUSED:
        assert site.open(f"/deploy?{asked}") == 400
        assert site.heading == "That request is not right"
        assert site.page.get_by_role("button", name="Allow").count() == 0
        # Nor by a form that was changed on its way.
        answer = httpx.post(
            f"{site.service.address}/deploy?{asked}",
            cookies={cookie["name"]: cookie["value"]},
            headers={"Origin": site.service.address},
            verify=False,
        )
        assert answer.status_code == 400
        assert "location" not in answer.headers
    assert tokens_of(site.service, ada) == 0


def test_another_account_can_be_used_instead(
    site: Site, account: Callable[[str], User], listen: Listen
) -> None:
    bob, client = account("bob"), listen()
    site.sign_in()
    site.open(f"/deploy?port={client.port}")
    site.press("Use another account")
    site.fill_sign_in(bob.email, PASSWORD)
    site.press("Sign in")
    expect(site.page.get_by_role("main")).to_contain_text(bob.email)
    site.press("Allow")
    assert user_of(site.service, client.token()) == bob.id


def test_a_session_that_ended_meanwhile_is_asked_to_sign_in_and_keeps_the_port(
    site: Site, ada: User, listen: Listen
) -> None:
    client = listen()
    site.sign_in()
    site.open(f"/deploy?port={client.port}&state=s")
    site.service.store.write_now(sign_ins.end_all, ada.id)
    site.press("Allow")
    assert site.path.startswith("/auth/signin?")
    site.fill_sign_in(ada.email, PASSWORD)
    site.press("Sign in")
    site.press("Allow")
    assert client.asked[0].endswith("&state=s")
