"""The shapes of answers that many routes share, and how a response says what is in it."""

from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from starlette.responses import Response

T = TypeVar("T")
Anything = dict[str, Any]


class Done(msgspec.Struct):
    status: str = "success"


class Listed(msgspec.Struct, Generic[T]):
    items: list[T]
    next: str | None = None
    """Send it as `cursor` to go on; null at the end."""


@dataclass(frozen=True)
class Gives:
    """What an answer contains. A handler that makes its own response annotates it with this."""

    type: Any
    media: str = "application/json"


Csv = Annotated[Response, Gives(str, "text/csv")]
EventStream = Annotated[Response, Gives(str, "text/event-stream")]
Html = Annotated[Response, Gives(str, "text/html")]
Ndjson = Annotated[Response, Gives(str, "application/x-ndjson")]
Text = Annotated[Response, Gives(str, "text/plain")]
Zip = Annotated[Response, Gives(str, "application/zip")]
