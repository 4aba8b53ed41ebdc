"""What the server itself states on a tape: that a halt was declared, and how it ended."""

from typing import Any

from tapeline.tape.events.values import Values, text


def statement(values: Values, _lenient: bool) -> dict[str, Any]:
    """Servers alone write it, from records of theirs, so its fields are taken as they are."""
    return {**values, "stated": text(values, "stated")}
