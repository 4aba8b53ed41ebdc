"""Signing up, in and out, and tokens, for scripts and clients."""

import msgspec
from sqlalchemy import Connection

from tapeline.accounts import sign_ins
from tapeline.accounts.actor import Actor
from tapeline.accounts.id_tokens import LIFETIME
from tapeline.http.core import sessions, signing
from tapeline.http.core.answers import Done
from tapeline.http.core.endpoint import BodyCall, Call
from tapeline.http.core.fields import Email, Password, Required
from tapeline.http.core.signing import Verified


class Credentials(msgspec.Struct):
    email: Required
    password: Required


class NewAccount(msgspec.Struct):
    email: Email
    password: Password
    name: str = ""
    invitation: str = ""
    """The secret of an invitation link, where sign-up needs one."""
    setup_code: str = ""
    """Printed by `tapeline up`; needed for the first account of a server that others can reach."""


class SignedIn(msgspec.Struct, rename="camel"):
    refresh_token: str
    """Long-lived: keep it safe, exchange it at /auth/token."""
    id_token: str
    user_id: str


class RefreshToken(msgspec.Struct, rename="camel"):
    refresh_token: Required


class TokenData(msgspec.Struct):
    user_id: str


class IdToken(msgspec.Struct, rename="camel"):
    id_token: str
    data: TokenData
    status: str = "success"
    expires_in: int = LIFETIME


async def verify_new(call: BodyCall[NewAccount]) -> str:
    new = call.body
    return await signing.verify_new(
        call.services,
        call.origin,
        new.email,
        new.password,
        invitation=new.invitation,
        may_be_first=_may_be_first(call),
    )


def sign_up(connection: Connection, call: BodyCall[NewAccount]) -> SignedIn:
    """Create an account and sign in."""
    new = call.body
    secret, actor = signing.sign_up(
        connection,
        call.services.settings,
        call.origin,
        email=new.email,
        password_hash=call.prepared,
        name=new.name,
        invitation=new.invitation,
        may_be_first=_may_be_first(call),
        kind="token",
    )
    sessions.note_device(call.request, actor.user_id(), call.prepared)
    return _signed_in(call, secret, actor)


async def verify(call: BodyCall[Credentials]) -> Verified:
    sent = call.body
    return await signing.verify(call.services, call.request, call.origin, sent.email, sent.password)


def sign_in(connection: Connection, call: BodyCall[Credentials]) -> SignedIn:
    """Sign in with email address and password."""
    secret, actor = signing.sign_in(
        connection, call.services.settings, call.origin, call.prepared, "token"
    )
    sessions.note_device(call.request, actor.user_id(), call.prepared.user.password_hash)
    return _signed_in(call, secret, actor)


def exchange_token(connection: Connection, call: BodyCall[RefreshToken]) -> IdToken:
    """Exchange a refresh token for an idToken that is valid for one hour."""
    actor = sign_ins.by_secret(connection, call.body.refresh_token, "token", call.origin.address)
    sign_ins.touch(connection, actor)
    user_id, sign_in_id = actor.signed_in()
    return IdToken(call.services.ring.sign(user_id, sign_in_id), TokenData(user_id))


def sign_out(connection: Connection, call: BodyCall[RefreshToken]) -> Done:
    """End the sign-in that a refresh token belongs to."""
    actor = sign_ins.by_secret(connection, call.body.refresh_token, "token", call.origin.address)
    _, sign_in_id = actor.signed_in()
    sign_ins.end(connection, actor, sign_in_id)
    return Done()


def _may_be_first(call: BodyCall[NewAccount]) -> bool:
    return signing.may_be_first(call.services, call.request, call.body.setup_code)


def _signed_in(call: Call, secret: str, actor: Actor) -> SignedIn:
    user_id, sign_in_id = actor.signed_in()
    return SignedIn(secret, call.services.ring.sign(user_id, sign_in_id), user_id)
