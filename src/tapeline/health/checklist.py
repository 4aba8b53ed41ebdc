"""Every check, in one list. From it come /readyz, `tapeline status`, the health page, the metrics
and the headings of docs/how-to/on-call.md."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tapeline.health.machine import clock, descriptors, disk, memory, processes, sandbox
from tapeline.health.parts import Parts
from tapeline.health.running import (
    hold,
    hosts,
    journals,
    prices,
    quotas,
    runs,
    supervision,
    versions,
    work,
)
from tapeline.health.storing import (
    archives,
    backup,
    checkpoints,
    database,
    heads,
    keys,
    queue,
    statements,
    store,
    timestamps,
    witnesses,
)
from tapeline.health.verdict import Verdict


@dataclass(frozen=True)
class Check:
    name: str
    look: Callable[[Parts], Verdict]
    """In a thread: it may read the database and the disk. What it raises makes the row red."""
    essential: bool = False
    """While it is red, /readyz says 503."""
    figures: Mapping[str, str] = field(default_factory=dict)
    """The numbers that it may return, each with a sentence: the metrics `tapeline_<name>`."""


CHECKS: tuple[Check, ...] = (
    Check("store", store.look, essential=True),
    Check("supervision", supervision.look, essential=True),
    Check("background work", work.look, essential=True),
    Check("hold", hold.look),
    Check("sandbox", sandbox.look),
    Check(
        "runs",
        runs.look,
        figures={
            "installs_running": "Installations of packages that are running.",
            "installs_waiting": "Installations of packages that wait for their turn.",
        },
    ),
    Check(
        "disk",
        disk.look,
        figures={
            "disk_free_bytes": "Free space on the disk of the data directory.",
            "disk_size_bytes": "Size of the disk of the data directory.",
        },
    ),
    Check(
        "memory",
        memory.look,
        figures={"memory_available_bytes": "Memory that this machine can still give."},
    ),
    Check("descriptors", descriptors.look),
    Check("processes", processes.look),
    Check(
        "clock",
        clock.look,
        figures={
            "clock_jumps": "Jumps of the wall clock since the server was started.",
            "clock_jump_seconds": "The last jump; negative if the clock went back.",
        },
    ),
    Check("queue", queue.look, figures={"queued": "Writes and events queued for the database."}),
    Check(
        "database",
        database.look,
        figures={
            "database_bytes": "Size of the database.",
            "database_log_bytes": "Size of SQLite's write-ahead log.",
        },
    ),
    Check(
        "slowest statements",
        statements.look,
        figures={"slowest_statement_seconds": "The slowest statement of the last hour."},
    ),
    Check(
        "journals",
        journals.look,
        figures={"journal_lag_bytes": "Output of models that is not on their tapes yet."},
    ),
    Check(
        "checkpoints",
        checkpoints.look,
        figures={"checkpoint_age_seconds": "Age of the newest signature of any tape."},
    ),
    Check("keys", keys.look),
    Check(
        "time stamps",
        timestamps.look,
        figures={"timestamp_age_seconds": "Age of the newest time stamp of any authority."},
    ),
    Check(
        "witnesses",
        witnesses.look,
        figures={"witness_age_seconds": "Age of the newest signature of any witness."},
    ),
    Check("archives", archives.look),
    Check("backup", backup.look),
    Check(
        "record",
        heads.look,
        figures={"tapes_lost": "Tapes of which the database lost events, until it is accepted."},
    ),
    Check("hosts", hosts.look),
    Check("quotas", quotas.look),
    Check("price source", prices.look),
    Check("versions", versions.look),
)
