"""One stream for all models of a project: which of them changed, so that a list looks again, and
that its rules or incidents did.

A browser opens few connections to one server, so a page with fifty models cannot have fifty.
"""

import asyncio
from collections.abc import AsyncGenerator

import msgspec
from sqlalchemy import Connection, and_, func, select

from tapeline.accounts import members
from tapeline.accounts.actor import Actor
from tapeline.http.core import long_answers
from tapeline.http.core.answers import EventStream
from tapeline.http.core.endpoint import Call
from tapeline.http.view.following import follow, woken
from tapeline.runs.run import DEPLOYED
from tapeline.store.backends import announcing
from tapeline.store.tables.core import models
from tapeline.store.tables.runs import runs
from tapeline.store.tables.tape import tapes
from tapeline.store.tables.watch import incidents, rule_states, rules
from tapeline.tape.append.watchers import Watcher
from tapeline.tape.events import kinds

PAUSE = 0.5  # seconds: changes within this time make one notice

Shown = tuple[str, int, str | None, str | None]
"""What a list shows of a model: its name, the length of its tape, state and wish of its run."""


class Seen(msgspec.Struct, frozen=True):
    """What pages show of a project."""

    models: dict[str, Shown]
    watch: object
    """Differs when a rule, its state or an open incident does."""


async def stream_project(call: Call) -> EventStream:
    """Which models of a project changed, and that its rules or incidents did.

    Server-sent events: `changed`: {model, kinds}, and `watch`: {}.
    """
    before = await call.services.store.read(_seen, call.actor, call.path("project"))

    def may_read(connection: Connection) -> None:
        members.require(connection, call.identified(connection), call.path("project"), "see")

    headers = {"Cache-Control": "no-store"}
    return long_answers.stream(call.services, _notices(call, before), may_read, headers)


def _notices(call: Call, before: Seen) -> AsyncGenerator[bytes, None]:
    services, watchers = call.services, call.services.watchers

    async def changes(watcher: Watcher) -> AsyncGenerator[bytes, None]:
        nonlocal before
        changed, is_watched = _reported(watcher), False
        while watcher.is_behind:
            watcher.is_behind = False
            now = await services.store.read(_seen, call.actor, call.path("project"))
            changed |= {one: [] for one in _others(before.models, now.models)}
            is_watched |= now.watch != before.watch
            if new := now.models.keys() - watcher.watched:
                watchers.follow(watcher, *new)
                watcher.is_behind = True  # they may have changed before we followed them
            before = now
        for model, names in changed.items():
            notice = msgspec.json.encode({"model": model, "kinds": names})
            yield b"event: changed\ndata: %s\n\n" % notice
        if is_watched:
            yield b"event: watch\ndata: {}\n\n"

    async def wait(watcher: Watcher) -> bool:
        await asyncio.sleep(PAUSE)
        return await woken(watchers, watcher)

    return follow(watchers, [announcing.MODELS, announcing.WATCH, *before.models], changes, wait)


def _reported(watcher: Watcher) -> dict[str, list[str]]:
    found: dict[str, set[int]] = {}
    for news in watcher.take():
        found.setdefault(news.model_id, set()).update(one.kind for one in news.records)
    return {
        model: sorted(kinds.BY_NUMBER[number].name for number in numbers)
        for model, numbers in found.items()
    }


def _others(before: dict[str, Shown], now: dict[str, Shown]) -> list[str]:
    return [one for one in now.keys() | before.keys() if now.get(one) != before.get(one)]


def _seen(connection: Connection, actor: Actor, project_id: str) -> Seen:
    members.require(connection, actor, project_id, "see")
    return Seen(_shown(connection, project_id), _watched(connection, project_id))


def _watched(connection: Connection, project_id: str) -> object:
    """A few rows, however many rules there are and however long their history is."""
    of_rules = select(func.count(), func.sum(rules.c.revision), func.sum(rules.c.changed_at)).where(
        rules.c.project_id == project_id
    )
    of_states = (
        select(rule_states.c.state, func.count(), func.max(rule_states.c.since))
        .join(rules, rules.c.id == rule_states.c.rule_id)
        .where(rules.c.project_id == project_id)
        .group_by(rule_states.c.state)
        .order_by(rule_states.c.state)
    )
    still_open = (
        select(
            func.count(), func.max(incidents.c.fired_at), func.count(incidents.c.acknowledged_at)
        )
        .where(incidents.c.project_id == project_id)
        .where(incidents.c.resolved_at.is_(None))
    )
    return [
        [tuple(row) for row in connection.execute(query)]
        for query in (of_rules, of_states, still_open)
    ]


def _shown(connection: Connection, project_id: str) -> dict[str, Shown]:
    deployed = and_(
        runs.c.model_id == models.c.id, runs.c.kind.in_(DEPLOYED), runs.c.ended_at.is_(None)
    )
    query = (
        select(models.c.id, models.c.name, tapes.c.seq, runs.c.state, runs.c.desired)
        .outerjoin(tapes, tapes.c.model_id == models.c.id)
        .outerjoin(runs, deployed)
        .where(models.c.project_id == project_id)
        .order_by(runs.c.created_at)
    )
    return {
        row.id: (row.name, row.seq or 0, row.state, row.desired)
        for row in connection.execute(query)
    }
