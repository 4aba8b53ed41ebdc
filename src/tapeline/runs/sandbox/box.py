"""What one sandboxed process may see and use. The shim reads it as JSON."""

from typing import Literal

import msgspec

Network = Literal["open", "events", "none"]
"""Everything but this machine, only the server's events address, or nothing."""


class Box(msgspec.Struct, kw_only=True):
    argv: list[str]
    cwd: str
    env: dict[str, str]
    """The complete environment: nothing of the server's own is added."""
    readonly: list[tuple[str, str]]
    """Pairs of a path on the host and the path inside."""
    writable: list[tuple[str, str]]
    tmp_mb: int
    network: Network
    events_port: int | None
    """On 127.0.0.1 inside; connections to it reach the server."""
    memory_mb: int
    cpu_milli: int
    pids: int
    disk_mb: int | None
    """Of all writable folders together."""
    uid: int | None
    """The user that root becomes before any code of the model runs."""
    names: tuple[str, ...] = ()
    """More names of the server inside; by https, on the usual port."""


class Policy(msgspec.Struct, kw_only=True):
    """How a launch goes on when its process ends, and when it must end."""

    restart: bool
    grace: float = 10.0
    time_limit: float | None = None
    journal_bytes: int = 64 * 1024 * 1024
    line_bytes: int = 65_536
    beyond_memory: str = "It used more memory than it may."
    """The message for a run that did."""
    output_bytes: int = 32_000_000
    """The most kept in a minute; more is dropped and reported."""


class LeaseTerms(msgspec.Struct, kw_only=True):
    """Until when a launch may live without a renewal, after which its shim ends it by itself."""

    file: str
    """The renewals of all runs of the node: `{run: [fence, deadline]}`."""
    fence: int
    until: float
    """By CLOCK_BOOTTIME of this machine."""


class Launch(msgspec.Struct, kw_only=True):
    """The instructions for a shim, on its standard input and never on disk: they hold secrets."""

    name: str
    folder: str
    lock: str
    runs: str
    box: Box
    masked: list[str]
    """Texts that must not appear in the journal."""
    policy: Policy
    unsafe: bool = False
    lease: LeaseTerms | None = None
    """None: it lives until somebody ends it, as on a single machine."""
