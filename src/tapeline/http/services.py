"""What the composition root hands to every handler."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tapeline.accounts.id_tokens import KeyRing
from tapeline.http.metrics import Metrics
from tapeline.settings import Settings
from tapeline.store.sealing import Seal
from tapeline.store.store import Store
from tapeline.tape.children import Helpers
from tapeline.tape.inbox import Inbox
from tapeline.tape.watchers import Watchers


def _two_threads() -> ThreadPoolExecutor:
    # A password costs 64 MB and tens of milliseconds of every core it gets: two at a time.
    return ThreadPoolExecutor(2, thread_name_prefix="passwords")


@dataclass(frozen=True)
class Services:
    settings: Settings
    store: Store
    ring: KeyRing
    metrics: Metrics
    inbox: Inbox
    helpers: Helpers
    watchers: Watchers
    seal: Seal
    spool: Path
    """Where bodies too large for memory wait."""
    passwords: ThreadPoolExecutor = field(default_factory=_two_threads)
