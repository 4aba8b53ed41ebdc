"""Takes out of text what would move a terminal's cursor or turn lines around, and writes it.

No module outside this folder writes to the terminal, so that no command can forget it.
"""

import re
import sys
import traceback

from tapeline.accounts.plain_names import CONTROL

# JSON escapes the others itself.
UNESCAPED = re.compile(rf"(?![\n]){CONTROL.pattern}")


def clean(text: str, *, keep_lines: bool = False) -> str:
    if keep_lines:
        return "\n".join(clean(line) for line in text.split("\n"))
    return CONTROL.sub("", text.expandtabs(4))


def write(text: str = "", *, to_stderr: bool = False, keep_lines: bool = False) -> None:
    """A line that is never wrapped, for people who copy it."""
    out = sys.stderr if to_stderr else sys.stdout
    out.write(clean(text, keep_lines=keep_lines) + "\n")
    out.flush()


def write_json(text: str) -> None:
    """The same values, with control characters as escapes."""
    sys.stdout.write(UNESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    sys.stdout.flush()


def write_traceback() -> None:
    """Of the exception that is being handled."""
    write(traceback.format_exc().rstrip("\n"), to_stderr=True, keep_lines=True)
