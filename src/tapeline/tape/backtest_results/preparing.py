"""Large results are prepared in a separate process: decoding them here would block everybody.

The parent spools the body to files and starts this module with the folder as its argument. The
child checks it, packs it into `FOLDER/pieces` and returns the header.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from tapeline.fair_line import Owner
from tapeline.tape import helper_processes
from tapeline.tape.backtest_results import result_format
from tapeline.tape.helper_processes import Helpers

FRAME = struct.Struct("<HIQI")  # length of the list's name, piece, index of its first item, length

IN_MEMORY = 4  # times the size of a result that checking it takes
LISTS = ("account_values", "trades", "indicators")


class Piece(msgspec.Struct, frozen=True):
    list: str
    piece: int
    first: int
    content: bytes


class Order(msgspec.Struct):
    """The parent's order to the child."""

    fields: dict[str, Any]
    lenient: bool
    max_depth: int


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
    header = result_format.prepare(
        fields,
        lists,
        lambda *parts: pieces.append(Piece(*parts)),
        lenient=lenient,
        max_depth=max_depth,
    )
    return header, pieces


async def prepare_apart(
    helpers: Helpers,
    folder: Path,
    owner: Owner,
    fields: dict[str, Any],
    *,
    lenient: bool,
    max_depth: int,
) -> dict[str, Any]:
    """A large one, in a child. `folder` holds `body`, or one file per list."""
    (folder / "order").write_bytes(msgspec.json.encode(Order(fields, lenient, max_depth)))
    printed = await helpers.run(__name__, folder, owner, times=IN_MEMORY)
    return msgspec.json.decode(printed, type=dict[str, Any])


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
    raws = result_format.split(content)
    lists = {name: raws.pop(name) for name in LISTS if name in raws}
    if lists.get("indicators") == b"null":
        del lists["indicators"]
    short = {name: result_format.decoded(raw, name, max_depth) for name, raw in raws.items()}
    return short | fields, lists


def _act(folder: Path) -> dict[str, Any]:
    order = msgspec.json.decode((folder / "order").read_bytes(), type=Order)
    body = folder / "body"
    content = body.read_bytes() if body.exists() else None
    files = {name: (folder / name).read_bytes() for name in LISTS if (folder / name).exists()}
    with (folder / "pieces").open("wb") as out:

        def emit(name: str, piece: int, first: int, packed: bytes) -> None:
            out.write(FRAME.pack(len(name), piece, first, len(packed)) + name.encode() + packed)

        fields, lists = _parted(content, order.fields, files, order.max_depth)
        return result_format.prepare(
            fields, lists, emit, lenient=order.lenient, max_depth=order.max_depth
        )


if __name__ == "__main__":
    helper_processes.serve(_act)
