"""The seam between what is stored and what rules ask: one kind of fact, read for many at once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection

from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.watch.facts.certificates import Certificates
from tapeline.watch.facts.portfolios import Portfolios
from tapeline.watch.heavy.line_searches import Searches
from tapeline.watch.heavy.process import Heavy

Kind = Literal["model", "project", "all", "host"]

EVERYTHING = ""
"""The subject of a rule about all projects together."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What one rule asks about one subject, for conditions and for facts that depend on it."""

    rule_id: str
    limit: float | None = None
    unit: str | None = None
    lasting: float = 0.0
    """The rule's `for`, in seconds."""
    options: Mapping[str, Any] = {}
    """What stands beside the condition's name in `when`; durations are seconds."""
    memory: Mapping[str, Any] = {}
    """What the condition's last finding asked to remember. It survives restarts."""
    counts_from: float = 0.0
    """Silence before this moment does not count: the rule is that old, or its hours began."""
    is_firing: bool = False


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule is about: a model, a project, everything, or a host."""

    id: str
    kind: Kind
    name: str
    project_id: str | None = None
    tape: int | None = None
    """Of a model that has sent an event."""


class Sources(msgspec.Struct, frozen=True):
    """Where facts come from, beside the connection."""

    settings: Settings
    store: Store
    portfolios: Portfolios = msgspec.field(default_factory=Portfolios)
    heavy: Heavy = msgspec.field(default_factory=Heavy)
    certificates: Certificates = msgspec.field(default_factory=Certificates)
    searches: Searches = msgspec.field(default_factory=Searches)
    """What rules look for in logs, beside their evaluation."""


Wanted = Mapping[Subject, Sequence[Asked]]
"""The subjects, and what is asked about each of them."""


class Gathering(msgspec.Struct, frozen=True):
    """One reading of a fact. `connection` cannot write."""

    connection: Connection
    sources: Sources
    wanted: Wanted
    now: float


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    gather: Callable[[Gathering], Mapping[str, Any]]
    """By the id of the subject, from bounded reads: a subject that is missing has no such fact.
    Called in a thread that reads."""
    changed_by: frozenset[str] = frozenset()
    """What can change it: names of kinds of events (`tape/events/kinds.py`), `books` (new books
    of the model), `runs` (the row of its deployed run). Of a project: of any model in it."""
    every: float | None = None
    """Seconds after which it is asked again, for what nothing announces."""
    is_partial: Callable[[Any], bool] | None = None
    """Whether a value has to be read again at the next look, although nothing changed: there was
    too much to read at once."""
