"""A host without room for another process: it passes, and the model is not to blame.

So it is waited out, as a full disk is, and never counts as a crash.
"""

import errno
import os
from collections.abc import Iterator

_ERRORS = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds
PROCESSES = (
    "This machine has no room for another process: pids.max of a control group, the user's limit of"
    " processes or the machine's own is reached"
)


def is_one(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in _ERRORS


def error_of(words: str) -> OSError:
    """From the last words of a program that failed: with its number if it met a shortage."""
    numbers = [one for one in _ERRORS if os.strerror(one) in words]
    return OSError(numbers[0], words) if numbers else OSError(words)


def in_words(text: str) -> bool:
    return is_one(error_of(text))


def described(error: OSError) -> str:
    """For the run's log and the operator's."""
    return f"{PROCESSES} ({error})." if error.errno == errno.EAGAIN else f"{error}."


def pauses() -> Iterator[float]:
    """Growing, without an end."""
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(LONGEST_PAUSE, pause * 2)
