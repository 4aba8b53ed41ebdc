"""Failures between the command line and a server, and the exit status of each.

These never go over the wire, so they are not part of the tree in errors.py, but caught with it.
"""

from tapeline.errors import InvalidSetting, Problem

OK, REFUSED, MISUSED, NOT_SIGNED_IN, NOT_FOUND, UNREACHABLE, FAILED, INTERRUPTED = (
    0, 1, 2, 3, 4, 5, 6, 130
)  # fmt: skip
EXIT_CODES = {
    OK: "Done.",
    REFUSED: "The command failed; the message says why and what to do.",
    MISUSED: "The command or a setting is invalid.",
    NOT_SIGNED_IN: "Not signed in, or the token is invalid.",
    NOT_FOUND: "There is no such model, project or version, or it is not visible to you.",
    UNREACHABLE: "The server cannot be reached, or is busy.",
    FAILED: "The command worked, but the backtest, installation or model that it started failed.",
    INTERRUPTED: "Interrupted by Ctrl-C.",
}


class Failure(Problem):
    """The command could not do this."""

    exit_code = REFUSED


class Misused(Failure):
    """This is not how the command is used."""

    exit_code = MISUSED


class NotSignedIn(Failure):
    """You are not signed in. Run: tapeline login"""

    exit_code = NOT_SIGNED_IN


class NotFound(Failure):
    """Not found, or you do not have access to it."""

    exit_code = NOT_FOUND


class Unreachable(Failure):
    """The server cannot be reached."""

    exit_code = UNREACHABLE


class BrokeOff(Unreachable):
    """The download was cut off and is incomplete. Try again."""


class RunFailed(Failure):
    """The backtest, installation or model that was started has failed."""

    exit_code = FAILED


def exit_code_of(problem: Problem) -> int:
    if isinstance(problem, Failure):
        return problem.exit_code
    return MISUSED if isinstance(problem, InvalidSetting) else REFUSED
