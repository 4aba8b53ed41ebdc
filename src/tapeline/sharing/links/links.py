"""Links to a model's live record or to one backtest: created, changed, revoked, opened.

Anyone with the token has access, so it is shown once and stored as a fingerprint.
"""

import time
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from tapeline.accounts import audit, members, plain_names
from tapeline.accounts.actor import Actor
from tapeline.accounts.members import Right
from tapeline.errors import Invalid, NoSuchModel, NoSuchProject, NoSuchShare
from tapeline.ids import fingerprint, new_id, new_secret
from tapeline.sharing.links.choices import Choices
from tapeline.store.tables.core import models
from tapeline.store.tables.shares import shares
from tapeline.tape import tapes
from tapeline.tape.reading import backtests

MOST = 200  # links of one model
LONGEST_TITLE = 120

_CHOSEN = Choices.__struct_fields__


class Share(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    model_id: str
    project_id: str
    model_name: str
    backtest_id: str | None
    title: str | None
    choices: Choices
    password_hash: str | None
    expires_at: float | None
    created_at: float
    created_by: str
    views: int
    last_viewed_at: float | None


def create(
    connection: Connection,
    actor: Actor,
    model_id: str,
    *,
    backtest_id: str | None,
    title: str | None,
    choices: Choices,
    password_hash: str | None,
    expires_at: float | None,
) -> tuple[Share, str]:
    """A new link and its token."""
    found = _required(connection, actor, model_id, "manage")
    if backtest_id is not None:
        backtests.find(connection, found.tape, backtest_id)
    if len(of_model(connection, actor, model_id)) >= MOST:
        raise Invalid(f"A model has at most {MOST} links. Revoke some that nobody needs.")
    share_id, token = new_id(), new_secret()
    connection.execute(
        insert(shares).values(
            id=share_id,
            model_id=model_id,
            backtest_id=backtest_id,
            token_hash=fingerprint(token),
            title=_checked(title),
            **msgspec.structs.asdict(choices),
            password_hash=password_hash,
            expires_at=expires_at,
            created_at=time.time(),
            created_by=actor.label,
            views=0,
        )
    )
    _record(connection, actor, found.project_id, "share_created", share_id, choices)
    return get(connection, model_id, share_id), token


def draft(
    connection: Connection,
    actor: Actor,
    model_id: str,
    *,
    backtest_id: str | None,
    title: str | None,
    choices: Choices,
) -> Share:
    """A draft of a link, to preview what it would show."""
    found = _required(connection, actor, model_id, "see")
    if backtest_id is not None:
        backtests.find(connection, found.tape, backtest_id)
    name = connection.scalar(select(models.c.name).where(models.c.id == model_id)) or ""
    return Share(
        id=f"preview-{model_id}",
        model_id=model_id,
        project_id=found.project_id,
        model_name=name,
        backtest_id=backtest_id,
        title=_checked(title),
        choices=choices,
        password_hash=None,
        expires_at=None,
        created_at=time.time(),
        created_by=actor.label,
        views=0,
        last_viewed_at=None,
    )


def of_model(connection: Connection, actor: Actor, model_id: str) -> list[Share]:
    """Newest first. Everyone who can see the model can see its links."""
    _required(connection, actor, model_id, "see")
    query = _query().where(shares.c.model_id == model_id)
    rows = connection.execute(query.order_by(shares.c.created_at.desc(), shares.c.id))
    return [_share(row) for row in rows]


def get(connection: Connection, model_id: str, share_id: str) -> Share:
    query = _query().where(shares.c.model_id == model_id, shares.c.id == share_id)
    row = connection.execute(query).first()
    if row is None:
        raise NoSuchShare
    return _share(row)


def change(
    connection: Connection, actor: Actor, model_id: str, share_id: str, changes: dict[str, Any]
) -> Share:
    """The link stays the same; from now on it shows what is chosen here."""
    found = _required(connection, actor, model_id, "manage")
    get(connection, model_id, share_id)
    if "title" in changes:
        changes["title"] = _checked(changes["title"])
    if changes:
        connection.execute(update(shares).where(shares.c.id == share_id).values(**changes))
    share = get(connection, model_id, share_id)
    _record(connection, actor, found.project_id, "share_changed", share_id, share.choices)
    return share


def revoke(connection: Connection, actor: Actor, model_id: str, share_id: str) -> None:
    found = _required(connection, actor, model_id, "manage")
    share = get(connection, model_id, share_id)
    connection.execute(delete(shares).where(shares.c.id == share_id))
    _record(connection, actor, found.project_id, "share_revoked", share_id, share.choices)


def by_token(connection: Connection, token: str) -> Share:
    """Unknown, revoked and expired links give the same error."""
    row = connection.execute(_query().where(shares.c.token_hash == fingerprint(token))).first()
    if row is None or (row.expires_at is not None and row.expires_at <= time.time()):
        raise NoSuchShare
    return _share(row)


def require(connection: Connection, actor: Actor, model_id: str, right: Right) -> None:
    """Check before slow work: raise the error that the action itself would raise."""
    _required(connection, actor, model_id, right)


def _required(connection: Connection, actor: Actor, model_id: str, right: Right) -> tapes.Reading:
    found = tapes.of_model(connection, model_id)
    try:
        members.require(connection, actor, found.project_id, right)
    except NoSuchProject:
        raise NoSuchModel from None
    return found


def _query() -> Any:
    return select(shares, models.c.project_id, models.c.name.label("model_name")).join(
        models, models.c.id == shares.c.model_id
    )


def _share(row: Any) -> Share:
    plain = [name for name in Share.__struct_fields__ if name != "choices"]
    return Share(
        choices=Choices(**{name: getattr(row, name) for name in _CHOSEN}),
        **{name: getattr(row, name) for name in plain},
    )


def _checked(title: str | None) -> str | None:
    title = (title or "").strip() or None
    if title is not None:
        if len(title) > LONGEST_TITLE:
            raise Invalid(f"`title` must have at most {LONGEST_TITLE} characters.", field="title")
        plain_names.require(title, "title")
    return title


def _record(
    connection: Connection,
    actor: Actor,
    project_id: str,
    action: str,
    share_id: str,
    choices: Choices,
) -> None:
    # Without the base: readers of the audit log need not know it.
    said = {name: getattr(choices, name) for name in _CHOSEN if name != "base"}
    audit.record(connection, actor, action, f"share:{share_id}", project_id=project_id, **said)
