"""Whether the wall clock of this machine is right, as far as a server can tell: whether it has
jumped in the last day, and whether it agrees with that of a PostgreSQL."""

import time

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, sentence, yellow
from tapeline.store.backends import common_time

MOST_APART = 5.0  # seconds; a busy database answers late
WRONG = "Events that arrive here and runs on this machine are dated by it."
FIX = "See that NTP keeps the clock: timedatectl status"


def look(parts: Parts) -> Verdict:
    clock = parts.store.clock
    last = clock.jumps[-1].seconds if clock.jumps else 0.0
    figures = {"clock_jumps": float(clock.jumped), "clock_jump_seconds": last}
    if jump := clock.saved().recent():
        return yellow(sentence(jump.sentence()), FIX, **figures)
    ahead = time.time() - parts.store.read_now(common_time.now)
    if abs(ahead) > MOST_APART:
        way = "ahead of" if ahead > 0 else "behind"
        says = f"The clock of this machine is {abs(ahead):,.0f} seconds {way} that of the database."
        return yellow(f"{says} {WRONG}", FIX, **figures)
    return green("The clock has not jumped in the last day.", **figures)
