"""How much of what models print is not on their tapes yet."""

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, size, yellow

MUCH = 5_000_000
FIX = (
    "The server reads journals more slowly than models print, or one cannot be read: see the log"
    " for `work_failed` with work=journal, and which model prints most (`tapeline ps`)."
)


def look(parts: Parts) -> Verdict:
    return judged(parts.runner.journal_lag())


def judged(lags: dict[str, int]) -> Verdict:
    whole = sum(lags.values())
    says = f"{size(whole)} of the output of {len(lags):,} runs are not on their tapes yet."
    figures = {"journal_lag_bytes": float(whole)}
    return yellow(says, FIX, **figures) if whole > MUCH else green(says, **figures)
