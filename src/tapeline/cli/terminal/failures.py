"""What can go wrong between the command line and a server, and the exit status each means.

These never go over the wire, so they are no part of the tree in errors.py; they are caught with it.
"""

from tapeline.errors import InvalidSetting, Problem

OK, REFUSED, MISUSED, NOT_SIGNED_IN, NOT_FOUND, UNREACHABLE, FAILED, INTERRUPTED = (
    0, 1, 2, 3, 4, 5, 6, 130
)  # fmt: skip
EXIT_CODES = {
    OK: "Done.",
    REFUSED: "It could not be done; the sentence says why and what to do.",
    MISUSED: "The command or a setting was not written as it must be.",
    NOT_SIGNED_IN: "Not signed in, or the token is not valid any more.",
    NOT_FOUND: "There is no such model, project, version…, or it is not yours to see.",
    UNREACHABLE: "The server cannot be reached, or cannot take it now.",
    FAILED: "It was done, and what was started failed: a backtest, an installation, a model.",
    INTERRUPTED: "Ended by Ctrl-C.",
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
    """The download broke off: what came is not the whole of it. Try again."""


class RunFailed(Failure):
    """What was started has failed."""

    exit_code = FAILED


def exit_code_of(problem: Problem) -> int:
    if isinstance(problem, Failure):
        return problem.exit_code
    return MISUSED if isinstance(problem, InvalidSetting) else REFUSED
