"""The process itself: `python -m tapeline.watch.heavy.serving PARENT`. A library is loaded by the
first question that needs it. It ends with its server, or when nobody can ask any more."""

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec

from tapeline import lifetime, memory
from tapeline.watch.heavy.messages import Answer, Match, Places, Question, Sessions

MEMORY = 2_000_000_000  # bytes of addresses
INSTALL = (
    "{library} is not installed for this Python, because there is no ready-made package for this"
    " machine, or it was left out. Install it with: pip install {library}"
)

_Matching = Callable[[Match, float], Places | str]


def main() -> None:
    lifetime.end_with(int(sys.argv[1]))
    memory.be_expendable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    matching: _Matching | None = None
    for line in sys.stdin.buffer:
        question = msgspec.json.decode(line, type=Question)
        if question.matches and matching is None:
            matching = _patterns()
        answer = Answer(matches=[] if matching is None else _all(matching, question))
        if question.sessions is not None:
            answer = _sessions(question.sessions)
        sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
        sys.stdout.buffer.flush()


def _all(matching: _Matching, question: Question) -> list[Places | str]:
    """Each pattern has an equal share of the time that is left, so that a slow one leaves enough
    for the others."""
    ends, found = time.monotonic() + question.seconds, []
    for place, one in enumerate(question.matches):
        left = max(0.0, ends - time.monotonic())
        found.append(matching(one, left / (len(question.matches) - place)))
    return found


def _patterns() -> _Matching:
    try:
        from tapeline.watch.heavy.patterns import Patterns  # noqa: PLC0415 - when first needed
    except ImportError:
        why = INSTALL.format(library="google-re2")
        return lambda _, __: why
    known = Patterns()
    return lambda one, seconds: known.matching(one.pattern, one.lines, seconds)


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
