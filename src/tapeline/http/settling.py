"""Requests that wait until bars which were acknowledged are in the chunks that charts read."""

import asyncio
from contextlib import suppress

from sqlalchemy import Connection, select

from tapeline.accounts import tenants
from tapeline.errors import Unavailable
from tapeline.fair_line import Owner
from tapeline.http.core.endpoint import Call
from tapeline.http.core.services import Services
from tapeline.store.tables.core import models
from tapeline.store.tables.prices import price_arrivals
from tapeline.store.tables.tape import tapes as tape_table
from tapeline.tape import tapes

PATIENCE = 10.0  # seconds that a sender waits; what it sent is stored, whatever happens then


async def settle(services: Services, owner: Owner) -> None:
    """Return when all arrivals of the owner's tape are in chunks. Tenants take turns, portion by
    portion."""
    is_behind = True
    while is_behind:
        async with services.fold_turns.reserve(owner, 1):
            is_behind = await services.folding.portion(owner.tape)


async def settle_pushed(services: Services, owner: Owner) -> None:
    """For a sender whose bars are stored: it waits, so that it sends no more than the server can
    keep up with. If that fails, nothing is lost: readers and the background do the rest."""
    with suppress(Unavailable, TimeoutError):
        async with asyncio.timeout(PATIENCE):
            await settle(services, owner)


async def catch_up(call: Call) -> None:
    """A read of a model's prices reflects everything that was acknowledged before it."""

    def behind(connection: Connection) -> list[Owner]:
        found = tapes.reading(connection, call.actor, call.path("model"))
        return _behind(connection, found.project_id, found.tape)

    await _settle_all(call.services, await call.services.store.read(behind))


async def catch_up_neighbours(call: Call) -> None:
    """The same for all models of its project: a price may come from any of them."""

    def behind(connection: Connection) -> list[Owner]:
        found = tapes.reading(connection, call.actor, call.path("model"))
        return _behind(connection, found.project_id)

    await _settle_all(call.services, await call.services.store.read(behind))


async def catch_up_projects(call: Call, projects: list[str]) -> None:
    """The same for all models of some projects, which the caller may read."""

    def behind(connection: Connection) -> list[Owner]:
        return [one for project in projects for one in _behind(connection, project)]

    await _settle_all(call.services, await call.services.store.read(behind))


async def _settle_all(services: Services, every: list[Owner]) -> None:
    for owner in every:
        await settle(services, owner)


def _behind(connection: Connection, project: str, tape: int | None = None) -> list[Owner]:
    """The tapes of a project, or one of them, that have arrivals."""
    number = tape_table.c.no
    has_any = select(price_arrivals.c.no).where(price_arrivals.c.tape == number).limit(1)
    query = select(number).join(models, models.c.id == tape_table.c.model_id)
    query = query.where(models.c.project_id == project, has_any.exists())
    if tape is not None:
        query = query.where(number == tape)
    found = list(connection.scalars(query))
    if not found:
        return []
    tenant = tenants.of_project(connection, project)
    return [Owner(tenant, project, tape=one) for one in found]
