"""The view API for owners of shared links: create, change, preview and revoke them."""

import time
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection
from starlette.responses import Response

from tapeline.accounts import passwords
from tapeline.errors import Invalid
from tapeline.http.core.answers import Done, Gives, Listed
from tapeline.http.core.endpoint import BodyCall, Call
from tapeline.http.core.fields import Password
from tapeline.http.sharing import public_api
from tapeline.sharing.exhibits.answers import Exported
from tapeline.sharing.exhibits.exhibit import ChartRange
from tapeline.sharing.links import links
from tapeline.sharing.links.choices import Base, Choices, Hours
from tapeline.sharing.links.links import LONGEST_TITLE, Share

Title = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": LONGEST_TITLE})]
CHOSEN = Choices.__struct_fields__


class DraftedShare(Choices, frozen=True, kw_only=True):
    """The choices and the subject of a link."""

    backtest_id: str | None = None
    """Null for the live record of the model."""
    title: Title | None = None
    """Over the page; the model's name if there is none and symbols are shown."""

    @property
    def choices(self) -> Choices:
        return Choices(**{name: getattr(self, name) for name in CHOSEN})


class NewShare(DraftedShare, frozen=True, kw_only=True):
    password: Password | None = None
    expires_at: float | None = None
    """Epoch seconds."""


class ShareChange(msgspec.Struct, kw_only=True):
    """Fields that are not sent stay unchanged."""

    title: Title | msgspec.UnsetType | None = msgspec.UNSET
    percent_only: bool | msgspec.UnsetType = msgspec.UNSET
    hide_symbols: bool | msgspec.UnsetType = msgspec.UNSET
    hide_sizes: bool | msgspec.UnsetType = msgspec.UNSET
    hide_logs: bool | msgspec.UnsetType = msgspec.UNSET
    delay_hours: Hours | msgspec.UnsetType = msgspec.UNSET
    base: Base | msgspec.UnsetType | None = msgspec.UNSET
    password: Password | msgspec.UnsetType | None = msgspec.UNSET
    """Null removes it. Passes for the old password stop working."""
    expires_at: float | msgspec.UnsetType | None = msgspec.UNSET


class ShownShare(Choices, frozen=True, kw_only=True):
    id: str
    backtest_id: str | None
    title: str | None
    has_password: bool
    expires_at: float | None
    is_expired: bool
    created_at: float
    created_by: str
    views: int
    """Each visitor once a day."""
    last_viewed_at: float | None


class CreatedShare(ShownShare, frozen=True, kw_only=True):
    token: str
    """Shown this once; the server keeps only its fingerprint."""
    url: str
    embed_url: str


async def hash_password(call: BodyCall[NewShare | ShareChange]) -> str | None:
    """Outside the writer, and only for members who may manage links."""
    model = call.path("model")
    await call.services.store.read(links.require, call.actor, model, "manage")
    password = call.body.password
    if not isinstance(password, str):
        return None
    passwords.check_rules(password, "password")
    return await call.services.with_password(passwords.hash_password, password)


def create_share(connection: Connection, call: BodyCall[NewShare]) -> CreatedShare:
    """Create a link that shows the model's live record or one backtest."""
    new = call.body
    share, token = links.create(
        connection,
        call.actor,
        call.path("model"),
        backtest_id=new.backtest_id,
        title=new.title,
        choices=new.choices,
        password_hash=call.prepared,
        expires_at=_future(new.expires_at),
    )
    return CreatedShare(
        **_fields(share),
        token=token,
        url=call.link(f"/s/{token}"),
        embed_url=call.link(f"/embed/{token}"),
    )


def list_shares(connection: Connection, call: Call) -> Listed[ShownShare]:
    """The links of a model, newest first, with their number of views."""
    found = links.of_model(connection, call.actor, call.path("model"))
    return Listed([ShownShare(**_fields(one)) for one in found])


def change_share(connection: Connection, call: BodyCall[ShareChange]) -> ShownShare:
    """Change what a link shows; its address stays."""
    changes = {
        name: value
        for name in ShareChange.__struct_fields__
        if not isinstance(value := getattr(call.body, name), msgspec.UnsetType)
    }
    if "password" in changes:
        changes.pop("password")
        changes["password_hash"] = call.prepared
    if "expires_at" in changes:
        changes["expires_at"] = _future(changes["expires_at"])
    share = links.change(connection, call.actor, call.path("model"), call.path("share"), changes)
    return ShownShare(**_fields(share))


def revoke_share(connection: Connection, call: Call) -> Done:
    """Revoke a link; it stops working at once."""
    links.revoke(connection, call.actor, call.path("model"), call.path("share"))
    return Done()


async def preview_share(call: BodyCall[DraftedShare]) -> Annotated[Response, Gives(Exported)]:
    """Exactly what a visitor would see with these choices; no link is created."""
    body, model = call.body, call.path("model")

    def draft(connection: Connection) -> Share:
        return links.draft(
            connection,
            call.actor,
            model,
            backtest_id=body.backtest_id,
            title=body.title,
            choices=body.choices,
        )

    return await public_api.answered(call, draft, lambda exhibit: exhibit.everything(ChartRange()))


def _future(moment: float | None) -> float | None:
    if moment is not None and not time.time() < moment < 1e11:
        raise Invalid("`expires_at` must be in the future, in epoch seconds.", field="expires_at")
    return moment


def _fields(share: Share) -> dict[str, Any]:
    kept = {
        name: getattr(share, name)
        for name in ShownShare.__struct_fields__
        if name in Share.__struct_fields__
    }
    chosen = msgspec.structs.asdict(share.choices)
    expired = share.expires_at is not None and share.expires_at <= time.time()
    return kept | chosen | {
        "has_password": share.password_hash is not None, "is_expired": expired
    }  # fmt: skip
