"""Known devices: people who have signed in before are not slowed down by strangers' guesses.

A device carries a token that is signed, not stored. It names the account and expires with the
password it was issued for, or after its lifetime by a clock that does not jump. It gives no access;
it only has its attempts counted separately.
"""

import hmac

from tapeline.clock import Clock
from tapeline.ids import fingerprint, new_id
from tapeline.store.encryption import Cipher

LIFETIME = 400 * 24 * 3600  # the longest that browsers keep a cookie
COOKIE = "tapeline_device_"


def cookie_of(user_id: str) -> str:
    """One cookie per account, because several people may use one browser."""
    return COOKIE + fingerprint(user_id)[:16]


def issue(
    cipher: Cipher, clock: Clock, user_id: str, password_hash: str, device: str | None = None
) -> str:
    """A token for a device, which keeps its name if it has one."""
    name, ends = device or new_id(), int(clock.with_pauses()) + LIFETIME
    return f"{name}.{ends}.{_fingerprints(cipher, user_id, password_hash, name, ends)[0]}"


def known(cipher: Cipher, clock: Clock, user_id: str, password_hash: str, given: str) -> str | None:
    """The name of a device on which this account has signed in before."""
    name, _, rest = given.partition(".")
    ends, _, mark = rest.partition(".")
    if not (ends.isascii() and ends.isdecimal() and len(ends) < 12):
        return None
    if int(ends) < clock.with_pauses():
        return None
    sent = mark.encode("utf-8", "surrogatepass")
    fingerprints = _fingerprints(cipher, user_id, password_hash, name, int(ends))
    return name if any(hmac.compare_digest(one.encode(), sent) for one in fingerprints) else None


def _fingerprints(
    cipher: Cipher, user_id: str, password_hash: str, name: str, ends: int
) -> list[str]:
    words = f"device\n{user_id}\n{name}\n{ends}\n{password_hash}"
    return cipher.fingerprints(words.encode("utf-8", "surrogatepass"))
