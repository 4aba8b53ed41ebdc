"""The seam between the supervisor and the place where models run. It has no logic.

Everything here is called from threads and may be slow, except `is_alive`, `trouble`, `has_news` and
`read`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from tapeline.models.versions import Version
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.journals.meaning import Ending
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


class Sights(NamedTuple):
    of: dict[str, Sight]
    """By run."""
    unknown: dict[str, Exception]
    """Runs that could not be seen now: nothing can be decided about them."""
    left: dict[str, str]
    """Runs of which anything is still there, and their hosts: also those that nobody asked
    about."""


class Engine(Protocol):
    host: str
    """Whose runs these are: no other engine can know that one of them is gone."""
    confinement: str
    """How runs are confined, for their record."""

    def needs_installing(self, job: Job) -> bool:
        """Whether `prepare` has to install packages, which may run code and take many minutes."""
        ...

    def prepare(self, job: Job, progress: Progress) -> Prepared:
        """Prepare everything the run needs; CannotInstall is final, CannotPrepareNow is not."""
        ...

    def start(self, job: Job, given: LaunchSecrets) -> None:
        """Launch it, unless something of it is alive. CannotLaunch is the run's fault,
        CannotLaunchNow the host's."""
        ...

    def stop(self, run: Run, *, now: bool = False) -> None:
        """Ask it to end, with everything it started; `now` kills it."""
        ...

    def is_alive(self, run: Run) -> bool:
        """False proves that nothing of it is left; an OSError means that this is unknown now."""
        ...

    def last_seen(self, run: Run) -> float | None:
        """When something of it was last alive, of a run whose shim could not record its end."""
        ...

    def processes_elsewhere(self, run: Run) -> list[int]:
        """Of the same run in another copy of the data directory, as far as they can be seen."""
        ...

    def trouble(self) -> str | None:
        """Why no run can be seen at the moment, without full paths; None if all is well."""
        ...

    def has_news(self, run: Run) -> bool:
        """Whether its journal has records after the offset in its row."""
        ...

    def read(self, run: Run, offset: int, limit_bytes: int = ...) -> Chunk:
        """Its journal from an offset on, at least one record. Earlier segments may be deleted."""
        ...

    def ending(self, run: Run) -> "BacktestOutput":
        """The output of a backtest."""
        ...

    def usage(self, run: Run) -> Usage | None: ...

    def known(self) -> set[str]:
        """The runs of which anything is still here."""
        ...

    def clean_up(self) -> None:
        """From time to time: free disk space by deleting files that can be rebuilt."""
        ...

    def clear(self, run_id: str) -> None:
        """Remove a run that has ended: kill its last processes, and delete its folder."""
        ...

    def close(self) -> None:
        """End all installations, with their processes. Runs live on."""
        ...


class BacktestOutput(msgspec.Struct, frozen=True):
    ending: Ending
    result: Path | None = None
    """The dictionary that a backtest returned, as JSON. It is untrusted."""
