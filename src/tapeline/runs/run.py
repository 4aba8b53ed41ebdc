"""A run: something that somebody desired, and what became of it."""

from typing import Any, Literal

import msgspec

Kind = Literal["live", "backtest", "screener"]
State = Literal[
    "pending", "installing", "running", "restarting", "stopping",
    "stopped", "exited", "crashed", "failed",
]  # fmt: skip
ENDS: tuple[State, ...] = ("stopped", "exited", "crashed", "failed")


class Run(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    model_id: str
    version_id: str
    kind: Kind
    state: State
    desired: str
    reason: str
    plan: str
    python_version: str
    backtest_id: str | None
    arguments: dict[str, Any] | None
    description: str
    schedule: str | None
    fence: int | None
    restarts: int
    exit_code: int | None
    created_at: float
    started_at: float | None
    ended_at: float | None
