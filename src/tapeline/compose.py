"""The composition root: settings in, running parts out. It knows everyone; nobody knows it."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp

from tapeline.accounts import id_tokens
from tapeline.accounts.id_tokens import KeyRing
from tapeline.datadir import prepare
from tapeline.errors import CannotStart
from tapeline.http import app
from tapeline.http.metrics import Metrics
from tapeline.http.services import Services
from tapeline.settings import Settings
from tapeline.store import failures
from tapeline.store.migrate import migrate
from tapeline.store.store import Store


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
        services = Services(settings, store, KeyRing(keys), Metrics(store.writer))
        try:
            yield services
        finally:
            services.passwords.shutdown()


def application(services: Services) -> ASGIApp:
    return app.build(services)


def _migrate(store: Store) -> None:
    """The first use of the database: what is wrong with it shows here, and is said in one line."""
    try:
        migrate(store.database)
    except failures.Failure as error:
        raise CannotStart(
            f"The database {store.database.name} cannot be used: {failures.reason(error)}"
        ) from error
