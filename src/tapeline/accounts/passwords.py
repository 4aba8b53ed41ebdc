"""Passwords: argon2id, and the same time spent on an unknown address as on a known one.

Hashing takes tens of milliseconds of a core on purpose: call it in a thread, never in a store job.
"""

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from tapeline.errors import Invalid

SHORTEST, LONGEST = 8, 1024

_hasher = PasswordHasher()


def check_rules(password: str, field: str) -> None:
    if not SHORTEST <= len(password) <= LONGEST:
        raise Invalid(f"`{field}` must have {SHORTEST} to {LONGEST} characters.", field=field)


def hash_password(password: str) -> str:
    return _hasher.hash(_bytes(password))


def matches(password_hash: str | None, password: str) -> bool:
    """Whether the password is right; None stands for an account that does not exist."""
    try:
        _hasher.verify(password_hash or _nobody(), _bytes(password[: LONGEST + 1]))
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


@cache
def _nobody() -> str:
    """A hash with the same parameters, so that comparing with it takes the same time."""
    return _hasher.hash("\0nobody")


def _bytes(password: str) -> bytes:
    # JSON can carry half of a surrogate pair; it is an odd password, not an error.
    return password.encode("utf-8", "surrogatepass")
