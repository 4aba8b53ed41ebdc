"""The pages, as far as no browser is needed to see that they are right."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Connection, update

from tapeline import compose
from tapeline.accounts import audit, sign_ins, users
from tapeline.accounts.sign_ins import Origin
from tapeline.errors import (
    CrossSiteRequest,
    NoSuchInvitation,
    Problem,
    StoreUnavailable,
    TooManyAttempts,
    WrongPassword,
)
from tapeline.http.core import agents, rendering
from tapeline.http.core.services import Services
from tapeline.store.tables import core
from tests.conftest import PASSWORD, Person, Service, run

ROOT = Path(__file__).parents[3]
OUTSIDE = ("/auth/signin", "/auth/signup", "/auth/invitation/nope", "/deploy?host=evil.example")
INSIDE = ("/", "/settings", "/deploy", "/auth/invitation/nope")


@dataclass(frozen=True)
class Browser:
    """A signed-in browser, as the server sees one."""

    person: Person
    secret: str
    client: httpx.Client

    def post(self, path: str, **fields: str) -> httpx.Response:
        return self.client.post(path, data=fields)


@pytest.fixture
def ada(service: Service, enter: Callable[[str], Person]) -> Iterator[Browser]:
    person = enter("ada")
    user = service.store.read_now(users.get, person.id)
    secret, _ = service.store.write_now(
        sign_ins.begin, user, "browser", Origin("127.0.0.1", "test"), days=30
    )
    with service.client(Origin=service.address) as client:
        client.cookies.set("tapeline_session", secret)
        yield Browser(person, secret, client)


def test_every_page_has_the_strict_headers(ada: Browser, anybody: httpx.Client) -> None:
    pages = [anybody.get(path) for path in OUTSIDE] + [ada.client.get(path) for path in INSIDE]
    pages.append(anybody.post("/settings/password"))
    for page in pages:
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        policy = page.headers["content-security-policy"]
        for rule in (
            "default-src 'none'",
            "style-src 'self'",
            "img-src 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "form-action 'self'",
        ):
            assert rule in policy
        assert "unsafe" not in policy
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["referrer-policy"] == "same-origin"
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["x-content-type-options"] == "nosniff"


def test_only_the_confirmation_may_lead_a_form_elsewhere(ada: Browser) -> None:
    for path in (*INSIDE, *OUTSIDE):
        policy = ada.client.get(path, follow_redirects=True).headers["content-security-policy"]
        allowed = "form-action 'self'" + " http://localhost:9082" * (path == "/deploy")
        assert policy.endswith(allowed), path


def test_redirects_are_not_kept_either(anybody: httpx.Client) -> None:
    for path in ("/", "/settings", "/deploy"):
        answer = anybody.get(path)
        assert (answer.status_code, answer.headers["cache-control"]) == (303, "no-store")


def cookie_of(answer: httpx.Response) -> set[str]:
    """The attributes of the session's cookie, without its value."""
    (header,) = [
        one for one in answer.headers.get_list("set-cookie") if one.startswith("tapeline_session=")
    ]
    return {part.strip().lower() for part in header.split(";")[1:]}


def test_the_session_cookie_is_out_of_reach(anybody: httpx.Client, ada: Browser) -> None:
    answer = anybody.post(
        "/auth/signin/form",
        data={"email": ada.person.email, "password": PASSWORD},
        headers={"Origin": str(anybody.base_url).rstrip("/")},
    )
    assert answer.status_code == 303
    assert cookie_of(answer) == {"httponly", "samesite=lax", "path=/", "max-age=2592000"}


async def _get(services: Services, address: str, secret: str) -> httpx.Response:
    transport = httpx.ASGITransport(compose.application(services))
    async with httpx.AsyncClient(
        transport=transport, base_url=address, cookies={"tapeline_session": secret}
    ) as client:
        return await client.get("/settings")


@pytest.mark.parametrize(
    ("address", "public_url", "secure"),
    [
        ("https://tape.example", "", True),
        ("http://tape.example", "https://tape.example", True),  # a proxy that does not say https
        ("http://127.0.0.1:8700", "https://tape.example", False),
        ("http://tape.example", "", False),
    ],
)
def test_over_https_the_cookie_stays_on_https(
    service: Service, ada: Browser, address: str, public_url: str, secure: bool
) -> None:
    # Not on loopback, where other names would be refused.
    settings = replace(service.services.settings, public_url=public_url, host="0.0.0.0")
    services = replace(service.services, settings=settings)
    answer = run(_get(services, address, ada.secret))
    assert answer.status_code == 200
    assert ("secure" in cookie_of(answer)) is secure


def test_a_session_in_use_lives_on_in_store_and_browser(service: Service, ada: Browser) -> None:
    def age(connection: Connection) -> None:
        hours_ago = time.time() - 7200
        connection.execute(
            update(core.sign_ins).values(last_used_at=hours_ago, expires_at=time.time() + 60)
        )

    service.store.write_now(age)
    answer = ada.client.get("/settings")
    assert "max-age=2592000" in cookie_of(answer)
    own = service.store.read_now(sign_ins.of_user, ada.person.id)
    renewed = next(one for one in own if one.kind == "browser")
    assert renewed.expires_at is not None
    assert renewed.expires_at > time.time() + 29 * sign_ins.DAY
    assert renewed.last_used_at > time.time() - 60


FOREIGN_HEADERS: tuple[dict[str, str], ...] = (
    {},
    {"Origin": "null"},
    {"Origin": "http://["},
    {"Origin": "http://evil.example"},
    {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
)


def test_a_cookie_alone_opens_no_form(service: Service, ada: Browser) -> None:
    before = service.store.read_now(sign_ins.of_user, ada.person.id)
    del ada.client.headers["Origin"]
    for headers in FOREIGN_HEADERS:
        for path, fields in {
            "/deploy": {},
            "/auth/signin/form": {"email": ada.person.email, "password": PASSWORD},
            "/auth/signout/form": {},
            "/settings/password": {"current_password": PASSWORD, "new_password": "long enough"},
            "/settings/sign-ins/end": {},
        }.items():
            answer = ada.client.post(path, data=fields, headers=headers)
            assert answer.status_code == 403, (path, headers)
            assert "That came from another site" in answer.text
            assert not {"location", "set-cookie"} & set(answer.headers)
    assert service.store.read_now(sign_ins.of_user, ada.person.id) == before


def test_a_page_takes_forms_and_not_json(ada: Browser) -> None:
    answer = ada.client.post("/auth/signin/form", json={"email": "a@b", "password": "x"})
    assert answer.status_code == 415
    assert answer.headers["content-type"].startswith("text/html")


def test_an_id_token_opens_no_page(ada: Browser) -> None:
    """A page's way in is the browser's session alone."""
    assert ada.person.get("/settings").status_code == 303


def test_a_path_with_nul_is_nothing(ada: Browser) -> None:
    assert ada.post("/settings/sign-ins/%00/end").status_code == 404


def test_nobody_ends_anothers_sign_in(
    service: Service, ada: Browser, enter: Callable[[str], Person]
) -> None:
    outsider = enter("outsider")
    (theirs,) = service.store.read_now(sign_ins.of_user, outsider.id)
    assert ada.post(f"/settings/sign-ins/{theirs.id}/end").status_code == 404
    assert service.store.read_now(sign_ins.of_user, outsider.id) == [theirs]


def test_ending_all_others_is_in_the_audit_one_by_one(service: Service, ada: Browser) -> None:
    assert ada.post("/settings/sign-ins/end").headers["location"] == "/settings?done=others-ended"
    (left,) = service.store.read_now(sign_ins.of_user, ada.person.id)
    assert left.kind == "browser"
    entries = service.store.read_now(audit.of_account, ada.person.id, before=None, limit=10)
    assert entries[0].action == "signed_out"


def test_only_known_words_come_from_an_address(ada: Browser) -> None:
    assert 'role="status"' not in ada.client.get("/settings?done=Send+money").text
    assert 'role="status"' in ada.client.get("/settings?done=ended").text


def test_what_people_type_is_text_and_never_markup(ada: Browser, anybody: httpx.Client) -> None:
    evil = '"><script>alert(1)</script>'
    page = anybody.get("/auth/signin", params={"email": evil, "redirectUrl": f"/{evil}"})
    assert "<script" not in page.text
    assert "&lt;script&gt;" in page.text
    page = ada.client.get("/deploy", params={"state": evil})
    assert "<script" not in page.text


def test_an_error_says_when_to_come_back() -> None:
    page = rendering.render("problem.html", problem=TooManyAttempts(retry_after=60), account=None)
    assert (page.status_code, page.headers["retry-after"]) == (429, "60")


@pytest.mark.parametrize(
    ("problem", "headline"),
    [
        (CrossSiteRequest(), "That came from another site"),
        (NoSuchInvitation(), "This invitation does not work"),
        (StoreUnavailable(), "Please try again"),
        (WrongPassword(), "That request is not right"),
        (Problem(), "That did not work"),
    ],
)
def test_a_problem_has_a_headline(problem: Problem, headline: str) -> None:
    assert rendering.headline(problem) == headline


def test_errors_are_plain_for_people() -> None:
    assert rendering.plain("`email` must be this.") == "The email address must be this."
    assert rendering.plain("`port` must be that.") == "port must be that."


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-5, "just now"), (59, "just now"), (60, "1 minute ago"), (3599, "59 minutes ago"),
     (3600, "1 hour ago"), (2 * 86400, "2 days ago"), (29.5 * 86400, "29 days ago")],
)  # fmt: skip
def test_how_long_ago(seconds: float, words: str) -> None:
    assert rendering.ago(time.time() - seconds - 0.01) == words


def test_long_ago_is_a_day() -> None:
    assert rendering.ago(0) == "on 1970-01-01"
    assert rendering.moment(0) == "1970-01-01 00:00 UTC"


EDGE = "Mozilla/5.0 (Windows NT 10.0) Chrome/120.0 Safari/537.36 Edg/120.0"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0"


@pytest.mark.parametrize(
    ("kind", "agent", "words"),
    [
        ("browser", EDGE, "Edge on Windows"),
        ("browser", FIREFOX, "Firefox on Linux"),
        ("browser", "Firefox/1", "Firefox"),
        ("browser", "", "Unknown browser"),
        ("token", FIREFOX, "Command line, allowed in Firefox on Linux"),
        ("token", "curl/8.5.0", "curl"),
        ("token", "", "Unknown program"),
        ("token", "x" * 200, "x" * 40),
    ],
)
def test_a_sign_in_is_called_what_people_call_it(
    kind: sign_ins.Kind, agent: str, words: str
) -> None:
    assert agents.describe(kind, agent) == words


# Text needs 4.5 : 1 (AA), the edges of fields and the focus ring 3 : 1.
TEXT, EDGES = 4.5, 3.0
PAIRS = {
    ("ink", "ground"): TEXT,
    ("ink", "surface"): TEXT,
    ("ink", "sunken"): TEXT,
    ("soft", "ground"): TEXT,
    ("soft", "surface"): TEXT,
    ("soft", "sunken"): TEXT,
    ("accent", "ground"): TEXT,
    ("accent", "surface"): TEXT,
    ("accent-over", "ground"): TEXT,
    ("accent-over", "surface"): TEXT,
    ("on-accent", "accent"): TEXT,
    ("on-accent", "accent-over"): TEXT,
    ("bad", "surface"): TEXT,
    ("bad", "ground"): TEXT,
    ("bad", "bad-ground"): TEXT,
    ("good", "good-ground"): TEXT,
    ("field-line", "surface"): EDGES,
    ("field-line", "ground"): EDGES,
    # The app's own
    ("ink", "hover"): TEXT,
    ("soft", "hover"): TEXT,
    ("soft", "accent-ground"): TEXT,
    ("ink", "accent-ground"): TEXT,
    ("good", "surface"): TEXT,
    ("good", "ground"): TEXT,
    ("good", "hover"): TEXT,
    ("bad", "hover"): TEXT,
    ("bad", "sunken"): TEXT,
    ("warn", "surface"): TEXT,
    ("warn", "sunken"): TEXT,
    ("warn", "hover"): TEXT,
    ("warn", "warn-ground"): TEXT,
    ("teal", "surface"): TEXT,
    ("teal", "hover"): TEXT,
    ("vermilion", "surface"): TEXT,
    ("vermilion", "hover"): TEXT,
    ("azure", "surface"): TEXT,
    ("azure", "hover"): TEXT,
    ("orange", "surface"): TEXT,
    ("orange", "hover"): TEXT,
}


def palette(scheme: str) -> dict[str, str]:
    css = (rendering.STATIC / "tokens.css").read_text()
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", css)
    return {name: light if scheme == "light" else dark for name, light, dark in found}


def luminance(colour: str) -> float:
    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_pair_of_colours_that_meets_can_be_read(scheme: str) -> None:
    colours = palette(scheme)
    assert set(colours) == {name for pair in PAIRS for name in pair} | {"line"}
    for (front, back), least in PAIRS.items():
        low, high = sorted((luminance(colours[front]), luminance(colours[back])))
        ratio = (high + 0.05) / (low + 0.05)
        assert ratio >= least, f"{front} on {back}: {ratio:.2f}"


def test_the_stylesheet_names_no_colour_outside_its_palette() -> None:
    css = (rendering.STATIC / "pages.css").read_text()
    assert not re.findall(r"#[0-9a-f]{3,8}\b", css)
    assert len(css.splitlines()) <= 250
    app = (ROOT / "web" / "src" / "app" / "styles.css").read_text()
    assert not re.findall(r"#[0-9a-f]{3,8}\b", app)
