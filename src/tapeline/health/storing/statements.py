"""Whether any statement of the last hour was slow."""

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, yellow
from tapeline.store.backends.slowest import Slow

SLOW = 5.0  # seconds
FIX = (
    "If it happens again, look at the disk (iostat -x 5) and at what else runs on this machine;"
    " the statements are listed below."
)


def look(parts: Parts) -> Verdict:
    return judged(parts.store.database.slowest.list())


def judged(found: list[Slow]) -> Verdict:
    if not found:
        return green("No statement was slow in the last hour.", slowest_statement_seconds=0.0)
    worst = found[0].seconds
    says = f"The slowest statement of the last hour took {worst:.3g} s."
    if worst < SLOW:
        return green(says, slowest_statement_seconds=worst)
    return yellow(says, FIX, slowest_statement_seconds=worst)
