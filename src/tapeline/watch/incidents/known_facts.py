"""What rules know of their subjects: each fact is read once for all that need it, and again when it
may have changed. One that cannot be read is unknown about its subject, and about no other."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from sqlalchemy import Connection

from tapeline.background import cause_of
from tapeline.errors import Unavailable
from tapeline.watch.facts import all_facts
from tapeline.watch.facts.fact import Asked, Gathering, Sources, Subject

Wanted = Mapping[Subject, Sequence[Asked]]


class _Known(msgspec.Struct):
    """What was gathered about one subject, and when it last changed."""

    values: dict[str, Any] = msgspec.field(default_factory=dict)
    gathered: dict[str, int] = msgspec.field(default_factory=dict)
    """By fact: the turn."""
    at: dict[str, float] = msgspec.field(default_factory=dict)
    changed: dict[str, int] = msgspec.field(default_factory=dict)
    """By word: the turn."""
    failed: dict[str, str] = msgspec.field(default_factory=dict)
    """By fact: why it could not be read. It is read again at the next look."""


class KnownFacts:
    def __init__(self, sources: Sources, note: Callable[[BaseException, str], None]) -> None:
        """`note` hears of failures, each about one fact."""
        self._sources, self._note = sources, note
        self._known: dict[str, _Known] = {}
        self._turns = 0

    def next_turn(self) -> None:
        self._turns += 1

    def keep(self, subjects: Collection[str]) -> None:
        """Of the others nothing is known any more."""
        self._known = {name: known for name, known in self._known.items() if name in subjects}

    def mark(self, subject: str, changed: Iterable[str]) -> None:
        self._of(subject).changed.update(dict.fromkeys(changed, self._turns))

    def failure(self, subject: str, needs: Iterable[str]) -> str | None:
        failed = self._of(subject).failed
        return next((failed[name] for name in needs if name in failed), None)

    def values(self, subject: str, needs: Iterable[str]) -> dict[str, Any]:
        values = self._of(subject).values
        return {name: values[name] for name in needs if name in values}

    def is_fresh(self, subject: str, name: str, now: float) -> bool:
        known, fact = self._of(subject), all_facts.BY_NAME[name]
        gathered = known.gathered.get(name)
        if gathered is None:
            return False
        if fact.every is not None and now - known.at[name] >= fact.every:
            return False
        return all(known.changed.get(word, 0) <= gathered for word in fact.changed_by)

    async def gather(self, name: str, wanted: Wanted, now: float) -> None:
        try:
            found = await self._sources.store.read(partial(_read, name, self._sources, wanted, now))
        except Unavailable as error:
            self._miss(name, wanted, error)
        except Exception as error:  # noqa: BLE001 - rules that need it say that it is missing
            if len(wanted) == 1:
                self._miss(name, wanted, error)
                return
            for subject, asked in wanted.items():  # one of them is the reason, not all
                await self.gather(name, {subject: asked}, now)
        else:
            self._keep(name, wanted, found, now)

    def _keep(self, name: str, wanted: Wanted, found: Mapping[str, Any], now: float) -> None:
        is_partial = all_facts.BY_NAME[name].is_partial
        for subject in wanted:
            known = self._of(subject.id)
            known.failed.pop(name, None)
            known.gathered[name], known.at[name] = self._turns, now
            if subject.id not in found:
                known.values.pop(name, None)
                continue
            known.values[name] = found[subject.id]
            if is_partial is not None and is_partial(found[subject.id]):
                del known.gathered[name]

    def _miss(self, name: str, wanted: Wanted, error: Exception) -> None:
        subject = next(iter(wanted))
        self._note(error, f"fact {name}" + (f" of {subject.id}" if len(wanted) == 1 else ""))
        for subject in wanted:
            known = self._of(subject.id)
            known.gathered.pop(name, None)
            known.failed[name] = cause_of(error)

    def _of(self, subject: str) -> _Known:
        return self._known.setdefault(subject, _Known())


def _read(
    name: str, sources: Sources, wanted: Wanted, now: float, connection: Connection
) -> Mapping[str, Any]:
    return all_facts.BY_NAME[name].gather(Gathering(connection, sources, wanted, now))
