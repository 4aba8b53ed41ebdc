"""Texts from a record in sentences about it: nothing in them can look like a sentence of ours."""

import re

LONGEST = 80  # characters
_WORD = re.compile(r"[A-Za-z0-9_.:/@+#-]{1,80}")


def quoted(text: str) -> str:
    """A plain word as it is, anything else in quotes: line breaks and characters that cannot be
    seen by their code, and no more than the beginning of a long text."""
    if _WORD.fullmatch(text):
        return text
    more = "…" if len(text) > LONGEST else ""
    return f'"{"".join(map(_shown, text[:LONGEST]))}{more}"'


def _shown(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"
