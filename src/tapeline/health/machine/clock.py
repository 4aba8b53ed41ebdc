"""Whether the wall clock of this machine has jumped in the last day."""

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, sentence, yellow

FIX = "See that NTP keeps the clock: timedatectl status"


def look(parts: Parts) -> Verdict:
    clock = parts.store.clock
    last = clock.jumps[-1].seconds if clock.jumps else 0.0
    figures = {"clock_jumps": float(clock.jumped), "clock_jump_seconds": last}
    if jump := clock.saved().recent():
        return yellow(sentence(jump.sentence()), FIX, **figures)
    return green("The clock has not jumped in the last day.", **figures)
