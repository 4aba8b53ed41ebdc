"""What checks may look at. A check that needs another part of the server adds it here."""

from dataclasses import dataclass

from tapeline.background import Background
from tapeline.runs.runner import Runner
from tapeline.settings import Settings
from tapeline.store.blobs import Blobs
from tapeline.store.store import Store
from tapeline.tape.append.inbox import Inbox
from tapeline.tape.append.probe import Probe
from tapeline.tape.roots.rounds import Roots


@dataclass(frozen=True)
class Parts:
    settings: Settings
    store: Store
    inbox: Inbox
    probe: Probe
    runner: Runner
    background: Background
    blobs: Blobs
    roots: Roots
    not_stored: str | None = None
    """Why an event would not be stored now, as the probe has found out for this examination."""
