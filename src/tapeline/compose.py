"""The composition root: settings in, running parts out. It knows everyone; nobody knows it."""

import platform
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from starlette.types import ASGIApp

from tapeline.accounts import id_tokens
from tapeline.accounts.id_tokens import KeyRing
from tapeline.datadir import fresh_folder, prepare
from tapeline.errors import CannotStart
from tapeline.http import app
from tapeline.http.metrics import Metrics
from tapeline.http.services import Services
from tapeline.settings import Settings
from tapeline.store import failures
from tapeline.store.blobs import Blobs
from tapeline.store.migrate import migrate
from tapeline.store.sealing import Seal
from tapeline.store.store import Store
from tapeline.tape import uploads
from tapeline.tape.append import Appender
from tapeline.tape.inbox import Inbox
from tapeline.tape.signer import Signer
from tapeline.tape.watchers import Watchers


@contextmanager
def open_store(settings: Settings) -> Iterator[Store]:
    """The store with today's tables, for the service and for the operator's commands."""
    prepare(settings.data)
    store = Store(settings)
    try:
        _migrate(store)
        yield store
    finally:
        store.close()


@contextmanager
def open_services(settings: Settings) -> Iterator[Services]:
    with open_store(settings) as store:
        keys = settings.data / "keys"
        id_tokens.ensure_key(keys)
        watchers, appender = Watchers(), Appender(Signer(keys))
        inbox = Inbox(store.writer, appender, watchers, settings.write_queue)
        spool = fresh_folder(settings.data / "spool")
        if store.database.file is not None:  # on PostgreSQL another server may be staging now
            store.write_now(uploads.discard_orphans)
        services = Services(
            settings,
            store,
            KeyRing(keys),
            Metrics(store.writer),
            inbox,
            watchers,
            Seal.of(keys),
            spool,
            Blobs(settings.data / "blobs", settings.blobs),
            _interpreters(),
        )
        try:
            yield services
        finally:
            watchers.close()
            services.passwords.shutdown()
            services.archives.shutdown()


def application(services: Services) -> ASGIApp:
    return app.build(services)


@dataclass(frozen=True)
class _Interpreter:
    version: str
    release: str
    source: str


@cache
def _interpreters() -> tuple[_Interpreter, ...]:
    """The CPythons on the search path that start, and the one this server runs on."""
    releases = {".".join(platform.python_version_tuple()[:2]): platform.python_version()}
    for minor in range(7, 30):
        path = shutil.which(f"python3.{minor}")
        release = _release(path) if path else ""
        if release.startswith(f"3.{minor}."):
            releases.setdefault(f"3.{minor}", release)
    newest = sorted(releases, key=lambda one: int(one.partition(".")[2]), reverse=True)
    return tuple(_Interpreter(one, releases[one], "PATH") for one in newest)


def _release(path: str) -> str:
    show = "import platform; print(platform.python_implementation(), platform.python_version())"
    try:
        done = subprocess.run(  # noqa: S603 - a fixed script, on an interpreter of this host
            [path, "-I", "-c", show], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    kind, _, release = done.stdout.strip().partition(" ")
    return release if kind == "CPython" else ""


def _migrate(store: Store) -> None:
    """The first use of the database: what is wrong with it shows here, and is said in one line."""
    try:
        migrate(store.database)
    except failures.Failure as error:
        raise CannotStart(
            f"The database {store.database.name} cannot be used: {failures.reason(error)}"
        ) from error
