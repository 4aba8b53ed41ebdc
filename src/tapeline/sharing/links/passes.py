"""Exchanges a link's password for a pass that lasts some hours, so that the password is sent once.

A pass is signed, not stored. It expires with the password it was issued for.
"""

import hmac
import time

from tapeline.sharing.links.links import Share
from tapeline.store.encryption import Cipher

LIFETIME = 12 * 3600


def issue(cipher: Cipher, share: Share) -> tuple[str, float]:
    """A pass and when it ends."""
    ends = int(time.time()) + LIFETIME
    return f"{ends}.{_fingerprints(cipher, share, ends)[0]}", float(ends)


def is_valid(cipher: Cipher, share: Share, given: str) -> bool:
    if share.password_hash is None:
        return True
    ends, _, mark = given.partition(".")
    if not (ends.isascii() and ends.isdecimal() and len(ends) < 12) or int(ends) < time.time():
        return False
    sent = mark.encode("utf-8", "surrogatepass")
    return any(
        hmac.compare_digest(one.encode(), sent) for one in _fingerprints(cipher, share, int(ends))
    )


def _fingerprints(cipher: Cipher, share: Share, ends: int) -> list[str]:
    return cipher.fingerprints(f"share pass\n{share.id}\n{ends}\n{share.password_hash}".encode())
