"""Finds a model's tape: for a key that wants to write, or for a person who wants to read."""

from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, Select, func, select, update

from tapeline.accounts import keys, members, tenants
from tapeline.accounts.actor import Actor
from tapeline.errors import NoSuchModel, NoSuchProject
from tapeline.fair_line import Owner
from tapeline.store import bulk, upsert
from tapeline.store.tables.core import keys as key_table
from tapeline.store.tables.core import models
from tapeline.store.tables.runs import runs
from tapeline.store.tables.tape import tapes
from tapeline.tape.proof.seals import GENESIS

_NUMBER = "select no from tapes where model_id = ?"
HEAD = (tapes.c.no, tapes.c.seq, tapes.c.link, tapes.c.counts, tapes.c.bytes)


class WriteAccess(NamedTuple):
    """A key's access to a tape."""

    key_id: str
    tape: int
    backtest_id: str | None = None
    """Set if the key belongs to a backtest's run: it may write only that backtest."""
    project_id: str = ""
    tenant: str = ""

    @property
    def owner(self) -> Owner:
        return Owner(self.tenant, self.project_id, self.key_id, self.tape)


class Reading(NamedTuple):
    """The current end of a model's tape, for someone who may read it."""

    model_id: str
    project_id: str
    tape: int
    seq: int
    link: bytes
    counts: dict[int, int]
    bytes: int = 0
    """Size of its events and of its backtests' results."""


def access_of_key(
    connection: Connection, key_id: str, secret: str, model_id: str, address: str
) -> WriteAccess:
    """Check key, pass and model, and open the model's tape if it is the first event."""
    actor = keys.authenticate(connection, key_id, secret, "write", address)
    owner = connection.scalar(select(models.c.project_id).where(models.c.id == model_id))
    if owner is None or owner != actor.project_id:
        raise NoSuchModel("There is no such model in this key's project.", field="model_id")
    backtest_id = connection.scalar(
        select(runs.c.backtest_id)
        .join(key_table, key_table.c.run_id == runs.c.id)
        .where(key_table.c.id == key_id)
    )
    tenant = tenants.of_project(connection, owner)
    return WriteAccess(key_id, open_tape(connection, model_id), backtest_id, owner, tenant)


def owner_of_run(connection: Connection, model_id: str, run_id: str, tape: int) -> Owner:
    """The sender of what a run leaves, for waiting lines."""
    project = of_model(connection, model_id).project_id
    return Owner(tenants.of_project(connection, project), project, run_id, tape)


def hold(connection: Connection, tape: int, *, alone: bool = False) -> bool:
    """Whether the tape and its model exist; if so, no cleanup deletes the tape before this
    transaction ends. Hold a tape before writing rows about it without appending, or they could be
    written after everything else of the model is gone. `alone` is for callers that remove
    something."""
    row = connection.execute(
        select(tapes.c.model_id).where(tapes.c.no == tape).with_for_update(read=not alone)
    ).first()
    # A second query: the one that waited for the lock saw the models as they were before.
    return row is not None and connection.scalar(_there(row.model_id)) is not None


def _there(model_id: str) -> Select[tuple[str]]:
    return select(models.c.id).where(models.c.id == model_id)


def open_tape(connection: Connection, model_id: str) -> int:
    """Its number. All but the first time, that is one look, and straight to the driver: this is
    done for every portion of output."""
    while not (found := bulk.fetch(connection, _NUMBER, (model_id,))):
        new = upsert.insert(connection, tapes).values(
            model_id=model_id, seq=0, link=GENESIS, counts=b"{}", signed_at=0.0
        )
        connection.execute(new.on_conflict_do_nothing(index_elements=["model_id"]))
    number: int = found[0][0]
    return number


def number_and_bytes(connection: Connection, model_id: str) -> tuple[int, int]:
    """Zeros if there is no tape."""
    found = bulk.fetch(connection, "select no, bytes from tapes where model_id = ?", (model_id,))
    return (found[0][0], found[0][1]) if found else (0, 0)


def release_bytes(connection: Connection, tape: int, size: int) -> None:
    """So many bytes of it will be deleted."""
    connection.execute(update(tapes).where(tapes.c.no == tape).values(bytes=tapes.c.bytes - size))


def bytes_of(connection: Connection, project_id: str) -> int:
    """The bytes of all tapes of a project."""
    own = select(models.c.id).where(models.c.project_id == project_id)
    held = select(func.sum(tapes.c.bytes)).where(tapes.c.model_id.in_(own))
    return int(connection.scalar(held) or 0)


def reading(connection: Connection, actor: Actor, model_id: str) -> Reading:
    """The tape of a model that the actor may see; a model without events has an empty one."""
    found = of_model(connection, model_id)
    try:
        members.require(connection, actor, found.project_id, "see")
    except NoSuchProject:
        raise NoSuchModel from None
    return found


def of_model(connection: Connection, model_id: str) -> Reading:
    """For readers with another right to it, such as a shared link."""
    row = connection.execute(
        select(models.c.project_id, *HEAD)
        .outerjoin(tapes, tapes.c.model_id == models.c.id)
        .where(models.c.id == model_id)
    ).first()
    if row is None:
        raise NoSuchModel
    if row.no is None:
        return Reading(model_id, row.project_id, 0, 0, GENESIS, {})
    counts = msgspec.json.decode(row.counts, type=dict[int, int])
    head = (row.no, row.seq, bytes(row.link), counts, row.bytes)
    return Reading(model_id, row.project_id, *head)
