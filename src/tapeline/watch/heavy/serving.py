"""The process itself: `python -m tapeline.watch.heavy.serving PARENT`. A library is loaded by the
first question that needs it. It ends with its server, or when nobody can ask any more."""

import resource
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from tapeline import lifetime, memory
from tapeline.watch.heavy.messages import Answer, Match, Question, Sessions

MEMORY = 2_000_000_000  # bytes of addresses
INSTALL = (
    "{library} is not installed for this Python, because there is no ready-made package for this"
    " machine, or it was left out. Install it with: pip install {library}"
)


def main() -> None:
    lifetime.end_with(int(sys.argv[1]))
    memory.be_expendable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    matching: Callable[[Match], list[int] | str] | None = None
    for line in sys.stdin.buffer:
        question = msgspec.json.decode(line, type=Question)
        if question.matches and matching is None:
            matching = _patterns()
        found = [matching(one) for one in question.matches] if matching is not None else []
        answer = Answer(matches=found)
        if question.sessions is not None:
            answer = _sessions(question.sessions)
        sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
        sys.stdout.buffer.flush()


def _patterns() -> Callable[[Match], list[int] | str]:
    try:
        from tapeline.watch.heavy.patterns import Patterns  # noqa: PLC0415 - when first needed
    except ImportError:
        why = INSTALL.format(library="google-re2")
        return lambda _: why
    known = Patterns()
    return lambda one: known.matching(one.pattern, one.lines)


def _sessions(asked: Sessions) -> Answer:
    try:
        from tapeline.watch.heavy import calendars  # noqa: PLC0415 - when first needed
    except ImportError:
        return Answer(trouble=INSTALL.format(library="exchange_calendars"))
    if not calendars.is_known(asked.calendar):
        names = ", ".join(calendars.known())
        return Answer(trouble=f"There is no calendar {asked.calendar[:40]}. Known: {names}.")
    try:
        return Answer(sessions=calendars.sessions(asked.calendar, asked.first, asked.last))
    except Exception as error:  # noqa: BLE001 - a library of many authors; the server goes on
        return Answer(trouble=f"The calendar {asked.calendar} says: {_short(error)}")


def _short(error: Any) -> str:
    return f"{error}"[:200]


if __name__ == "__main__":
    main()
