"""Large results are prepared in a process of their own: decoding them here would stop everybody.

The parent spools the body to files and starts `python -m tapeline.tape.preparing FOLDER`; the child
checks and packs it into `FOLDER/pieces` and prints the header, or the error, as one line of JSON.
"""

import asyncio
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from tapeline.errors import Invalid, MissingField, Problem
from tapeline.logs import Log
from tapeline.tape import backtest_result

log = Log(__name__)

FRAME = struct.Struct("<HIQI")  # length of the list's name, piece, index of its first item, length

LISTS = ("account_values", "trades", "indicators")


class Piece(msgspec.Struct, frozen=True):
    list: str
    piece: int
    first: int
    content: bytes


class Order(msgspec.Struct):
    """What the parent wants done."""

    fields: dict[str, Any]
    lenient: bool
    max_depth: int


class Outcome(msgspec.Struct):
    header: dict[str, Any] | None = None
    error: str = ""
    field: str | None = None
    missing: bool = False


def prepare_here(
    content: bytes | None,
    fields: dict[str, Any],
    files: dict[str, bytes],
    *,
    lenient: bool,
    max_depth: int,
) -> tuple[dict[str, Any], list[Piece]]:
    """A small result, in memory."""
    pieces: list[Piece] = []
    fields, lists = _parted(content, fields, files, max_depth)
    header = backtest_result.prepare(
        fields,
        lists,
        lambda *parts: pieces.append(Piece(*parts)),
        lenient=lenient,
        max_depth=max_depth,
    )
    return header, pieces


async def prepare_apart(
    folder: Path, fields: dict[str, Any], *, lenient: bool, max_depth: int
) -> dict[str, Any]:
    """A large one, in a child. `folder` holds `body`, or one file per list."""
    (folder / "order").write_bytes(msgspec.json.encode(Order(fields, lenient, max_depth)))
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-m", "tapeline.tape.preparing", str(folder),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    printed, _ = await child.communicate()
    if child.returncode != 0:
        log.error("result_not_prepared", exit_code=child.returncode)
        raise Problem
    outcome = msgspec.json.decode(printed, type=Outcome)
    if outcome.header is None:
        raise (MissingField if outcome.missing else Invalid)(outcome.error, field=outcome.field)
    return outcome.header


def read_pieces(file: BinaryIO) -> Iterator[Piece]:
    while frame := file.read(FRAME.size):
        length_of_name, piece, first, length = FRAME.unpack(frame)
        yield Piece(file.read(length_of_name).decode(), piece, first, file.read(length))


def _parted(
    content: bytes | None, fields: dict[str, Any], files: dict[str, bytes], max_depth: int
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The short fields decoded, the long lists not."""
    if content is None:
        return fields, files
    raws = backtest_result.split(content)
    lists = {name: raws.pop(name) for name in LISTS if name in raws}
    if lists.get("indicators") == b"null":
        del lists["indicators"]
    short = {name: backtest_result.decoded(raw, name, max_depth) for name, raw in raws.items()}
    return short | fields, lists


def _main(folder: Path) -> Outcome:
    order = msgspec.json.decode((folder / "order").read_bytes(), type=Order)
    body = folder / "body"
    content = body.read_bytes() if body.exists() else None
    files = {name: (folder / name).read_bytes() for name in LISTS if (folder / name).exists()}
    with (folder / "pieces").open("wb") as out:

        def emit(name: str, piece: int, first: int, packed: bytes) -> None:
            out.write(FRAME.pack(len(name), piece, first, len(packed)) + name.encode() + packed)

        try:
            fields, lists = _parted(content, order.fields, files, order.max_depth)
            header = backtest_result.prepare(
                fields, lists, emit, lenient=order.lenient, max_depth=order.max_depth
            )
        except Invalid as error:
            return Outcome(None, error.message, error.field, isinstance(error, MissingField))
    return Outcome(header)


if __name__ == "__main__":
    os.nice(5)  # nobody waits for a large result as urgently as others wait for the service
    sys.stdout.buffer.write(msgspec.json.encode(_main(Path(sys.argv[1]))))
