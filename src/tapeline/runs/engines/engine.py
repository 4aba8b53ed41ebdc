"""The seam between the supervisor and the place where models run. It has no logic.

Everything here is called from threads and may be slow, except `hosts` and `trouble`.
"""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

import msgspec

from tapeline.errors import Unavailable
from tapeline.models.versions import Version
from tapeline.runs.holding.holds import Hold
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.journals.records import Record
from tapeline.runs.run import Run
from tapeline.runs.sandbox.cgroups import Usage


class Job(msgspec.Struct, frozen=True):
    """All an engine needs to know about a run."""

    run: Run
    version: Version
    project_id: str
    number: int
    """The model's number: small, and never used twice."""
    tenant: str = ""
    """Whose projects share the places for installations."""


class LaunchSecrets(msgspec.Struct, frozen=True):
    """What only this launch may see."""

    key_id: str
    key_pass: str
    secrets: Mapping[str, str]


class Prepared(msgspec.Struct, frozen=True):
    lock: str
    """The exact packages, so that this version always gets the same ones."""
    confinement: str
    """How its host confines it, for its record."""


class Progress(Protocol):
    """Receives the progress of an installation, and can end it."""

    def is_cancelled(self) -> bool: ...

    def installing(self) -> None: ...

    def lines(self, records: list[Record]) -> None: ...


class NeedsInstalling(Exception):
    """Nothing was done, because packages have to be installed first, and nobody follows that."""

    def __init__(self, *, at_once: bool = False) -> None:
        """`at_once`: only an environment without packages is missing, which takes no place from
        installations."""
        super().__init__()
        self.at_once = at_once


class Sight(msgspec.Struct, frozen=True):
    """What is to be seen of a launch."""

    alive: bool
    """False proves that nothing of it is left."""
    unread: bool = False
    """Its journal may have records after the offset in its row."""
    lag: int = 0
    """Bytes of its journal after that offset, as far as it can be read."""
    last_seen: float | None = None
    """When something of it was last alive, of a run whose shim could not record its end."""
    usage: Usage | None = None


class NotSeenYet(Unavailable):
    """Its host has not answered yet."""


class Sights(NamedTuple):
    of: dict[str, Sight]
    """By run."""
    unknown: dict[str, Exception]
    """Launches that could not be seen now: nothing can be decided about them."""
    left: dict[str, str]
    """Runs of which anything is still there, and their hosts: also those that nobody asked
    about."""
    holds: Mapping[str, Mapping[str, Hold]] = MappingProxyType({})
    """What an operator stopped on a host itself that is not this machine: by host and name. Read
    after the runs were seen, so that nothing is seen to have ended without its hold."""


class Engine(Protocol):
    def hosts(self) -> Collection[str]:
        """Whose runs these are: no other engine can know that one of them is gone."""
        ...

    def trouble(self) -> str | None:
        """Why no run can be seen at the moment, without full paths; None if all is well."""
        ...

    def place(self, runs: Sequence[Run], drained: Collection[str]) -> dict[str, str]:
        """A host for each of these runs that one can prepare now; no drained host takes any."""
        ...

    def prepare(self, job: Job, progress: Progress | None) -> Prepared:
        """Prepare everything the run needs; CannotInstall is final, CannotPrepareNow is not.

        Without `progress` nothing is installed, which may run code and take many minutes:
        NeedsInstalling says so."""
        ...

    def start(self, job: Job, given: LaunchSecrets) -> None:
        """Launch it, unless something of it is alive. CannotLaunch is the run's fault,
        CannotLaunchNow the host's."""
        ...

    def stop(self, run: Run, *, now: bool = False) -> None:
        """Ask it to end, with everything it started; `now` kills it."""
        ...

    def look(self, runs: Sequence[Run], *, closely: bool = False) -> Sights:
        """At those of these runs that are launched; all are of our hosts. Lag, last sight and
        usage are told when it looks `closely`. An error means that nothing can be seen."""
        ...

    def read(self, run: Run, offset: int, limit_bytes: int = ...) -> Chunk:
        """Its journal from an offset on, at least one record, with the output of a backtest that
        ends there. Earlier segments may be deleted."""
        ...

    def clear(self, host: str, run_id: str) -> None:
        """Remove a run that has ended: kill its last processes, and delete its folder."""
        ...

    def lift(self, host: str, name: str) -> None:
        """A hold of that host on one model or backtest is over: its stop is recorded."""
        ...

    def close(self) -> None:
        """End all installations, with their processes. Runs live on."""
        ...
