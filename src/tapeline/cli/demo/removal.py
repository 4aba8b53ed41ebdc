"""Removes the demo: its rows at once, then its tapes, files and processes."""

import asyncio
from contextlib import ExitStack

import msgspec
from sqlalchemy import Connection, delete, func, select

from tapeline import datadir
from tapeline.accounts import audit, users
from tapeline.accounts.actor import OPERATOR
from tapeline.cli.terminal.failures import Failure
from tapeline.errors import CannotStart
from tapeline.models import models, versions
from tapeline.polling import poll
from tapeline.runs.engines import local, model_files
from tapeline.settings import Settings
from tapeline.store.blobs import Blobs
from tapeline.store.store import Store
from tapeline.store.tables import core
from tapeline.store.tables.runs import runs as run_rows
from tapeline.store.tables.runs import versions as version_rows
from tapeline.store.tables.tape import tapes
from tapeline.tape import cleanup

PATIENCE = 60.0  # seconds for a running server to clean up
LOOKED_EVERY = 0.1


class Gone(msgspec.Struct, frozen=True):
    models: list[str]
    runs: list[str]
    archives: list[str]


def remove(store: Store, chosen: Settings, email: str) -> Gone | None:
    """None when there is no such account."""
    with ExitStack() as held:
        is_alone = _hold(held, chosen)
        gone = store.write_now(_remove_rows, email)
        if gone is None:
            return None
        if is_alone:
            _clear_here(store, chosen, gone)
        else:
            _wait_for_server(store, chosen, gone)
    return gone


def _hold(held: ExitStack, chosen: Settings) -> bool:
    """Whether no server uses this directory; none can start until this ends."""
    try:
        held.enter_context(datadir.only_server(chosen.data, "tapeline demo remove"))
    except CannotStart:
        return False
    return True


def _remove_rows(connection: Connection, email: str) -> Gone | None:
    user = users.find(connection, email)
    if user is None:
        return None
    projects = _own_projects(connection, user.id)
    which, runs, kept = core.models.c.project_id.in_(projects), run_rows, version_rows
    ids = list(connection.scalars(select(core.models.c.id).where(which)))
    gone = Gone(
        ids,
        list(connection.scalars(select(runs.c.id).where(runs.c.model_id.in_(ids)))),
        list(connection.scalars(select(kept.c.archive).where(kept.c.model_id.in_(ids)))),
    )
    models.delete_rows(connection, which)
    connection.execute(delete(core.projects).where(core.projects.c.id.in_(projects)))
    connection.execute(delete(core.users).where(core.users.c.id == user.id))
    audit.record(connection, OPERATOR, "demo_removed", f"user:{user.id}", email=user.email)
    return gone


def _own_projects(connection: Connection, user_id: str) -> list[str]:
    """Projects without other members. One with others stays if it keeps an owner."""
    members, projects = core.members, core.projects
    mine = select(members.c.project_id).where(members.c.user_id == user_id)
    owners = func.count().filter((members.c.user_id != user_id) & (members.c.role == "owner"))
    others = func.count().filter(members.c.user_id != user_id)
    query = (
        select(projects.c.id, projects.c.name, others.label("others"), owners.label("owners"))
        .join(members, members.c.project_id == projects.c.id)
        .where(projects.c.id.in_(mine))
        .group_by(projects.c.id, projects.c.name)
    )
    rows = connection.execute(query).all()
    for row in rows:
        if row.others and not row.owners:
            raise Failure(
                f"{row.name}, a project of the demo, has other members. Make one of them its"
                " owner first, or remove them."
            )
    return [row.id for row in rows if not row.others]


def _clear_here(store: Store, chosen: Settings, gone: Gone) -> None:
    failed: dict[str, OSError] = {}
    for run in gone.runs:
        try:
            local.clear(chosen.data / "runs", run)
        except OSError as error:
            failed[f"run {run}"] = error
    failed |= model_files.remove(store, chosen.data)
    asyncio.run(cleanup.clean_up(store))
    # With PostgreSQL, a server on another host may be about to use an archive: its cleanup decides.
    if not chosen.database:
        blobs = Blobs(chosen.data / "blobs", chosen.blobs)
        for name in store.read_now(versions.unused, gone.archives):
            blobs.delete(name)
    if failed:
        about, why = next(iter(failed.items()))
        raise Failure(
            f"The demo is removed, but not all of its files ({about}: {why}). The server tries"
            " again when it runs."
        )


def _wait_for_server(store: Store, chosen: Settings, gone: Gone) -> None:
    """The server ends the processes and clears the tapes, because it may still write to them."""

    def is_done() -> bool:
        on_disk = model_files.left(chosen.data, gone.models, gone.runs)
        return not on_disk and not store.read_now(_has_tapes, gone.models)

    if not poll(is_done, within=PATIENCE, every=LOOKED_EVERY):
        raise Failure("The demo is removed. The server is still cleaning up after it.")


def _has_tapes(connection: Connection, models: list[str]) -> bool:
    """The row of a tape goes last."""
    query = select(tapes.c.no).where(tapes.c.model_id.in_(models)).limit(1)
    return connection.scalar(query) is not None
