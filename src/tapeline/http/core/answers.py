"""The shapes of answers that many routes share."""

from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")
Anything = dict[str, Any]


class Done(msgspec.Struct):
    status: str = "success"


class Listed(msgspec.Struct, Generic[T]):
    items: list[T]
    next: str | None = None
    """Send it as `cursor` to go on; null at the end."""
