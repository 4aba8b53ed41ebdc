"""Searches lines for a text as readers see it: a colour in the middle of a sentence hides nothing.

Most lines do not match, which shows without decoding them: bodies are stored as our encoder wrote
them, so a text is in one only if its bytes are, or if the program moved them with control codes.
"""

import re
from collections.abc import Sequence
from typing import Any, TypedDict

import msgspec

from tapeline import terminal_text
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.reading import channels

# As JSON writes them. Characters that are never shown are in it as they are.
_COLOUR = re.compile(rb"\\u001b\[[0-9;:]*m")
_UNSHOWN, _UNSHOWN_PAIRS = b"\x7f", re.compile(rb"\xc2[\x80-\x9f]")
_OTHER_CODES = re.compile(rb"\\(?:u00|[bfr])")
_SIGNS = (b"\\u00", b"\\b", b"\\f", b"\\r", b"\x7f", b"\xc2")  # of any of them; quick to look for


class Search(TypedDict, total=False):
    """A search in a channel; an empty one finds everything."""

    wanted: channels.Wanted
    may_have: channels.MayHave


def search(type: str | None, text: str | None) -> Search:
    """Records of a type whose line shows a text; of events without a line, all of it counts."""
    if type is None and text is None:
        return {}
    types, texts = _written(type), _written(text)

    def may_have(content: bytes) -> bool:
        return _has(content, types) and (_has(content, texts) or _may_show(content, texts))

    def is_wanted(record: StoredEvent) -> bool:
        if not may_have(record.body):
            return False
        fields = msgspec.json.decode(record.body, type=dict[str, Any])
        if type is not None and fields.get("type") != type:
            return False
        return text is None or text in _shown(fields, record)

    return {"wanted": is_wanted, "may_have": may_have}


def _shown(fields: dict[str, Any], record: StoredEvent) -> str:
    return terminal_text.plain(str(fields["line"])) if "line" in fields else record.body.decode()


def _written(text: str | None) -> list[bytes]:
    """How a text can be in a body."""
    return [b""] if text is None else [*{text.encode(), msgspec.json.encode(text)[1:-1]}]


def _has(content: bytes, texts: Sequence[bytes]) -> bool:
    return any(text in content for text in texts)


def _may_show(content: bytes, texts: Sequence[bytes]) -> bool:
    """Whether a text is there without what is not shown. Where other codes than colours are, only
    a screen can tell. Most pages have nothing of the kind."""
    if not _has(content, _SIGNS):
        return False
    bare = _UNSHOWN_PAIRS.sub(b"", content.translate(None, _UNSHOWN))
    bare = _COLOUR.sub(b"", bare)
    return _has(bare, texts) or _OTHER_CODES.search(bare) is not None
