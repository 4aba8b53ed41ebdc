"""No page offers a control whose request the server would refuse to the role that sees it."""

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page, Request, Response

from tapeline.accounts import members
from tapeline.accounts.members import Role
from tests.conftest import Service, let_in
from tests.e2e.conftest import Site
from tests.e2e.long_texts import Project
from tests.e2e.looks import DRAWN
from tests.e2e.test_long_texts import PAGES
from tests.http.access_matrix import MATRIX, ROLES, Route

pytestmark = pytest.mark.heavy

PATIENCE = 60  # seconds

# Everything that can be pressed or filled in, by the name that people know it by.
CONTROLS = """() => [...document.querySelectorAll(
        'main :is(button, input, select, textarea), [role=menuitem]')]
    .filter((one) => one.checkVisibility() && !one.matches(':disabled'))
    .map((one) => one.ariaLabel || one.labels?.[0]?.innerText || one.innerText
        || one.placeholder || one.title)
    .map((name) => name.trim().replaceAll(/\\s+/g, ' '))"""
LINKS = """() => [...document.querySelectorAll('a[href^="/"]')]
    .filter((one) => one.checkVisibility()).map((one) => one.getAttribute('href').split('?')[0])"""
LOADED = """() => !document.querySelector('.skeleton') && !!document.querySelector('h1')
    && !!document.querySelector('nav[aria-label=Server], a[href="/docs/"]')"""

# What a control asks the server for in the end, maybe after a dialog. A new control belongs here,
# or under ASKS_NOTHING.
ASKS: dict[str, Route] = {
    r"Start( .*)?|Run|Run v\d+|Switch to it": ("POST", "/model/run"),
    r"Stop( .*)?": ("POST", "/model/kill"),
    r"Halt|Stop every model": ("POST", "/api/projects/{project}/halt"),
    r"Resume": ("POST", "/api/projects/{project}/resume"),
    r"Share|Share this backtest": ("POST", "/api/models/{model}/shares"),
    r"Connect a model": ("POST", "/model/create-model"),
    r"Deploy.*|Upload.*|Plan|Python|Schedule|Model archive|Model": ("POST", "/model/deploy"),
    r"Name|Description|Save": ("PATCH", "/api/models/{model}"),
    r"Save the account|Capital|Currency|Positions|Set the capital": (
        "PATCH",
        "/api/models/{model}/account",
    ),
    r"Set|Variable|Value \*|Delete [A-Z_]+": ("PUT", "/api/models/{model}/secrets/{secret}"),
    r"Delete this model": ("POST", "/model/delete"),
    r"Run a backtest|Run again": ("POST", "/model/backtest-uploaded-model"),
    r"(Change|Add|Set) .*label.*": ("PATCH", "/api/models/{model}/backtests/{backtest}"),
    r"Delete": ("DELETE", "/api/models/{model}/backtests/{backtest}"),
    r"Role of .*": ("PATCH", "/api/projects/{project}/members/{user}"),
    r"Remove .*": ("DELETE", "/api/projects/{project}/members/{user}"),
    r"Invite as|Create link": ("POST", "/api/projects/{project}/invitations"),
    r"Withdraw": ("DELETE", "/api/projects/{project}/invitations/{invitation}"),
    r"can read|can report|Create key": ("POST", "/project/generate-project-token"),
    r"Delete .*": ("POST", "/project/delete-project-token"),
    r"How long to keep .*": ("PATCH", "/api/projects/{project}/retention"),
    r"Delete this project": ("POST", "/project/delete"),
    r"Edit|Mute…|End the mute": ("PATCH", "/api/rules/{rule}"),
    r"Acknowledge|Note": ("POST", "/api/incidents/{incident}/acknowledge"),
    r"Add a channel|Send a test": ("POST", "/api/projects/{project}/channels"),
    r"Halt everything": ("POST", "/api/halt"),
}
ASKS_NOTHING = "|".join(
    (
        r"The last .*|All( \d+)?|Show .*|Copy.*|Return|Value|Wrap|Side|Shape|Interval|Symbol|Type",
        r"Type of line|Search.*|Pause the log|Jump to|Last error|Download.*|Benchmark",
        r"Details of .*|View as .*|(Running|Not running|Failed) \d+|More actions .*|Actions for .*",
        r"Kind of .*|.*-USD|Moving average|Mood|Link to line .*|Backtests? of|Backtest",
        r"Align .*|To|From|Compare .*|Earlier|Later|Side by side|Swap",
        r".*\.(py|json)( .*)?|Hide .*|Log",
        r"Orders|Versions|Tear sheet|Account values as CSV|Try again|"
        # The heads of columns.
        r"(Status|Version|Trades|Sharpe|Profit and loss|Max drawdown|Created|Total return"
        r"|Restarts|Last order to arrive|Volatility|Duration|Label)[↑↓]?",
        r"Leave the project",  # which everybody may
        r"State of incidents",
    )
)
# Names that mean something else on one page.
HERE_NOTHING = {
    "{own}/backtests/compare?ids=first,second": "Remove .*",
    "/{project}?view=table": "Model",
}
# Pages that begin with a request.
OPENS: dict[str, Route] = {
    r"/[^/]+/deploy": ("POST", "/model/deploy"),
    r"/[^/]+/keys": ("POST", "/project/list-tokens"),
    r"/[^/]+/audit": ("GET", "/api/projects/{project}/audit"),
    r"/[^/]+/watching/.+": ("POST", "/api/projects/{project}/rules"),
    r"/[^/]+/[^/]+/versions/.+": ("GET", "/api/models/{model}/versions/{version}/files"),
    r"/health": ("GET", "/api/health"),
    r"/halt": ("GET", "/api/halt"),
}
# Without those of one's own account, and of strangers.
OTHERS = ("/s/", "/embed/", "/api/", "/settings", "/account", "/new-project")
APP = [one for one in PAGES if not one.startswith(OTHERS)]
WHERE: dict[Role, list[str]] = {
    "viewer": [*APP, "/{project}/halt"],
    # Only what members may not is new here.
    "member": [
        "{own}/overview",
        "{own}/settings",
        "{own}/first/backtest",
        "/{project}/members",
        "/{project}/keys",
        "/{project}/audit",
        "/{project}/settings",
    ],
    "admin": ["/{project}/members", "/{project}/settings"],
}


class Reader:
    """A browser of somebody with a role, which notes what the server refuses."""

    def __init__(self, page: Page, service: Service) -> None:
        self.page, self.service = page, service
        self.refused: list[str] = []
        self._waiting: set[Request] = set()
        page.on("request", self._asked)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)
        page.on("response", self._answered)

    def open(self, path: str) -> None:
        """Until nothing is asked for any more, and nothing loads."""
        self.page.goto(self.service.address + path)
        until, quiet = time.monotonic() + PATIENCE, 0
        while quiet < 3:
            assert time.monotonic() < until, f"{path} still loads: {self._waiting}"
            self.page.evaluate(DRAWN)
            is_there = self.page.evaluate(LOADED) and not self._waiting
            quiet = quiet + 1 if is_there else 0

    def controls(self) -> list[str]:
        """With what is in the first menu of each kind."""
        found: list[str] = self.page.evaluate(CONTROLS)
        for menu in ("More actions for", "Actions for"):
            button = self.page.get_by_role("button", name=re.compile(f"^{menu}")).first
            if button.count():
                button.click()
                self.page.get_by_role("menuitem").first.wait_for()
                found += self.page.evaluate(CONTROLS)
                self.page.keyboard.press("Escape")
        return list(dict.fromkeys(found))

    def _asked(self, request: Request) -> None:
        if not request.url.partition("?")[0].endswith("/stream"):
            self._waiting.add(request)

    def _ended(self, request: Request) -> None:
        self._waiting.discard(request)

    def _answered(self, response: Response) -> None:
        if response.status == 403:
            self.refused.append(f"{response.request.method} {response.url}")


@pytest.fixture(scope="module")
def project(shared_service: Service, password_hash: str) -> Iterator[Project]:
    with ExitStack() as stack:
        owner = let_in(shared_service, "owner@example.com", password_hash)
        stack.enter_context(owner.client)
        made = Project(shared_service, owner, stack)
        made.fill()
        yield made


def may(role: Role, route: Route) -> bool:
    return MATRIX[route][ROLES.index(role)] == 200


def refused_controls(role: Role, path: str, names: list[str]) -> list[str]:
    wrong = []
    for name in names:
        if re.fullmatch(f"{ASKS_NOTHING}|{HERE_NOTHING.get(path, '')}", name):
            continue
        route = next((to for like, to in ASKS.items() if re.fullmatch(like, name)), None)
        if route is None:
            wrong.append(f"say under ASKS what {name!r} asks for")
        elif not may(role, route):
            wrong.append(f"{name!r} asks for {' '.join(route)}")
    return wrong


def refused_links(role: Role, paths: list[str]) -> list[str]:
    guarded = OPENS | {
        re.sub(r"{\w+}", "[^/]+", route[1]): route for route in MATRIX if route[0] == "GET"
    }
    found = {
        path: route
        for path in dict.fromkeys(paths)
        for like, route in guarded.items()
        if re.fullmatch(like, path) and not may(role, route)
    }
    return [f"a link to {path} asks for {' '.join(route)}" for path, route in found.items()]


@pytest.mark.parametrize("role", WHERE)
def test_nobody_sees_what_the_server_would_refuse(
    role: Role, browser: Browser, shared_service: Service, project: Project, password_hash: str
) -> None:
    person = let_in(shared_service, f"{role}@example.com", password_hash)
    shared_service.store.write_now(members.join, project.id, person.id, role)
    names = {
        "own": f"/{project.id}/{project.model.id}", "project": project.id,
        "model": project.model.id, "incident": project.incident,
        "arabic": f"/{project.id}/{project.others[0].id}", **project.versions(),
    }  # fmt: skip
    wrong: list[str] = []
    with person.client, browser.new_context(reduced_motion="reduce") as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        Site(page, shared_service).sign_in(person.email)
        reader = Reader(page, shared_service)
        for path in WHERE[role]:
            reader.open(path.format(**names))
            found = refused_controls(role, path, reader.controls())
            found += refused_links(role, page.evaluate(LINKS))
            wrong += [f"{path}: {one}" for one in found + reader.refused]
            reader.refused.clear()
    assert not wrong, "\n".join(wrong)


def test_a_control_that_would_be_refused_is_found() -> None:
    assert refused_controls("viewer", "", ["Start Trend", "Pause the log", "New"]) == [
        "'Start Trend' asks for POST /model/run",
        "say under ASKS what 'New' asks for",
    ]
    assert refused_controls("member", "", ["Start Trend"]) == []
    assert refused_links("viewer", ["/p", "/p/keys", "/api/models/m/versions/v/files"]) == [
        "a link to /p/keys asks for POST /project/list-tokens",
        "a link to /api/models/m/versions/v/files asks for"
        " GET /api/models/{model}/versions/{version}/files",
    ]
