"""Names and addresses on one line, which a terminal, a log and a page show as they are.

A control character moves a terminal's cursor, a bidirectional override turns text around, and a
name of nothing but invisible characters cannot be told from none: such a name could hide or forge
the rows beside it. This is the one place that says so, for every name that comes in.
"""

import re
import unicodedata

from tapeline.errors import Invalid

CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Letters of every direction are fine. A test holds this against all of Unicode."""
_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Me", "Zl", "Zp", "Zs"}
"""Categories without a shape of their own: a joiner or an accent shows something only beside a
letter."""
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and a symbol that fonts draw as nothing."""


def fault(text: str) -> str | None:
    """Why a name cannot be shown as it is, as the end of a sentence; None if it can. An empty one
    is left to the rules about its length."""
    if CONTROL.search(text):
        return "must be one line without control characters and text direction marks"
    if text and not any(_is_seen(one) for one in text):
        return "must have at least one visible character"
    return None


def on_one_line(text: str) -> str:
    """Text that somebody else wrote, so that it cannot imitate the lines around it."""
    return " ".join(CONTROL.sub(" ", text).split())


def require(text: str, field: str) -> None:
    found = fault(text)
    if found is not None:
        raise Invalid(f"`{field}` {found}.", field=field)


def _is_seen(one: str) -> bool:
    return unicodedata.category(one) not in _UNSEEN and one not in _BLANK
