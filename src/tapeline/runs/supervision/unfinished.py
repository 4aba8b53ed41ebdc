"""What the database says about runs and hosts: the input of a decision that is not its own."""

from typing import NamedTuple

from sqlalchemy import Connection

from tapeline.accounts import tenants
from tapeline.runs import described_hosts
from tapeline.runs import run as run_records
from tapeline.runs.run import Run


class Unfinished(NamedTuple):
    runs: list[Run]
    """All that have not ended, the oldest first, of all hosts."""
    projects: dict[str, str]
    """The project of each run."""
    tenants: dict[str, str]
    """The tenant of each project whose backtests queue."""
    drained: set[str]
    """The hosts that take no more runs."""


NOTHING = Unfinished([], {}, {}, set())


def read(connection: Connection, slots: int) -> Unfinished:
    found = run_records.unfinished(connection, slots)
    queueing = {project for run, project in found if run.kind == "backtest"}
    return Unfinished(
        [run for run, _ in found],
        {run.id: project for run, project in found},
        tenants.of_projects(connection, queueing),
        described_hosts.drained(connection),
    )
