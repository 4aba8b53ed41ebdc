"""Signing in and up, for both the API and the pages: count, compare, then create the sign-in.

Comparing a password is slow and must not delay the writer. So the attempt is counted and committed
first, then the password is compared in a thread, and only then a job changes anything.
"""

from dataclasses import dataclass

from sqlalchemy import Connection
from starlette.requests import Request

from tapeline.accounts import guesses, limits, passwords, sign_ins, users
from tapeline.accounts import setup_code as setup_codes
from tapeline.accounts.actor import Actor
from tapeline.accounts.guesses import Guess
from tapeline.accounts.limits import Counter
from tapeline.accounts.sign_ins import Kind, Origin
from tapeline.accounts.users import User
from tapeline.errors import WrongCredentials, WrongPassword
from tapeline.http.core import hosts, sessions
from tapeline.http.core.services import Services
from tapeline.models import onboarding
from tapeline.settings import Settings


@dataclass(frozen=True)
class Verified:
    """An account whose password was right, and the attempts counted so far."""

    user: User
    guess: Guess


async def verify(
    services: Services, request: Request, origin: Origin, email: str, password: str
) -> Verified:
    """The account, if the password is right. Unknown accounts look and take the same."""
    user, guess = await services.store.read(_look, services, request, origin, email)
    await services.store.write(limits.count, guess.counters)
    if not await _matches(services, user, password) or user is None:
        raise WrongCredentials
    return Verified(user, guess)


def sign_in(
    connection: Connection, settings: Settings, origin: Origin, verified: Verified, kind: Kind
) -> tuple[str, Actor]:
    """The new sign-in's secret, and who signed in."""
    user = _unchanged(connection, verified.user)
    guesses.was_right(connection, verified.guess)
    return _begin(connection, settings, user, kind, origin)


async def verify_new(
    services: Services,
    origin: Origin,
    email: str,
    password: str,
    *,
    invitation: str,
    may_be_first: bool,
) -> str:
    """The hash of a new account's password, if this caller may sign up."""
    users.normal_email(email)
    passwords.check_rules(password, "password")
    counted = [guesses.of_address(services.settings, origin.address)]
    await services.store.read(limits.refuse_if_over, counted)
    await services.store.write(limits.count, counted)
    await services.store.read(
        onboarding.check_sign_up,
        invitation=invitation,
        may_be_first=may_be_first,
        policy=services.settings.signup,
    )
    return await _hash(services, password)


def may_be_first(services: Services, request: Request, setup_code: str) -> bool:
    """Whether this may become the first account: at the server's own computer, or with the code."""
    if not hosts.may_come_from_afar(request, services.settings):
        return True
    return setup_codes.is_right(services.cipher, setup_code)


def sign_up(
    connection: Connection,
    settings: Settings,
    origin: Origin,
    *,
    email: str,
    password_hash: str,
    name: str,
    invitation: str,
    may_be_first: bool,
    kind: Kind,
) -> tuple[str, Actor]:
    user = onboarding.sign_up(
        connection,
        email=email,
        name=name,
        password_hash=password_hash,
        invitation=invitation,
        may_be_first=may_be_first,
        policy=settings.signup,
        origin=origin,
    )
    return _begin(connection, settings, user, kind, origin)


@dataclass(frozen=True)
class NewHash:
    user: User
    password_hash: str
    counted: Counter


async def verify_change(services: Services, actor: Actor, current: str, new: str) -> NewHash:
    passwords.check_rules(new, "new_password")
    user = await services.store.read(users.get, actor.user_id())
    counted = guesses.at_own_password(services.settings, user.id)
    await services.store.write(limits.count, [counted])
    if not await _matches(services, user, current):
        raise WrongPassword
    return NewHash(user, await _hash(services, new), counted)


def change_password(connection: Connection, actor: Actor, new: NewHash) -> int:
    """Set the password and end every other sign-in; returns how many ended."""
    user = _unchanged(connection, new.user)
    users.set_password(connection, actor, user, new.password_hash)
    limits.forget(connection, new.counted)
    return sign_ins.end_all(connection, user.id, but=actor.sign_in_id)


def _look(
    connection: Connection, services: Services, request: Request, origin: Origin, email: str
) -> tuple[User | None, Guess]:
    """The account and the counters of an attempt. A rate-limited attempt is refused here."""
    user = users.find(connection, email)
    device = sessions.device_of(request, services, user) if user else None
    guess = guesses.at_account(
        services.settings,
        origin.address,
        email,
        device=device,
        is_known=user is not None
        and sign_ins.has_signed_in_from(connection, user.id, origin.address),
    )
    limits.refuse_if_over(connection, guess.counters)
    return user, guess


def _unchanged(connection: Connection, verified: User) -> User:
    user = users.get(connection, verified.id)
    if user.password_hash != verified.password_hash:  # it was changed during the comparison
        raise WrongCredentials
    return user


def _begin(
    connection: Connection, settings: Settings, user: User, kind: Kind, origin: Origin
) -> tuple[str, Actor]:
    days = settings.session_days if kind == "browser" else None
    return sign_ins.begin(connection, user, kind, origin, days=days)


async def _matches(services: Services, user: User | None, password: str) -> bool:
    known = user.password_hash if user else None
    return await services.with_password(passwords.matches, known, password)


async def _hash(services: Services, password: str) -> str:
    return await services.with_password(passwords.hash_password, password)
