"""Whether and when a crashed process is restarted. Pure: a history in, seconds out."""

HEALTHY = 600.0
"""An attempt that lived this long resets the back-off; crashes count for as long."""
MOST_CRASHES = 5
LONGEST_WAIT = 60.0


def decide(history: list[tuple[float, float]], now: float) -> float | None:
    """Seconds to wait before the next attempt, or None to give up.

    The history holds the start and the end of each attempt that crashed, oldest first.
    """
    recent = [end for _, end in history if now - end < HEALTHY]
    if len(recent) >= MOST_CRASHES:
        return None
    streak = 0
    for start, end in reversed(history):
        streak += 1
        if end - start >= HEALTHY:
            break
    return float(min(LONGEST_WAIT, 2.0 ** max(streak - 1, 0)))
