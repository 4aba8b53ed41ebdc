"""Pieces of a backtest's result: staged before their event, read by index after it."""

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, func, select, update

from tapeline.errors import ChangedMeanwhile, NoSuchModel
from tapeline.store import bulk, upsert
from tapeline.store.backends import steady
from tapeline.store.tables.results import discards
from tapeline.store.tables.tape import backtests, pieces
from tapeline.tape import tapes
from tapeline.tape.backtest_results.preparing import Piece
from tapeline.tape.backtest_results.result_format import PACKED, PIECE, plain
from tapeline.tape.backtest_results.series import points
from tapeline.tape.proof.seals import PiecesDigest

# Staging takes minutes at most; each portion puts the end off again.
STAGED_FOR = 3600.0


def stage(connection: Connection, tape: int, upload: str, some: Sequence[Piece]) -> None:
    """Store pieces where nobody sees them. They are discarded unless their event comes."""
    if not tapes.hold(connection, tape):
        raise NoSuchModel
    discard_later(connection, tape, upload, steady.now(connection) + STAGED_FOR)
    rows = [(upload, one.list, one.piece, one.first, one.content) for one in some]
    bulk.insert(connection, pieces, ("upload", "list", "piece", "first", "content"), rows)


def discard(connection: Connection, tape: int, upload: str) -> None:
    """Unless it is shown: the caller may not know that its event was stored."""
    connection.execute(
        update(discards)
        .where(discards.c.upload == upload, discards.c.tape == tape)
        .values(after=0.0)
    )


def discard_later(connection: Connection, tape: int, upload: str, until: float) -> None:
    """No backtest shows this upload; it is deleted at that time."""
    row = upsert.insert(connection, discards).values(upload=upload, tape=tape, after=until)
    later = {"after": row.excluded.after}
    connection.execute(row.on_conflict_do_update(index_elements=["upload"], set_=later))


def show(connection: Connection, upload: str) -> None:
    """Its event is stored in this transaction."""
    connection.execute(delete(discards).where(discards.c.upload == upload))


def size(connection: Connection, upload: str) -> int:
    """Bytes that its pieces take."""
    lengths = select(func.sum(func.length(pieces.c.content))).where(pieces.c.upload == upload)
    return int(connection.scalar(lengths) or 0)


def discard_all(connection: Connection) -> None:
    """Discard everything that a crash left between staging and the event. Only at start, when
    nobody is staging."""
    connection.execute(update(discards).values(after=0.0))


def items(
    connection: Connection, upload: str, name: str, *, before: int | None, limit: int
) -> list[tuple[int, dict[str, Any]]]:
    """Items of a list with their indexes, the last first: reads only the pieces it needs."""
    found: list[tuple[int, dict[str, Any]]] = []
    for first, content in _packed(connection, upload, name, before):
        # Split without decoding: of the thousands in a piece only some are asked for.
        raws = split_items(zlib.decompress(content))
        last = len(raws) if before is None else min(len(raws), before - first)
        for place in range(last - 1, -1, -1):
            found.append((first + place, msgspec.json.decode(raws[place])))
            if len(found) == limit:
                return found
    return found


def split_items(content: bytes) -> list[msgspec.Raw]:
    """The items of a piece, undecoded."""
    return msgspec.json.decode(content, type=list[msgspec.Raw])


def contents(connection: Connection, upload: str, name: str) -> Iterator[bytes]:
    """The packed pieces of a list, in order."""
    query = select(pieces.c.content).where(pieces.c.upload == upload, pieces.c.list == name)
    for row in connection.execute(query.order_by(pieces.c.piece)):
        yield row.content


def _packed(
    connection: Connection, upload: str, name: str, before: int | None
) -> Iterator[tuple[int, bytes]]:
    piece = None if before is None else (max(before, 1) - 1) // PIECE
    query = select(pieces.c.piece, pieces.c.first, pieces.c.content).where(
        pieces.c.upload == upload, pieces.c.list == name
    )
    while True:
        one = query.order_by(pieces.c.piece.desc()).limit(1)
        if piece is not None:
            one = one.where(pieces.c.piece <= piece)
        row = connection.execute(one).first()
        if row is None:
            return
        yield row.first, row.content
        piece = row.piece - 1


def current(connection: Connection, tape: int, seq: int, backtest_id: str | None) -> str | None:
    """The upload of the result at `seq`, if it is the current one; older ones are replaced."""
    row = connection.execute(
        select(backtests.c.upload, backtests.c.result_seq).where(
            backtests.c.tape == tape, backtests.c.id == backtest_id
        )
    ).first()
    return row.upload if row is not None and row.result_seq == seq else None


def names(connection: Connection, upload: str) -> list[str]:
    """The long lists of a result as they were sent: the series of account values repeats one."""
    found = connection.scalars(
        select(pieces.c.list).where(pieces.c.upload == upload, pieces.c.list != "equity").distinct()
    )
    return sorted(found, key=lambda name: (len(name), name) if name not in PACKED else (0, name))


def require(connection: Connection, upload: str) -> None:
    """Check that a backtest still shows it. A reader asks this after the last piece: a replaced
    result is deleted piece by piece, so its end may come early."""
    used = select(backtests.c.no).where(backtests.c.upload == upload)
    if connection.scalar(used) is None:
        raise ChangedMeanwhile


def piece(connection: Connection, upload: str, name: str, number: int) -> tuple[int, bytes] | None:
    """The index of a piece's first item, and its items as JSON; None after the last."""
    row = connection.execute(
        select(pieces.c.first, pieces.c.content).where(
            pieces.c.upload == upload, pieces.c.list == name, pieces.c.piece == number
        )
    ).first()
    if row is None:
        return None
    content = plain(name, bytes(row.content))
    return row.first, content if name in PACKED else msgspec.json.encode(points(content))


def digests(connection: Connection, upload: str) -> dict[str, str]:
    """The digests of the stored lists; a header on the tape has those of the lists as sent."""
    query = select(pieces).where(pieces.c.upload == upload)
    found: dict[str, PiecesDigest] = {}
    for row in connection.execute(query.order_by(pieces.c.list, pieces.c.piece)):
        try:
            content = plain(row.list, bytes(row.content))
        except zlib.error:
            content = b""  # not what was sealed, whatever it was
        found.setdefault(row.list, PiecesDigest()).add(row.piece, row.first, content)
    return {name: digest.hex() for name, digest in found.items()}
