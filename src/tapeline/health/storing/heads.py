"""Whether the database still has every event that a server has signed."""

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, yellow
from tapeline.tape.proof import heads

TOLD = 3
FIX = (
    "The database was replaced by an older or another copy. Bring back the newer one if it exists;"
    " if the loss is known: tapeline doctor --accept-loss"
)


def look(parts: Parts) -> Verdict:
    lost = heads.losses(parts.settings.data)
    if not lost:
        return green("The database has everything that was signed.", tapes_lost=0.0)
    more = f" And {len(lost) - TOLD:,} more tapes." if len(lost) > TOLD else ""
    says = " ".join(one.sentence() for one in lost[:TOLD]) + more
    # A restored backup that is on hold is expected to be older.
    colour = yellow if parts.runner.hold() else red
    return colour(says, FIX, tapes_lost=float(len(lost)))
