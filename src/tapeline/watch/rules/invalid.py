"""What is wrong with a rule that somebody wrote, naming the key and what is known."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from tapeline.errors import Invalid


class InvalidRule(Invalid):
    """This rule is not valid."""


def wrong(key: str, rest: str) -> InvalidRule:
    return InvalidRule(f"`{key}` {rest}.", field=key)


def unknown(key: str, value: object, known: Iterable[str]) -> InvalidRule:
    """A word that is not known, with the one that was probably meant, and all there are."""
    names = sorted(known)
    near = difflib.get_close_matches(str(value), names, 1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return InvalidRule(
        f"`{key}` is {_short(value)}, which is not known.{meant} Known: {', '.join(names)}.",
        field=key,
    )


def only(key: str, value: Mapping[Any, Any], known: Iterable[str]) -> None:
    """Refuse a key that nothing would read: it is probably a misspelt one."""
    for name in value:
        if name not in known:
            raise unknown(key, name, known)


def a_text(key: str, value: object, longest: int) -> str:
    """One line for people."""
    if not isinstance(value, str) or not value.strip():
        raise wrong(key, "must be a text")
    text = value.strip()
    if len(text) > longest or not text.isprintable():
        raise wrong(key, f"must be one line of at most {longest} characters")
    return text


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"
