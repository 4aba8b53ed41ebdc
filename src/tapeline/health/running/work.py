"""Whether background work makes progress: every loop and task that is not a request."""

from tapeline.background import State
from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, sentence, yellow

FIX = "See the server's log for `work_failed` and `work_overdue`; if it stays, restart the server."


def look(parts: Parts) -> Verdict:
    return judged(parts.background.states())


def judged(states: list[State]) -> Verdict:
    late = [one for one in states if one.overdue]
    if late:
        says = sentence("; ".join(one.sentence for one in late))
        return red(says, FIX) if any(one.essential for one in late) else yellow(says, FIX)
    failing = [one for one in states if one.in_a_row]
    if failing:
        told = "; ".join(f"the {one.name} fails ({one.last_error})" for one in failing)
        return yellow(sentence(told), FIX)
    return green(f"{len(states)} kinds of background work make progress.")
