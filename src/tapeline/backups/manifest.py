"""The page that lies in every backup: of what it is a copy, when it was made, what it holds."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
from sqlalchemy import Connection, func, select

from tapeline import __version__
from tapeline.backups.listing import Entry
from tapeline.store.tables.core import models
from tapeline.store.tables.tape import tapes
from tapeline.tape.reading import whole_tape

FILE = "backup.json"
LOOKED_AT = 20  # tapes; the time of a tape's last checkpoint is at most seconds too early


class Content(msgspec.Struct, frozen=True):
    """What a database holds, in numbers that an operator can compare with what they expect."""

    models: int
    events: int
    newest: float | None
    """When the newest event was received."""

    def sentence(self) -> str:
        said = f"{counted(self.models, 'model')} and {counted(self.events, 'event')}"
        return said if self.newest is None else f"{said}, the newest of {moment(self.newest)}"


class Manifest(msgspec.Struct, frozen=True):
    made_at: float
    data: str
    """The data directory that it is a copy of."""
    content: Content | None = None
    """None if the database is not in it."""
    version: str = __version__
    files: dict[str, Entry] | None = None
    """Keys and the state of models; None in the backups of earlier versions."""
    left_out: dict[str, int] = {}
    """How much of each folder could not be copied."""


def content_of(connection: Connection) -> Content:
    """Of models that exist: tapes of deleted ones are being cleared."""
    living = select(tapes.c.no, tapes.c.seq).join(models, models.c.id == tapes.c.model_id)
    summed = living.with_only_columns(func.coalesce(func.sum(tapes.c.seq), 0))
    recent = living.where(tapes.c.seq > 0).order_by(tapes.c.signed_at.desc()).limit(LOOKED_AT)
    ends = [
        record.received_at
        for tape in connection.execute(recent).all()
        for record in whole_tape.records(connection, tape.no, after=tape.seq - 1)
    ]
    return Content(
        models=connection.scalar(select(func.count()).select_from(models)) or 0,
        events=int(connection.scalar(summed) or 0),
        newest=max(ends, default=None),
    )


def write(folder: Path, manifest: Manifest) -> None:
    (folder / FILE).write_bytes(msgspec.json.encode(manifest))


def read(folder: Path) -> Manifest | None:
    """None for a backup that an earlier version made, and for one whose page cannot be read."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=Manifest)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def counted(number: int, noun: str, several: str = "") -> str:
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"
