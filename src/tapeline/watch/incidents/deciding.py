"""What follows from a finding: the states of one rule about one subject, as a pure function."""

from typing import Any, Literal

import msgspec

from tapeline.accounts import plain_names
from tapeline.watch.conditions.condition import HAPPENED, Finding
from tapeline.watch.rules.hours import Window

State = Literal["ok", "pending", "firing", "unknown"]


class RuleState(msgspec.Struct, frozen=True, kw_only=True):
    state: State = "ok"
    since: float = 0.0
    """When it came into this state; zero before it was evaluated."""
    held_since: float | None = None
    """Since when the condition is true without a break."""
    said: str = ""
    value: float | None = None
    limit: float | None = None
    memory: dict[str, Any] | None = None
    incident_id: str | None = None
    """The open incident. It stays open while the rule cannot be evaluated."""
    revision: int = 0
    """Of the rule that was evaluated."""

    def moved(self, seconds: float) -> "RuleState":
        """The moments from which something lasts, by a clock that is so far ahead."""
        held_since, memory = self.held_since, self.memory
        if held_since is not None:
            held_since += seconds
        if memory is not None and memory.get(HAPPENED) is not None:
            memory = memory | {HAPPENED: memory[HAPPENED] + seconds}
        return msgspec.structs.replace(self, held_since=held_since, memory=memory)


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What the rule says about firing, as of now."""

    lasting: float
    """How long it must be true. Zero for a silence, which measures that itself."""
    window: Window
    muted_until: float | None
    revision: int


class Decision(msgspec.Struct, frozen=True):
    after: RuleState
    """Without the id of an incident that is still to be opened."""
    happened: Literal["fired", "resolved"] | None
    look_again: float | None
    """When the clock alone may change it."""


def decide(before: RuleState, finding: Finding, terms: Terms, now: float) -> Decision:
    if not terms.window.is_open:
        finding = msgspec.structs.replace(
            finding, holds=False, said="It does not count now: these are not its hours."
        )
    state, held_since, look_again = _state(before, finding, terms, now)
    happened: Literal["fired", "resolved"] | None = None
    if state == "firing" and before.incident_id is None:
        happened = "fired"
    elif state == "ok" and before.incident_id is not None:
        happened = "resolved"
    after = RuleState(
        state=state,
        since=before.since if before.since and state == before.state else now,
        held_since=held_since,
        said=plain_names.on_one_line(finding.said),  # it may quote what a model wrote
        value=finding.value,
        limit=finding.limit,
        memory=before.memory if finding.memory is None else finding.memory,
        incident_id=None if happened == "resolved" else before.incident_id,
        revision=terms.revision,
    )
    return Decision(after, happened, _soonest(look_again, finding.look_again, terms.window.until))


def _state(
    before: RuleState, finding: Finding, terms: Terms, now: float
) -> tuple[State, float | None, float | None]:
    """The state, since when the condition is true, and when time alone changes that."""
    if finding.holds is None:
        return "unknown", None, None
    if not finding.holds:
        return "ok", None, None
    known = finding.since if finding.since is not None else before.held_since
    # What was true before its hours began counts from their beginning.
    held_since = min(now, max(now if known is None else known, terms.window.since or 0.0))
    if before.incident_id is not None:
        return "firing", held_since, None
    if now < held_since + terms.lasting:
        return "pending", held_since, held_since + terms.lasting
    if terms.muted_until is not None and now < terms.muted_until:
        return "pending", held_since, terms.muted_until
    return "firing", held_since, None


def _soonest(*moments: float | None) -> float | None:
    return min((one for one in moments if one is not None), default=None)
