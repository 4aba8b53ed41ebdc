"""Signing up: an account with its personal project, and the invitation that let it in."""

from sqlalchemy import Connection

from tapeline.accounts import audit, invitations, tenants, users
from tapeline.accounts.actor import OPERATOR, Actor
from tapeline.accounts.sign_ins import Origin
from tapeline.accounts.users import User
from tapeline.errors import Forbidden, InvitationNeeded, SetupCodeNeeded, SignUpClosed
from tapeline.models import projects
from tapeline.settings import SignUp
from tapeline.store import facts

FIRST_ACCOUNT = "first_account"
DEMO_EMAIL = "demo@tapeline.local"


def is_first_account_open(connection: Connection) -> bool:
    """Whether the first account can still sign up. The demo's account does not count."""
    return not facts.is_claimed(connection, FIRST_ACCOUNT)


def check_sign_up(
    connection: Connection, *, invitation: str, may_be_first: bool, policy: SignUp
) -> None:
    """Raise the reason why a person cannot sign up, also before slow work is done for them. Only
    people who may sign up learn whether an address is taken."""
    if is_first_account_open(connection):
        if may_be_first:
            return
        if not invitation:
            raise SetupCodeNeeded
    if policy == "closed":
        raise SignUpClosed
    if invitation:
        invitations.offer(connection, invitation)
    elif policy == "invite":
        raise InvitationNeeded


def is_operator(connection: Connection, user: User) -> bool:
    """The owner of the first account set this installation up; nobody else is known to operate
    it."""
    return facts.get(connection, FIRST_ACCOUNT) == user.email


def require_operator(connection: Connection, actor: Actor) -> None:
    if not is_operator(connection, users.get(connection, actor.user_id())):
        raise Forbidden(
            "Only the operator of this server can see this: the owner of its first account."
        )


def sign_up(
    connection: Connection,
    *,
    email: str,
    name: str,
    password_hash: str,
    invitation: str,
    may_be_first: bool,
    policy: SignUp,
    origin: Origin,
) -> User:
    """A person makes their own account. The first account is always allowed, whatever the policy;
    where strangers could be faster than the owner, `may_be_first` says whether this is the
    owner."""
    first = may_be_first and facts.claim(connection, FIRST_ACCOUNT, users.normal_email(email))
    if not first:
        check_sign_up(connection, invitation=invitation, may_be_first=False, policy=policy)
    elif invitation:
        invitations.offer(connection, invitation)
    tenant = _tenant_of_author(connection, invitation)
    user = _open(connection, email, name, password_hash, tenant)
    actor = Actor(kind="account", id=user.id, label=user.email, address=origin.address)
    audit.record(connection, actor, "signed_up", f"user:{user.id}")
    if invitation:
        invitations.accept(connection, actor, user, invitation)
    return user


def add_by_operator(connection: Connection, *, email: str, name: str, password_hash: str) -> User:
    user = _open(connection, email, name, password_hash)
    facts.claim(connection, FIRST_ACCOUNT, user.email)
    audit.record(connection, OPERATOR, "user_added", f"user:{user.id}", email=user.email)
    return user


def add_demo(connection: Connection, *, email: str, password_hash: str) -> User:
    """The demo's account. It does not count as the first account: that right stays with the
    newcomer."""
    user = _open(connection, email, "Demo", password_hash)
    audit.record(connection, OPERATOR, "demo_added", f"user:{user.id}", email=user.email)
    return user


def _tenant_of_author(connection: Connection, invitation: str) -> str | None:
    """The operator's guests are tenants of their own."""
    author = invitations.author(connection, invitation) if invitation else None
    if author is None or is_operator(connection, users.get(connection, author)):
        return None
    return tenants.of_user(connection, author)


def _open(
    connection: Connection, email: str, name: str, password_hash: str, tenant: str | None = None
) -> User:
    user = users.add(
        connection, email=email, name=name, password_hash=password_hash, tenant_id=tenant
    )
    projects.create_personal(connection, user)
    return user
