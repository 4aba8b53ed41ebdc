"""The parts that the composition root passes to every handler."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection

from tapeline.accounts.id_tokens import KeyRing
from tapeline.background import Background
from tapeline.backups.keeper import Keeper
from tapeline.fair_line import Owner
from tapeline.fair_threads import FairThreads
from tapeline.health.examination import Health
from tapeline.http.wire.connections import Connections
from tapeline.http.wire.download_places import Places
from tapeline.http.wire.metrics import Metrics
from tapeline.models.archives.sources import SourceFile
from tapeline.prices.folding import Folding
from tapeline.recently_used import RecentlyUsed
from tapeline.results.backtests.reporter import Reporter
from tapeline.results.changes.stored import Changes
from tapeline.results.pnl.bookkeeper import Bookkeeper
from tapeline.results.portfolio.member import Holdings
from tapeline.runs import pythons_of_hosts
from tapeline.runs.pythons_of_hosts import Python
from tapeline.runs.runner import Runner
from tapeline.settings import Settings
from tapeline.sharing.exhibits.exhibit import KEPT, Kept
from tapeline.sharing.exhibits.replay import Replays
from tapeline.store.blobs import Blobs
from tapeline.store.encryption import Cipher
from tapeline.store.store import Store
from tapeline.tape.append.inbox import Inbox
from tapeline.tape.append.quotas import Quotas
from tapeline.tape.append.watchers import Watchers
from tapeline.tape.backtest_results.staging import Staging
from tapeline.tape.fair_budget import FairBudget
from tapeline.tape.memory_budget import MemoryBudget
from tapeline.tape.witnessing.witness import Witness
from tapeline.tracing import Tracer
from tapeline.watch.halts.carrying_out import Halts
from tapeline.watch.incidents.evaluating import Evaluator
from tapeline.watch.key_addresses import KeyAddresses
from tapeline.watch.telling.delivering import Telling

T = TypeVar("T")

SOURCE_FILES = 50_000  # files of versions that are remembered, all lists together
SENDERS = 10_000  # credentials whose tenants are remembered
OF_A_PASSWORD = 64 * 1024 * 1024
"""Bytes of memory: argon2id needs so much by design."""


class Interpreter(Protocol):
    """A Python that models can run on."""

    @property
    def version(self) -> str: ...
    @property
    def release(self) -> str: ...
    @property
    def source(self) -> str: ...


def _threads_for_archives() -> FairThreads:
    # Each inflation uses a core; on small machines one core stays free for everything else.
    return FairThreads(2, "archives")


def _two_threads() -> ThreadPoolExecutor:
    # A password costs tens of milliseconds of every core it gets: two at a time.
    return ThreadPoolExecutor(2, thread_name_prefix="passwords")


@dataclass(frozen=True)
class Services:
    settings: Settings
    store: Store
    ring: KeyRing
    metrics: Metrics
    inbox: Inbox
    health: Health
    watchers: Watchers
    cipher: Cipher
    staging: Staging
    blobs: Blobs
    witness: Witness
    interpreters: Sequence[Interpreter]
    """Newest first, one of each version."""
    runner: Runner
    reporter: Reporter
    bookkeeper: Bookkeeper
    folding: Folding
    """Puts bars and indicators that arrived into the chunks that charts read."""
    background: Background
    connections: Connections
    batches: FairBudget
    """Bytes of large batches that are parsed and stored at the same time; models take turns."""
    memory: MemoryBudget
    """For work that needs much of it."""
    downloads: Places
    """The part of that memory which files on their way to slow readers may take."""
    quotas: Quotas
    backups: Keeper
    halts: Halts
    rules: Evaluator
    telling: Telling
    key_addresses: KeyAddresses
    tracer: Tracer | None = None
    """Where traces go; None while the setting `telemetry` is empty."""
    passwords: ThreadPoolExecutor = field(default_factory=_two_threads)
    archives: FairThreads = field(default_factory=_threads_for_archives)
    """Threads that check and store archives; tenants take turns."""

    fold_turns: FairBudget = field(default_factory=lambda: FairBudget(1))
    """One request at a time asks for a portion of that; tenants take turns."""
    replays: Replays = field(default_factory=Replays)
    """Live records as delayed links see them."""
    changes: Changes = field(default_factory=Changes)
    """Changes after the fact, of the models that people look at."""
    kept: Kept = field(default_factory=lambda: Kept(KEPT))
    """A cache of what every visitor of a link sees, for example its picture."""
    holdings: Holdings = field(default_factory=Holdings)
    """Models as portfolios need them, until they change."""
    senders: RecentlyUsed[tuple[str, ...], Owner] = field(
        default_factory=lambda: RecentlyUsed(SENDERS)
    )
    """The owners of credentials that were valid once: in whose turn they read."""

    sources: RecentlyUsed[str, list[SourceFile]] = field(
        default_factory=lambda: RecentlyUsed(SOURCE_FILES, len)
    )
    """The files of archives, which never change; hashing them takes long."""

    async def with_password(self, act: Callable[..., T], *args: Any) -> T:
        """Hash or compare a password, in a thread, when there is memory for it."""
        async with self.memory.need(Owner("passwords"), OF_A_PASSWORD):
            return await asyncio.get_running_loop().run_in_executor(self.passwords, act, *args)

    @property
    def pythons(self) -> Sequence[str]:
        """The available versions of Python, newest first."""
        return [one.version for one in self.interpreters]

    def pythons_of_all(self, connection: Connection) -> list[Python]:
        """Those of all hosts: any of them may run a model that any server takes."""
        here = [Python(one.version, one.release, one.source) for one in self.interpreters]
        return pythons_of_hosts.of_all(connection, here)

    def trouble(self) -> str | None:
        """Why models are not supervised or books not kept; without paths. It looks at the disk."""
        return self.runner.trouble() or self.background.trouble()
