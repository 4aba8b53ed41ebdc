"""What a rule does when it fires: `do`, a list of tell, stop and halt."""

from typing import Any, Literal

import msgspec

from tapeline.watch.conditions import durations
from tapeline.watch.rules.invalid import a_text, only, unknown, wrong

WORDS = ("tell", "stop", "halt")
MOST = 10
LONGEST_NAME = 100


class Action(msgspec.Struct, frozen=True):
    what: Literal["tell", "stop", "halt"]
    channels: tuple[str, ...] | None = None
    """Names; None: every channel of the project."""
    after: float = 0.0
    """Seconds. Only `tell`: it waits so long, and tells nobody if somebody acknowledged by then."""

    def written(self) -> Any:
        if self.channels is None and not self.after:
            return self.what
        named = {"tell": list(self.channels)} if self.channels is not None else {"tell": "all"}
        return named | ({"after": durations.written(self.after)} if self.after else {})


TELL = Action("tell")


def read(value: object) -> tuple[Action, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or len(value) > MOST:
        raise wrong("do", f"must be a list of at most {MOST} actions: {', '.join(WORDS)}")
    actions = tuple(_action(one) for one in value)
    for word in ("stop", "halt"):
        if [one.what for one in actions].count(word) > 1:
            raise wrong("do", f"has {word} more than once")
    return actions


def _action(value: object) -> Action:
    if isinstance(value, str):
        if value not in WORDS:
            raise unknown("do", value, WORDS)
        return Action(value)  # type: ignore[arg-type]
    if not isinstance(value, dict) or "tell" not in value:
        raise wrong("do", 'has an entry that is neither a word nor {"tell": […]}')
    only("do", value, ("tell", "after"))
    names, after = value["tell"], durations.read(value.get("after", 0))
    if after is None:
        raise wrong("do", 'has an `after` that is not a length of time, such as "15m"')
    if names == "all":
        return Action("tell", None, after)
    if not isinstance(names, list) or not names or len(names) > MOST:
        raise wrong("do", 'has a `tell` that is neither "all" nor a list of names of channels')
    return Action("tell", tuple(a_text("do", name, LONGEST_NAME) for name in names), after)
