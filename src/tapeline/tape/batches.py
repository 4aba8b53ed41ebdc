"""Splits a batch: the path and time of every item, and where in the batch its body is.

Splitting 100 MB takes long, and a thread would block the event loop: a large batch is split by
`python -m tapeline.tape.batches FOLDER`, which reads it from `FOLDER/body`.
"""

from pathlib import Path
from typing import Any

import msgspec

from tapeline.errors import Invalid, MalformedBody, TooLarge
from tapeline.fair_line import Owner
from tapeline.tape import helper_processes
from tapeline.tape.dates.time_header import read_time
from tapeline.tape.events.kinds import BY_PATH
from tapeline.tape.events.values import number
from tapeline.tape.helper_processes import Helpers

MOST = 10_000
AT_ONCE = 2_000_000
"""Bytes of batches that are parsed and stored at the same time, while the others wait: some
commits' worth. A larger batch goes alone."""
IN_MEMORY = 2
"""Times the size of a batch that splitting it takes."""
PASSING = 16 * 1024
"""Bytes of a batch that need not wait, as single events need not."""


class Item(msgspec.Struct, array_like=True):
    path: str = ""
    time: float | None = None
    """Its own, if it has one."""
    start: int = 0
    stop: int = 0
    error: str = ""
    """What is wrong with it. Reported only if all items before it are good."""
    field: str | None = None


class _Raw(msgspec.Struct):
    path: Any = None
    body: msgspec.Raw = msgspec.Raw()
    time: Any = None


_raw = msgspec.json.Decoder(_Raw)
_raws = msgspec.json.Decoder(list[msgspec.Raw])


def split(content: bytes | bytearray, *, by_lines: bool) -> list[Item]:
    if by_lines:
        raws: list[Any] = [line for line in content.split(b"\n") if line.strip()]
    else:
        try:
            raws = _raws.decode(content)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise MalformedBody(f"The batch is not a JSON array: {error}.") from None
    if len(raws) > MOST:
        raise TooLarge(f"A batch has at most {MOST:,} events.")
    items, place = list[Item](), 0
    for raw in raws:
        try:
            path, body, time = _parts(raw)
        except Invalid as error:
            items.append(Item(error=error.message, field=error.field))
            continue
        # Wherever the same bytes stand they are the same body.
        place = content.index(body, place)
        items.append(Item(path, time, place, place + len(body)))
    return items


async def split_apart(helpers: Helpers, folder: Path, owner: Owner) -> list[Item]:
    """The batch in `FOLDER/body` or `FOLDER/lines`."""
    printed = await helpers.run(__name__, folder, owner, times=IN_MEMORY)
    return msgspec.json.decode(printed, type=list[Item])


def _parts(raw: Any) -> tuple[str, bytes, float | None]:
    try:
        found = _raw.decode(raw)
    except msgspec.ValidationError:
        raise MalformedBody("The body must be a JSON object, such as {}.") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedBody(f"The body is not valid JSON: {error}.") from None
    path, body, time = found.path, bytes(found.body), found.time
    if not isinstance(path, str) or path not in BY_PATH:
        raise Invalid("`path` must be the address of an event.", field="path")
    if not body.startswith(b"{"):
        raise Invalid("`body` must be an object.", field="body")
    if time is None:
        return path, body, None
    return path, body, read_time(time if isinstance(time, str) else repr(number(time, "time")))


def _act(folder: Path) -> list[Item]:
    lines = folder / "lines"
    by_lines = lines.exists()
    return split((lines if by_lines else folder / "body").read_bytes(), by_lines=by_lines)


if __name__ == "__main__":
    helper_processes.serve(_act)
