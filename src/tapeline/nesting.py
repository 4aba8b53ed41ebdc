"""How deep JSON is nested, and whether its texts hold NUL: found on the bytes, by few calls that
each pass over all of them. A walk in Python over what was decoded costs a second per megabyte of
small lists, and nobody else is served meanwhile.

The bytes must be valid JSON.
"""

_NUL = b"\\u0000"
_KEPT = b'"[]{}'
_OTHERS = bytes(set(range(256)) - set(_KEPT))
_ALIKE = bytes.maketrans(b"{}", b"[]")


def is_deeper(content: bytes, most: int) -> bool:
    """Whether lists and objects lie in each other more than so many times."""
    if content.count(b"[") + content.count(b"{") <= most:
        return False
    brackets = _brackets(content)
    for _ in range(most):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")  # the innermost level, everywhere at once
    return bool(brackets)


def has_nul(content: bytes) -> bool:
    """Whether a text or a name in it holds the character NUL, which JSON can only write escaped."""
    return _NUL in content and _NUL in content.replace(rb"\\", b"")


def _brackets(content: bytes) -> bytes:
    """All brackets that are not in texts, the curly ones as square ones."""
    plain = content.replace(rb"\\", b"").replace(rb"\"", b"") if b"\\" in content else content
    marks = plain.translate(_ALIKE, _OTHERS).replace(b'""', b"")
    # Between the quotes that are left are texts with brackets.
    return b"".join(marks.split(b'"')[::2])
