"""The error tree: what can go wrong, in words a person can act on.

A class's docstring is its message, its name in snake_case its stable `code`. Its branch
(`problems.py`) says what kind of failure it is.
"""

# By these names they are handed on to everybody.
from tapeline.problems import (
    Conflict as Conflict,  # noqa: PLC0414
)
from tapeline.problems import (
    Forbidden as Forbidden,  # noqa: PLC0414
)
from tapeline.problems import (
    Invalid as Invalid,  # noqa: PLC0414
)
from tapeline.problems import (
    Limited as Limited,  # noqa: PLC0414
)
from tapeline.problems import (
    Missing as Missing,  # noqa: PLC0414
)
from tapeline.problems import (
    Problem as Problem,  # noqa: PLC0414
)
from tapeline.problems import (
    Unavailable as Unavailable,  # noqa: PLC0414
)
from tapeline.problems import (
    Unidentified as Unidentified,  # noqa: PLC0414
)


class NotBuilt(Unavailable):
    """The pages of this server are not built. Whoever runs it can do it: scripts/setup."""

    retry_after = 60


class DocsNotBuilt(NotBuilt):
    """The documentation of this server is not built. In its checkout, run scripts/setup."""


# Requests


class MalformedBody(Invalid):
    """The body could not be read."""


class MissingField(Invalid):
    """Something required is missing."""


class TooLarge(Problem):
    """The body is larger than this server accepts."""


class TooSlow(Problem):
    """The request did not arrive in time. Send it again, over a faster connection."""


class HeadTooLarge(Problem):
    """The headers of this request are too large. Send fewer or shorter ones."""


class MalformedRequest(Invalid):
    """This is not a valid HTTP/1.1 request."""


class TooManyConnections(Limited):
    """Too many connections from this address. Close some, or use them for several requests."""

    retry_after = 5


class TooManyUploads(Limited):
    """Too many large bodies of this key or account are under way. Wait until some are done."""

    retry_after = 5


class UnknownEncoding(Problem):
    """Send the body as application/json, application/x-www-form-urlencoded or
    multipart/form-data."""


class NoSuchPage(Missing):
    """There is nothing at this address."""


class MethodNotAllowed(Problem):
    """This address does not take this method."""


class InvalidCursor(Invalid):
    """The `cursor` must be the `next` value of an earlier answer."""

    field = "cursor"


class ChangedMeanwhile(Conflict):
    """Something this depends on was changed at the same moment. Look again, and try again."""


class IdempotencyKeyReused(Conflict):
    """This Idempotency-Key came before with another body. Use a new key for a new request."""


# Who is there


class WrongCredentials(Unidentified):
    """The email address or the password is wrong."""


class InvalidToken(Unidentified):
    """The token is not valid any more, or never was. Sign in again."""


class WrongKey(Unidentified):
    """The API key or its pass is wrong, or the key was deleted."""


class WrongMetricsToken(Unidentified):
    """Send the setting `metrics_token` of this server as `Authorization: Bearer`."""


class CrossSiteRequest(Forbidden):
    """This request came from a page of another site, so it was refused."""


class ForeignHost(Forbidden):
    """This server answers under the names of its own computer only, such as localhost. If people
    reach it under another name, set `public_url` to the address they use."""


class AccountDisabled(Forbidden):
    """This account is disabled. Ask the operator of this server."""


class TooManyAttempts(Limited):
    """Too many attempts. Wait before you try again."""


class QuotaExceeded(Limited):
    """A quota is used up. Nothing of this request was stored; send it again later."""


# Accounts


class SignUpClosed(Forbidden):
    """Sign-up is closed on this server. Ask its operator for an account."""


class SetupCodeNeeded(Forbidden):
    """The first account needs the setup code that `tapeline up` prints when it starts. On the
    server's own computer, `tapeline user add` makes an account without it."""

    field = "setup_code"


class InvitationNeeded(Forbidden):
    """Sign-up here needs an invitation. Ask a project's owner or admin for an invitation link."""


class EmailTaken(Conflict):
    """There is an account with this email address already. Sign in instead."""

    field = "email"


class WrongPassword(Invalid):
    """The current password is wrong."""

    field = "current_password"


class NoSuchUser(Missing):
    """There is no account with this email address."""


class NoSuchSignIn(Missing):
    """There is no such sign-in, or it has ended already."""


# Projects


class NoSuchProject(Missing):
    """There is no such project, or it is not yours to see."""

    field = "projectId"


class PersonalProject(Conflict):
    """A personal project belongs to its account and cannot be deleted."""


class NoSuchMember(Missing):
    """This account is not a member of the project."""


class LastOwner(Conflict):
    """A project needs an owner. Make somebody else an owner first."""


class NoSuchInvitation(Missing):
    """This invitation does not exist, has expired or has been used."""


class AlreadyMember(Conflict):
    """You are a member of this project already."""


class NoSuchToken(Missing):
    """There is no such key in this project."""

    field = "tokenId"


class NoSuchModel(Missing):
    """There is no such model, or it is not yours to see."""

    field = "modelId"


class NoSuchBacktest(Missing):
    """There is no such backtest, or it is not yours to see."""


class NoSuchVersion(Missing):
    """There is no such version of this model."""

    field = "versionId"


class NoSuchStarter(Missing):
    """There is no such starter model."""


class StarterNameTaken(Conflict):
    """Another starter model has this name. Choose another."""


class NoSuchSecret(Missing):
    """This model has no secret of this name."""


# Shared links


class NoSuchShare(Missing):
    """This link does not exist, has expired or was revoked."""


class NotShared(Missing):
    """This link does not show that."""


class NothingToShowYet(Missing):
    """This link shows things with a delay, and nothing is old enough yet. Come back later."""


class SharePasswordNeeded(Unidentified):
    """This link has a password. Exchange it for a pass; send that as the header `share-pass`."""


class WrongSharePassword(Unidentified):
    """This is not the password of this link."""

    field = "password"


# Uploads


class InvalidArchive(Invalid):
    """The archive is not a zip file that holds a model."""

    field = "model"


class InvalidManifest(Invalid):
    """The archive's platform.json is not valid."""

    field = "model"


class UnknownPlan(Invalid):
    """There is no such plan."""

    field = "plan"


class UnknownPython(Invalid):
    """This version of Python cannot be had here."""

    field = "pythonVersion"


# Runs


class InvalidRequirements(Invalid):
    """The requirements file cannot be read."""


class CannotRunModels(Conflict):
    """This server cannot run models."""


class NotSupervised(Unavailable):
    """Models are not supervised here at the moment, so this cannot be done now."""

    retry_after = 5


class NoSuchRun(Missing):
    """There is no such run of this model."""


class RunHasEnded(Conflict):
    """This run has ended already."""


class Superseded(Conflict):
    """A newer instance of this model has taken over. What this one sends is not stored any more."""


class UnreadableJournal(Problem):
    """What this run has written cannot be read."""


class BacktestKey(Conflict):
    """This key was made for a backtest and writes that backtest only."""


class CannotInstall(Problem):
    """The environment of this model could not be made. Its log says why; start it again."""


# The store and the machine


class StoreUnavailable(Unavailable):
    """The store cannot take this now. Nothing was stored; try again in a few seconds."""


class StoreBusy(Unavailable):
    """Too many writes are waiting. Nothing was stored; try again in a few seconds."""


class NotReady(Unavailable):
    """The server is not ready to take events. Its log says why."""


class Overloaded(Unavailable):
    """Too many requests are under way. Nothing was stored; try again in a few seconds."""


class CannotCompute(Conflict):
    """The figures of this backtest could not be computed. The server's log says why."""


class StillComputing(Unavailable):
    """The figures of this backtest are still being computed. Try again in a few seconds."""


class InvalidSetting(Problem):
    """A setting has a value that is not allowed."""


class CannotStart(Problem):
    """Tapeline cannot start here."""


class CannotMove(CannotStart):
    """The database cannot be moved."""


class CannotLaunch(Problem):
    """The process could not be started."""


class CannotLaunchNow(CannotLaunch):
    """The process could not be started now, because of the host and not of the model."""


class CannotPrepareNow(Problem):
    """The environment could not be made now, because of the host and not of the model."""


class AlreadyRunning(CannotLaunch):
    """It is already running, or what is left of it is still being ended."""
