"""The seam between the supervisor and where models run. No logic of its own.

Everything here is called from threads and may take its time, but for `is_alive`, `has_news` and
`read`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

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
    """Of the model, small and never given twice."""


class LaunchSecrets(msgspec.Struct, frozen=True):
    """What a launch is given and nobody else may see."""

    key_id: str
    key_pass: str
    secrets: Mapping[str, str]


class Prepared(msgspec.Struct, frozen=True):
    lock: str
    """The exact packages, so that this version never means others."""


class Progress(Protocol):
    """Who is told how an installation goes."""

    def installing(self) -> None: ...

    def lines(self, records: list[Record]) -> None: ...


class Engine(Protocol):
    host: str
    """Whose runs these are: no other engine can know that one of them is gone."""
    confinement: str
    """How runs are kept in their place, for their record."""

    def prepare(self, job: Job, progress: Progress) -> Prepared:
        """Make ready what the run needs; CannotInstall says why not, CannotPrepareNow why later."""
        ...

    def start(self, job: Job, given: LaunchSecrets) -> None:
        """Launch it, unless something of it is alive; CannotLaunch says why not, CannotLaunchNow
        that it is the host's fault."""
        ...

    def stop(self, run: Run, *, now: bool = False) -> None:
        """Ask it to end, with everything it started; `now` does not ask."""
        ...

    def is_alive(self, run: Run) -> bool:
        """False is a proof: nothing of it is left. An OSError: that cannot be told now."""
        ...

    def has_news(self, run: Run) -> bool:
        """Whether its journal goes on where the row says that we have read to."""
        ...

    def read(self, run: Run, offset: int, limit_bytes: int = ...) -> Chunk:
        """Its journal from there on, at least a record. What lies before is not needed any more."""
        ...

    def ending(self, run: Run) -> "BacktestOutput":
        """What a backtest left in its folder."""
        ...

    def usage(self, run: Run) -> Usage | None: ...

    def known(self) -> set[str]:
        """The runs of which anything is still here."""
        ...

    def clean_up(self) -> None:
        """Now and then: make room of what can be made again."""
        ...

    def clear(self, run_id: str) -> None:
        """Forget a run that has ended: kill what is left, and remove its folder."""
        ...


class BacktestOutput(msgspec.Struct, frozen=True):
    ending: Ending
    result: Path | None = None
    """The dictionary that a backtest returned, as JSON. Whatever wrote it is not to be trusted."""
