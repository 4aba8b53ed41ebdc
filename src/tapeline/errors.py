"""The error tree: everything that can go wrong, with a message a person can act on.

A class's docstring is its message, and its name in snake_case its stable `code`. Its base class
(`problems.py`) decides the status code.
"""

from tapeline.problems import (  # isort: skip
    Conflict, Forbidden, Invalid, Limited, Missing, Problem, Unavailable, Unidentified,
    Unprocessable,
)  # fmt: skip

# The branches are imported from here too.
__all__ = [
    "Conflict", "Forbidden", "Invalid", "Limited", "Missing", "Problem", "Unavailable",
    "Unidentified", "Unprocessable",
]  # fmt: skip


class NotBuilt(Unavailable):
    """The web pages of this server are not built. Its operator can build them with
    scripts/setup."""

    retry_after = 60


class DocsNotBuilt(NotBuilt):
    """The documentation of this server is not built. Its operator can build it with
    scripts/setup."""


# Requests


class MalformedBody(Invalid):
    """The body could not be read."""


class MissingField(Invalid):
    """A required field is missing."""


class TooLarge(Problem):
    """The body is larger than this server accepts."""


class TooSlow(Problem):
    """The request did not arrive in time. Send it again, over a faster connection."""


class HeadTooLarge(Problem):
    """The headers of this request are too large. Send fewer or shorter headers."""


class MalformedRequest(Invalid):
    """This is not a valid HTTP/1.1 request."""


class TooManyConnections(Limited):
    """Too many connections from this address. Close some, or reuse them for several requests."""

    retry_after = 5


class TooManyUploads(Limited):
    """Too many large uploads with this key or account are in progress. Wait until some finish."""

    retry_after = 5


class UnknownEncoding(Problem):
    """Send the body as application/json, application/x-www-form-urlencoded or
    multipart/form-data."""


class NoSuchPage(Missing):
    """There is nothing at this address."""


class MethodNotAllowed(Problem):
    """This method is not allowed at this address."""


class InvalidCursor(Invalid):
    """The `cursor` must be the `next` value of an earlier answer."""

    field = "cursor"


class ChangedMeanwhile(Conflict):
    """This conflicts with a change that was made at the same moment. Reload and try again."""


class IdempotencyKeyReused(Conflict):
    """This Idempotency-Key was already used with another body. Use a new key for a new request."""


# Authentication


class WrongCredentials(Unidentified):
    """The email address or the password is wrong."""


class InvalidToken(Unidentified):
    """The token is invalid or has expired. Sign in again."""


class WrongKey(Unidentified):
    """The API key or its pass is wrong, or the key was deleted."""


class WrongMetricsToken(Unidentified):
    """The metrics token is missing or wrong. Send this server's setting `metrics_token` as
    `Authorization: Bearer`."""


class CrossSiteRequest(Forbidden):
    """This request was refused because it came from a page of another site."""


class ForeignHost(Forbidden):
    """This server only answers to the names of its own computer, for example localhost. If people
    reach it under another name, set `public_url` to the address they use."""


class AccountDisabled(Forbidden):
    """This account is disabled. Ask the operator of this server."""


class TooManyAttempts(Limited):
    """Too many attempts. Wait before you try again."""


class QuotaExceeded(Limited):
    """A quota is used up. Nothing was stored; send the request again later."""


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
    """An account with this email address already exists. Sign in instead."""

    field = "email"


class WrongPassword(Invalid):
    """The current password is wrong."""

    field = "current_password"


class NoSuchUser(Missing):
    """There is no account with this email address."""


class NoSuchSignIn(Missing):
    """This sign-in does not exist or has already ended."""


# Projects


class NoSuchProject(Missing):
    """Project not found, or you do not have access to it."""

    field = "projectId"


class PersonalProject(Conflict):
    """A personal project belongs to its account and cannot be deleted."""


class NoSuchMember(Missing):
    """This account is not a member of the project."""


class LastOwner(Conflict):
    """A project needs at least one owner. Make someone else an owner first."""


class NoSuchInvitation(Missing):
    """This invitation does not exist, has expired or has been used."""


class AlreadyMember(Conflict):
    """You are already a member of this project."""


class NoSuchToken(Missing):
    """Key not found in this project."""

    field = "tokenId"


class NoSuchModel(Missing):
    """Model not found, or you do not have access to it."""

    field = "modelId"


class NoSuchBacktest(Missing):
    """Backtest not found, or you do not have access to it."""


class NoSuchVersion(Missing):
    """This model has no such version."""

    field = "versionId"


class NoSuchFile(Missing):
    """This version has no such file."""

    field = "path"


class NoSuchStarter(Missing):
    """Starter model not found."""


class StarterNameTaken(Conflict):
    """Another starter model already has this name. Choose a different one."""


class NoSuchSecret(Missing):
    """This model has no secret with this name."""


# Shared links


class NoSuchShare(Missing):
    """This link does not exist, has expired or was revoked."""


class NotShared(Missing):
    """This link does not show that."""


class NothingToShowYet(Missing):
    """This link has a delay, and nothing is old enough to show yet. Come back later."""


class SharePasswordNeeded(Unidentified):
    """This link needs a password. Open its page in a browser and enter it there. A program
    exchanges it for a pass and sends that in the header `share-pass`."""


class WrongSharePassword(Unidentified):
    """The password for this link is wrong."""

    field = "password"


# Uploads


class InvalidArchive(Invalid):
    """The archive is not a zip file that contains a model."""

    field = "model"


class InvalidManifest(Invalid):
    """The archive's platform.json is not valid."""

    field = "model"


class UnknownPlan(Invalid):
    """There is no such plan."""

    field = "plan"


class UnknownPython(Invalid):
    """This version of Python is not available here."""

    field = "pythonVersion"


# Runs


class InvalidRequirements(Invalid):
    """The requirements file cannot be read."""


class CannotRunModels(Conflict):
    """This server cannot run models."""


class NotSupervised(Unavailable):
    """Models are not being supervised at the moment, so this cannot be done now."""

    retry_after = 5


class OnHold(Conflict):
    """This server is on hold: nothing runs until an operator releases it."""


class NoSuchRun(Missing):
    """This model has no such run."""


class RunHasEnded(Conflict):
    """This run has already ended."""


class Superseded(Conflict):
    """A newer instance of this model has taken over. Events from this one are no longer stored."""


class UnreadableJournal(Problem):
    """The journal of this run cannot be read."""


class BacktestKey(Conflict):
    """This key belongs to a backtest and can only write to that backtest."""


class CannotInstall(Problem):
    """The environment of this model could not be created. Read its log, then start it again."""


# The server and its host


class StoreUnavailable(Unavailable):
    """The database is unavailable. Nothing was stored; try again in a few seconds."""

    @classmethod
    def because(cls, cause: str) -> "StoreUnavailable":
        """With its cause, a sentence."""
        return cls(f"{cause} Nothing was stored; try again later.")


class StoreBusy(Unavailable):
    """Too many writes are queued. Nothing was stored; try again in a few seconds."""


class NotReady(Unavailable):
    """The server is not ready to accept events. Its log says why."""


class Overloaded(Unavailable):
    """Too many requests are in progress. Nothing was stored; try again in a few seconds."""


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
    """The process could not be started now because of the host, not the model."""


class CannotPrepareNow(Problem):
    """The environment could not be created now because of the host, not the model."""


class AlreadyRunning(CannotLaunch):
    """The model is already running, or its last processes are still being stopped."""
