"""The seam of conditions: what one is called, what it takes, and the function that finds it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection

from tapeline.watch.facts.fact import Asked, Sources, Subject

About = Literal["life", "silence", "money", "exposure", "behaviour", "platform"]
Scope = Literal["model", "project", "all"]

PREVIEWED = 30 * 86_400.0
"""Seconds of the past in which a preview looks."""

HAPPENED = "at"
"""In what is remembered: the moment from which a window counts."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a condition found about a subject at a moment."""

    holds: bool | None
    """None: it cannot be evaluated, and `said` is why."""
    said: str
    """One sentence for people, with the figures."""
    value: float | None = None
    limit: float | None = None
    since: float | None = None
    """When it became true, if the facts know that."""
    look_again: float | None = None
    """The moment at which the clock alone may change it."""
    is_settled: bool = False
    """Nothing but the clock can change it before `look_again`, so nobody need look until then: of
    a model that reported a second ago, an hour of silence is not due whatever it sends next."""
    memory: dict[str, Any] | None = None
    """What to hand to the next finding: a peak, the day's opening. It replaces the last one."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """What may stand beside the condition's name in `when`."""

    name: str
    kind: Literal["duration", "text", "pattern"]
    help: str
    default: Any = None
    required: bool = False


class Stretch(msgspec.Struct, frozen=True, kw_only=True):
    """A time in which a condition held, for previews."""

    began_at: float
    ended_at: float | None
    """None: it still does."""
    value: float | None = None


class Stretches(list[Stretch]):
    """Stretches, and since when nothing is missing among them: a read is bounded."""

    def __init__(self, some: Iterable[Stretch] = (), looked_since: float | None = None) -> None:
        super().__init__(some)
        self.looked_since = looked_since


class Question(msgspec.Struct, frozen=True):
    """What is asked, the facts by name (those that the subject has), and the moment."""

    asked: Asked
    facts: Mapping[str, Any]
    now: float


class Past(msgspec.Struct, frozen=True):
    """What a preview looks at."""

    connection: Connection
    sources: Sources
    subject: Subject
    asked: Asked
    since: float
    now: float


Find = Callable[[Question], Finding]
"""Pure."""

Preview = Callable[[Past], Sequence[Stretch]]
"""When it held between two moments, from bounded reads: oldest first, without regard to `for`
(a silence applies its own) and to hours."""


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    about: About
    title: str
    help: str
    find: Find
    needs: tuple[str, ...]
    """Names of facts."""
    scopes: frozenset[Scope] = frozenset({"model", "project", "all"})
    of_each: Literal["model", "host"] | None = "model"
    """A rule of a project, or of all, asks about each model in it (or about each host). None: about
    the project, or about everything, as one."""
    units: tuple[str, ...] = ()
    """Of `limit`, the default first. Empty: it takes no limit."""
    default: float | None = None
    """The limit of a rule that names none. None: it must name one."""
    smallest: Literal["any", "zero", "more than zero"] = "zero"
    """Limit that makes sense. One that is always reached would fire at once, and stop the model."""
    options: tuple[Option, ...] = ()
    tighter: Literal["lower", "higher"] | None = None
    """Which limit is the stricter one: people may only tighten what a version expects."""
    is_silence: bool = False
    """Its `for` is the silence itself: required, and measured by the condition."""
    preview: Preview | None = None
