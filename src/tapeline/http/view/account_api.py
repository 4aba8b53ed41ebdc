"""The view API for accounts, projects, members and invitations."""

import msgspec
from sqlalchemy import Connection

from tapeline.accounts import audit, invitations, members, sign_ins, users
from tapeline.accounts.audit import Entry
from tapeline.accounts.invitations import Invitation, Offer
from tapeline.accounts.members import Member, Role
from tapeline.accounts.sign_ins import SignIn
from tapeline.http.core import sessions, signing
from tapeline.http.core.answers import Done, Listed
from tapeline.http.core.endpoint import BodyCall, Call, Page, QueryCall
from tapeline.http.core.fields import Description, Name, Password, Required, RoleName
from tapeline.http.core.services import Services
from tapeline.models import onboarding, projects, versions
from tapeline.models.projects import OwnProject
from tapeline.tape import tapes
from tapeline.tape.append.quotas import Used
from tapeline.tape.proof import heads


class Me(msgspec.Struct):
    id: str
    email: str
    name: str
    created_at: float
    projects: list[OwnProject]
    is_demo: bool
    """Whether `tapeline up --demo` created this account: its models are simulated."""
    trouble: str | None
    """What is wrong with this server; shown only to its operator, the first account."""
    is_operator: bool
    """Whether this account operates the server and may see its health."""


class ShownSignIn(SignIn, frozen=True, kw_only=True):
    current: bool
    """Whether this request came through it."""


class AccountChange(msgspec.Struct):
    name: Name


class NewPassword(msgspec.Struct):
    current_password: Required
    new_password: Password


class PasswordChanged(msgspec.Struct):
    ended_sign_ins: int
    """How many other sign-ins ended, in browsers and elsewhere."""
    status: str = "success"


class ShownProject(OwnProject, frozen=True, kw_only=True):
    tape_bytes: int
    """The total size of its models' tapes."""
    archives: Used
    """What the archives of its models' versions take."""


class ProjectChange(msgspec.Struct):
    name: Name | None = None
    description: Description | None = None


class RoleChange(msgspec.Struct):
    role: RoleName


class NewInvitation(msgspec.Struct):
    role: RoleName = "member"


class MadeInvitation(Invitation, frozen=True, kw_only=True):
    url: str
    """The link to send. It is shown this once, works once, and expires."""


class InvitationLink(msgspec.Struct):
    invitation: Required
    """The secret of the link: its last part."""


def me(connection: Connection, call: Call) -> Me:
    """Your account, your projects and your roles in them."""
    user = users.get(connection, call.actor.user_id())
    own = projects.of_user(connection, user.id)
    is_demo = user.email == onboarding.DEMO_EMAIL
    is_operator = onboarding.is_operator(connection, user)
    trouble = _trouble(call.services) if is_operator else None
    return Me(user.id, user.email, user.name, user.created_at, own, is_demo, trouble, is_operator)


def _trouble(services: Services) -> str | None:
    if lost := heads.losses(services.settings.data):
        return f"the database went backwards, and tapes lost events: {len(lost):,} of them"
    if hold := services.runner.hold():
        return f"models do not run, the server is {hold.sentence()}".rstrip(".")
    return services.trouble()


def change_me(connection: Connection, call: BodyCall[AccountChange]) -> Me:
    """Change the name of your account."""
    user = users.get(connection, call.actor.user_id())
    users.set_name(connection, call.actor, user, call.body.name)
    return me(connection, call)


async def verify_password_change(call: BodyCall[NewPassword]) -> signing.NewHash:
    return await signing.verify_change(
        call.services, call.actor, call.body.current_password, call.body.new_password
    )


def change_password(connection: Connection, call: BodyCall[NewPassword]) -> PasswordChanged:
    """Change your password; every other sign-in ends."""
    ended = signing.change_password(connection, call.actor, call.prepared)
    sessions.note_device(call.request, call.actor.user_id(), call.prepared.password_hash)
    return PasswordChanged(ended)


def list_sign_ins(connection: Connection, call: Call) -> Listed[ShownSignIn]:
    """Your sign-ins: browsers and refresh tokens."""
    user_id, current = call.actor.signed_in()
    return Listed(
        [
            ShownSignIn(**msgspec.structs.asdict(one), current=one.id == current)
            for one in sign_ins.of_user(connection, user_id)
        ]
    )


def end_sign_in(connection: Connection, call: Call) -> Done:
    """End a sign-in; its session or refresh token stops working at once."""
    sign_ins.end(connection, call.actor, call.path("sign_in"))
    return Done()


def my_audit(connection: Connection, call: QueryCall[Page]) -> Listed[Entry]:
    """Actions of your account, newest first."""
    page = call.query
    user_id = call.actor.user_id()
    return _page(
        audit.of_account(connection, user_id, before=page.before(), limit=page.limit + 1), page
    )


def show_project(connection: Connection, call: Call) -> ShownProject:
    """One project, with the size of its models' tapes and archives."""
    found = projects.get(connection, call.actor, call.path("project"))
    held = tapes.bytes_of(connection, found.id)
    archived = versions.archived_bytes(connection, found.id)
    archives = Used(archived, call.services.quotas.archives)
    return ShownProject(**msgspec.structs.asdict(found), tape_bytes=held, archives=archives)


def change_project(connection: Connection, call: BodyCall[ProjectChange]) -> OwnProject:
    """Change a project's name or description."""
    return projects.change(
        connection,
        call.actor,
        call.path("project"),
        name=call.body.name,
        description=call.body.description,
    )


def project_audit(connection: Connection, call: QueryCall[Page]) -> Listed[Entry]:
    """Who did what in a project, newest first; for owners and admins."""
    page = call.query
    project_id = call.path("project")
    members.require(connection, call.actor, project_id, "manage")
    return _page(
        audit.of_project(connection, project_id, before=page.before(), limit=page.limit + 1), page
    )


def list_members(connection: Connection, call: Call) -> Listed[Member]:
    """The members of a project."""
    project_id = call.path("project")
    members.require(connection, call.actor, project_id, "see")
    return Listed(members.of_project(connection, project_id))


def change_member(connection: Connection, call: BodyCall[RoleChange]) -> Member:
    """Change a member's role."""
    role: Role = members.check_role(call.body.role)
    return members.set_role(connection, call.actor, call.path("project"), call.path("user"), role)


def remove_member(connection: Connection, call: Call) -> Done:
    """Remove a member from a project, or leave it yourself."""
    members.remove(connection, call.actor, call.path("project"), call.path("user"))
    return Done()


def invite(connection: Connection, call: BodyCall[NewInvitation]) -> MadeInvitation:
    """Create an invitation link that lets one person join the project."""
    role = members.check_role(call.body.role)
    days = call.services.settings.invitation_days
    secret, made = invitations.invite(connection, call.actor, call.path("project"), role, days)
    return MadeInvitation(
        **msgspec.structs.asdict(made), url=call.link(f"/auth/invitation/{secret}")
    )


def list_invitations(connection: Connection, call: Call) -> Listed[Invitation]:
    """Invitations that can still be used."""
    return Listed(invitations.open_of(connection, call.actor, call.path("project")))


def withdraw_invitation(connection: Connection, call: Call) -> Done:
    """Withdraw an invitation; its link stops working at once."""
    invitations.withdraw(connection, call.actor, call.path("project"), call.path("invitation"))
    return Done()


def accept_invitation(connection: Connection, call: BodyCall[InvitationLink]) -> Offer:
    """Join a project with an invitation."""
    user = users.get(connection, call.actor.user_id())
    return invitations.accept(connection, call.actor, user, call.body.invitation)


def _page(entries: list[Entry], page: Page) -> Listed[Entry]:
    """One more than asked for was read, to know whether there is more."""
    shown = entries[: page.limit]
    return Listed(shown, str(shown[-1].seq) if len(entries) > page.limit else None)
