"""The pages in a real browser, on SQLite: what PostgreSQL changes, no page shows."""

import http.server
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tapeline.accounts import passwords, users
from tapeline.accounts.users import User
from tapeline.models import onboarding
from tapeline.settings import Settings
from tests.acceptance.conftest import first_start, shared_home
from tests.conftest import PASSWORD, Person, Service, running
from tests.pushing import Model, pushing
from tests.waiting import SLOW_MACHINE

__all__ = ["first_start", "shared_home"]  # fixtures, for the tests here

CHROMIUM = Path("/usr/bin/chromium-headless-shell")
FONTS = Path(__file__).parent / "fonts.conf"
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",  # no text is wider on one machine than on another
    "--force-color-profile=srgb",
)


@pytest.fixture(scope="session", autouse=True)
def _patient() -> None:
    """What a page is to show, a busy machine may show late."""
    expect.set_options(timeout=SLOW_MACHINE * 1000)


@pytest.fixture(scope="session")
def base_url() -> None:
    """Each test has a server of its own. And pytest-base-url's fixture warns, which here fails."""


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Debian's Chromium, as it is without windows. The tests depend on it: missing is failing."""
    if not CHROMIUM.exists():
        pytest.fail(f"{CHROMIUM} is missing. Install it with: sudo apt-get install {CHROMIUM.name}")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's does not start for root
    return {
        **browser_type_launch_args,
        "executable_path": str(CHROMIUM),
        "args": [*FLAGS, *sandbox],
        "env": {**os.environ, "FONTCONFIG_FILE": str(FONTS)},
    }


@pytest.fixture
def browser_context_args(
    browser_context_args: dict[str, Any], request: pytest.FixtureRequest
) -> dict[str, Any]:
    """Without JavaScript, unless the tests say so: the pages that need none are for everybody."""
    is_scripted = request.node.get_closest_marker("scripted") is not None
    return {**browser_context_args, "java_script_enabled": is_scripted}


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    return sqlite_settings


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    with running(settings) as started:
        yield started


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


class Site:
    """The pages as a person uses them in a browser."""

    def __init__(self, page: Page, service: Service) -> None:
        self.page = page
        self.service = service

    def open(self, path: str) -> int:
        """The status of the page that is shown in the end."""
        response = self.page.goto(self.service.address + path)
        assert response is not None
        return response.status

    def press(self, button: str) -> int:
        """The status of what the form's POST answered, or of the page it redirects to."""
        control = self.page.get_by_role("button", name=button, exact=True)
        with self.page.expect_navigation() as navigation:
            control.click()
        response = navigation.value
        assert response is not None
        return response.status

    def sign_in(self, email: str = "ada@example.com", *, path: str = "/auth/signin") -> None:
        self.open(path)
        self.fill_sign_in(email, PASSWORD)
        self.press("Sign in")

    def fill_sign_in(self, email: str, password: str) -> None:
        self.page.get_by_label("Email address").fill(email)
        self.page.get_by_label("Password").fill(password)

    @property
    def path(self) -> str:
        assert self.page.url.startswith(self.service.address), self.page.url
        return self.page.url.removeprefix(self.service.address)

    @property
    def heading(self) -> str:
        return self.page.get_by_role("heading", level=1).inner_text()

    def session(self) -> dict[str, Any] | None:
        cookies = {cookie.get("name"): dict(cookie) for cookie in self.page.context.cookies()}
        return cookies.get("tapeline_session")


@pytest.fixture
def site(page: Page, service: Service) -> Site:
    return Site(page, service)


@pytest.fixture
def account(service: Service, password_hash: str) -> Callable[[str], User]:
    """Create an account: `account("ada")` is ada@example.com with PASSWORD, not signed in."""

    def make(name: str) -> User:
        return service.store.write_now(
            onboarding.add_by_operator,
            email=f"{name}@example.com",
            name=name,
            password_hash=password_hash,
        )

    return make


@pytest.fixture
def ada(account: Callable[[str], User]) -> User:
    return account("ada")


def password_is(service: Service, user: User, password: str) -> bool:
    return passwords.matches(service.store.read_now(users.get, user.id).password_hash, password)


class Listener:
    """A real HTTP server that notes what it is asked and answers with one page."""

    def __init__(self, host: str, port: int, html: str) -> None:
        self.asked: list[str] = []
        asked, content = self.asked, html.encode()

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                """Test output is for tests."""

        class Server(http.server.ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        self._server = Server((host, port), Answer)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever)

    @contextmanager
    def listening(self) -> Iterator["Listener"]:
        self._thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def token(self) -> str:
        """What came with `GET /?token=…`; exactly one such request must have come."""
        (request,) = [path for path in self.asked if path != "/favicon.ico"]
        assert request.startswith("/?token=")
        return request.removeprefix("/?token=")


Listen = Callable[..., Listener]


@pytest.fixture
def listen() -> Iterator[Listen]:
    """Start listeners: `listen("127.0.0.1", 9082)`; port 0 picks a free one."""
    with ExitStack() as stack:

        def start(host: str = "127.0.0.1", port: int = 0, html: str = "<p>Thanks.") -> Listener:
            return stack.enter_context(Listener(host, port, html).listening())

        yield start
