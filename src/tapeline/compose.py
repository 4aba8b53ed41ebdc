"""The composition root: it turns settings into running parts. Only `cli` imports it."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from tapeline import private_files
from tapeline.accounts import id_tokens
from tapeline.accounts.id_tokens import KeyRing
from tapeline.background import Background
from tapeline.backups import needed_keys
from tapeline.backups.keeper import Keeper
from tapeline.datadir import fresh_folder, prepare
from tapeline.errors import CannotStart
from tapeline.health.alive import Alive
from tapeline.health.examination import Health
from tapeline.health.parts import Parts
from tapeline.http import app
from tapeline.http.core.services import Services
from tapeline.http.wire.connections import Connections
from tapeline.http.wire.download_places import OF_A_DOWNLOAD, Places
from tapeline.http.wire.metrics import Metrics
from tapeline.models import cleanup as archive_cleanup
from tapeline.prices import arrivals
from tapeline.prices import retention as price_retention
from tapeline.prices.folding import Folding
from tapeline.prices.source.source import PriceSource
from tapeline.results.backtests.reporter import Reporter
from tapeline.results.pnl import starting_positions
from tapeline.results.pnl.bookkeeper import Bookkeeper
from tapeline.results.prices import rate_pairs
from tapeline.results.prices.closes import Closes
from tapeline.results.prices.source_marks import SourceMarks
from tapeline.runs import host_identity, one_installation
from tapeline.runs.cluster.cluster_runner import ClusterRunner
from tapeline.runs.environments import interpreters
from tapeline.runs.environments.interpreters import Found
from tapeline.runs.local_runner import LocalRunner
from tapeline.runs.runner import Runner
from tapeline.runs.supervising import Means
from tapeline.settings import Settings
from tapeline.store.backends import announcing, failures, timekeeping
from tapeline.store.blobs import Blobs
from tapeline.store.encryption import Cipher
from tapeline.store.leadership import Leader
from tapeline.store.migrate import migrate
from tapeline.store.store import Store
from tapeline.store.upkeep import log_copying, space
from tapeline.tape import batches, tapes
from tapeline.tape import cleanup as tape_cleanup
from tapeline.tape.append.appending import Appender
from tapeline.tape.append.authorising import Authorising
from tapeline.tape.append.inbox import Inbox
from tapeline.tape.append.probe import Probe
from tapeline.tape.append.quotas import Quotas
from tapeline.tape.append.shared_usage import SharedUsage
from tapeline.tape.append.watchers import Watchers
from tapeline.tape.backtest_results import result_pieces
from tapeline.tape.backtest_results.staging import Staging
from tapeline.tape.fair_budget import FairBudget
from tapeline.tape.helper_processes import Helpers
from tapeline.tape.memory_budget import PATIENCE, MemoryBudget
from tapeline.tape.proof.rewinds import Rewinds
from tapeline.tape.proof.signer import Signer
from tapeline.tape.retention import removal as retention
from tapeline.tape.roots.rounds import Roots
from tapeline.tape.spool import Spool
from tapeline.tape.witnessing.submitting import Submitting
from tapeline.tape.witnessing.witness import Witness
from tapeline.tracing import Tracer
from tapeline.watch.facts.certificates import Certificates
from tapeline.watch.facts.fact import Sources
from tapeline.watch.halts.carrying_out import Halts
from tapeline.watch.incidents.evaluating import Evaluator
from tapeline.watch.key_addresses import KeyAddresses
from tapeline.watch.telling.delivering import Telling

if TYPE_CHECKING:
    from tapeline.store.backends.postgres import Listener


@contextmanager
def open_store(settings: Settings) -> Iterator[Store]:
    """The store, migrated to the current tables, for the service and the operator's commands."""
    prepare(settings.data)
    store = Store(settings)
    try:
        _migrate(store)
        store.read_now(timekeeping.resume)
        yield store
    finally:
        store.close()


@contextmanager
def open_services(settings: Settings) -> Iterator[Services]:
    with open_store(settings) as store:
        background, keys = Background(), settings.data / "keys"
        blobs = Blobs(settings.data / "blobs", settings.blobs)
        cipher, quotas = _open_keys(settings, store, blobs), Quotas(settings)
        watchers, appender = Watchers(), Appender(Signer(keys), quotas.total, arrivals.store)
        leader = Leader(store, background, appender.name)
        inbox = Inbox(store.writer, appender, watchers, settings.write_queue)
        spool, bookkeeper = fresh_folder(settings.data / "spool"), Bookkeeper(store, background)
        if store.database.file is not None:  # on PostgreSQL another server may be staging now
            store.write_now(result_pieces.discard_all)
        store.write_now(appender.register_keys)
        starting_positions.write(store, appender)
        memory, connections = MemoryBudget(), Connections(settings)
        reporter, found = Reporter(store, spool, background, memory), _interpreters(settings)
        rooms = Spool(spool, settings.max_spool, settings.max_spool_owner)
        staging = Staging(settings, store, Helpers(settings.helpers, memory), rooms, reporter.wake)
        means = Means(settings, store, cipher, appender, watchers, staging, quotas, background)
        runner = _runner(means, blobs, found, leader)
        probe, roots = Probe(inbox, store.database), Roots(settings, store, appender, background)
        parts = Parts(settings, store, inbox, probe, runner, background, blobs, roots)
        backups = Keeper(settings, store, background, lambda: runner.hold() is not None)
        services = Services(
            settings,
            store,
            KeyRing(keys, store.clock),
            Metrics(store.writer, inbox, background, connections, backups),
            inbox,
            Health(parts),
            watchers,
            cipher,
            staging,
            blobs,
            Witness(store, appender, settings.public_url),
            found.interpreters,
            runner,
            reporter,
            bookkeeper,
            Folding(store, background, partial(tapes.hold, alone=True)),
            background,
            connections,
            FairBudget(batches.AT_ONCE, small=batches.PASSING),
            memory,
            Places(max(1, memory.most // 2 // OF_A_DOWNLOAD), PATIENCE),
            quotas,
            backups,
            *_watch(settings, store, cipher, bookkeeper, appender, watchers, runner, background),
            _tracer(settings.telemetry),
        )
        _price(settings, store, appender, watchers, background)
        _keep_up(services)
        listener = _listen(store, appender, watchers, quotas, background)
        try:
            yield services
        finally:
            if listener is not None:
                listener.close()
            leader.close()
            _close(services)


def _interpreters(settings: Settings) -> Found:
    """Of this machine, if models run on it."""
    return Found([], []) if settings.engine == "ray" else interpreters.of_host(settings)


def _runner(means: Means, blobs: Blobs, found: Found, leader: Leader) -> Runner:
    if means.settings.engine == "ray":
        return ClusterRunner(means, blobs, leader)
    return LocalRunner(means, blobs, found)


def _close(services: Services) -> None:
    services.watchers.close()
    services.runner.close()
    services.rules.close()
    services.passwords.shutdown()
    services.archives.close()
    if services.tracer is not None:
        services.tracer.close()


def _watch(
    settings: Settings, store: Store, cipher: Cipher, bookkeeper: Bookkeeper, appender: Appender,
    watchers: Watchers, runner: Runner, background: Background,
) -> tuple[Halts, Evaluator, Telling, KeyAddresses]:  # fmt: skip
    """What watches over models, stops them, and tells people."""
    halts = Halts(store, runner, appender, watchers, background)
    sources = Sources(settings, store, certificates=Certificates(settings.public_url, background))
    rules = Evaluator(sources, bookkeeper, appender, watchers, runner, halts, background)
    telling = Telling(settings, store, cipher, background, runner.is_untouched_copy)
    rules.told = telling.wake
    return halts, rules, telling, KeyAddresses(store, background)


def _tracer(collector: str) -> Tracer | None:
    """None without the setting: then nothing of OpenTelemetry is imported."""
    if not collector:
        return None
    try:
        from tapeline.http.wire.traces import Traces  # noqa: PLC0415
    except ImportError as error:
        raise CannotStart(
            f"The setting telemetry needs more packages ({error})."
            " Install them with: pip install 'tapeline[telemetry]'"
        ) from error
    return Traces(collector)


def _open_keys(settings: Settings, store: Store, blobs: Blobs) -> Cipher:
    """A new installation gets them. A database that needs those it had does not, nor does one on
    which another server runs."""
    keys = settings.data / "keys"
    here = host_identity.name_in(settings.data / host_identity.FILE)
    one_installation.require(store, here, keys, blobs)
    private_files.clear_drafts(keys)
    store.read_now(needed_keys.require, keys)
    id_tokens.ensure_key(keys)
    id_tokens.forget_retired(keys, store.clock)
    return Cipher.of(keys)


def _price(
    settings: Settings, store: Store, appender: Appender, watchers: Watchers, background: Background
) -> None:
    """The work that brings prices to what is held."""
    Closes(store, appender, watchers, background, settings.late_seconds)
    marks = SourceMarks(store, appender, watchers, background, settings.late_seconds)
    PriceSource(settings, store, background, rate_pairs.wanted, marks.write)


def _keep_up(services: Services) -> None:
    """The work that keeps the stored data in order, and tells the outside that all is well."""
    settings, store, background = services.settings, services.store, services.background
    timekeeping.start(background, store.clock, store.write)
    Rewinds(store, settings.data, background)
    Submitting(settings, store, background)
    tape_cleanup.start(background, store)
    retention.start(background, store)
    price_retention.start(background, store, settings.bars_days)
    log_copying.start(background, store)
    space.start(background, store)
    archive_cleanup.start(background, store, services.blobs, shared=bool(settings.blobs))
    Alive(settings.alive, services.health, background)


def _listen(
    store: Store, appender: Appender, watchers: Watchers, quotas: Quotas, background: Background
) -> "Listener | None":
    """Tell the streams and the quotas of this server what other servers write and count."""
    if store.database.file is not None:
        return None
    usage = SharedUsage(store, quotas, appender.name, background)
    rights = Authorising(watchers, background)

    def on_words(words: str) -> None:
        sender, names = announcing.heard(words)
        if sender == appender.name:
            return
        rights.hear(names)
        usage.hear(names)
        watchers.wake_readers(names)

    def on_change(hears: bool) -> None:
        claims = store.database.claims
        if hears and claims is not None:  # the connection to the database was lost
            claims.renew()
        watchers.hear_others(hears)

    watchers.hears_others = False  # yet
    return store.database.listen(background, announcing.CHANNEL, on_words, on_change)


def application(services: Services) -> ASGIApp:
    return app.build(services)


def _migrate(store: Store) -> None:
    """The first use of the database: report any problem with it in one line."""
    try:
        migrate(store.database)
    except failures.Failure as error:
        raise CannotStart(
            f"The database {store.database.name} cannot be used: {failures.reason(error)}"
        ) from error
