"""What a page of docs/ shows of a terminal, held against what the commands really print.

In a `console` block a line behind `$` is typed; the lines below it, up to the next one, are what
comes back. `…` alone on a line stands for any lines, inside a line for any text: what differs from
one time to the next, such as ids and times. Everything else is compared, numbers included.
"""

import re
from dataclasses import dataclass

from tests.commands import Shell, code_of

GAP = "…"


@dataclass(frozen=True)
class Step:
    command: str
    shown: tuple[str, ...]
    """Empty where the page shows nothing of what it prints."""


def steps_of(page: str) -> list[Step]:
    found: list[Step] = []
    for block in code_of(page, "console"):
        for part in re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.MULTILINE)[1:]:
            command, *shown = part.rstrip().split("\n")
            found.append(Step(command, tuple(line.rstrip() for line in shown)))
    return found


def follow(
    steps: list[Step], shell: Shell, *, typed: dict[str, str] | None = None, stdin: str = ""
) -> None:
    """Type each command and compare; `typed` says what to type in place of a text of the page."""
    for step in steps:
        command = step.command
        for text, instead in (typed or {}).items():
            command = command.replace(text, instead)
        printed = shell.shows(command, stdin=stdin)
        for text, instead in (typed or {}).items():
            printed = printed.replace(instead, text)
        check(step, printed)


def check(step: Step, printed: str) -> None:
    if not step.shown:
        return
    pattern = "".join(_line(line) for line in step.shown)
    lines = "".join(f"{line.rstrip()}\n" for line in printed.splitlines() if line.strip())
    message = f"$ {step.command}\n{printed}\n-- the page shows --\n" + "\n".join(step.shown)
    assert re.fullmatch(pattern, lines), message


def _line(line: str) -> str:
    if line == GAP:
        return "(?:.*\n)*?"
    if not line:
        return ""  # empty lines are for the eye
    return ".*?".join(re.escape(part) for part in line.split(GAP)) + "\n"
