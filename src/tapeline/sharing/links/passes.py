"""Exchanges a link's password for a pass that lasts some hours, so that the password is sent once.

A pass is signed, not stored. It expires with the password it was issued for, and lasts by a clock
that does not jump (`Clock.with_pauses`).
"""

import hmac

from tapeline.clock import Clock
from tapeline.sharing.links.links import Share
from tapeline.store.encryption import Cipher

LIFETIME = 12 * 3600


def issue(cipher: Cipher, clock: Clock, share: Share) -> tuple[str, float]:
    """A pass, and when it ends as people read it."""
    ends = int(clock.with_pauses()) + LIFETIME
    return f"{ends}.{_fingerprints(cipher, share, ends)[0]}", clock.shown(ends)


def is_valid(cipher: Cipher, clock: Clock, share: Share, given: str) -> bool:
    if share.password_hash is None:
        return True
    ends, _, mark = given.partition(".")
    if not (ends.isascii() and ends.isdecimal() and len(ends) < 12):
        return False
    if int(ends) < clock.with_pauses():
        return False
    sent = mark.encode("utf-8", "surrogatepass")
    return any(
        hmac.compare_digest(one.encode(), sent) for one in _fingerprints(cipher, share, int(ends))
    )


def _fingerprints(cipher: Cipher, share: Share, ends: int) -> list[str]:
    return cipher.fingerprints(f"share pass\n{share.id}\n{ends}\n{share.password_hash}".encode())
