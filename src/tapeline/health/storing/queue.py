"""How many events and writes wait for the database."""

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, yellow

LONG, FULL = 0.5, 0.95  # of what may wait
FIX = (
    "See which models push most (`tapeline_event_requests_total`), and whether the disk is slow"
    " (slowest statements below). Clients that get 503 send again."
)


def look(parts: Parts) -> Verdict:
    waiting = parts.store.writer.backlog() + parts.inbox.backlog()
    return judged(waiting, parts.settings.write_queue)


def judged(waiting: int, capacity: int) -> Verdict:
    says = f"{waiting:,} of at most {capacity:,} writes and events are queued."
    if waiting > capacity * FULL:
        return red(says, FIX, queued=waiting)
    return (
        yellow(says, FIX, queued=waiting)
        if waiting > capacity * LONG
        else green(says, queued=waiting)
    )
