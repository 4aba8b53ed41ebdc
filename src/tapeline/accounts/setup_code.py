"""The setup code: anyone who can read it on the server may create the first account remotely.

It is derived from the server's own key: the same after a restart and on all servers that share the
keys, and stored nowhere. Once the first account exists, the code is useless.
"""

import hmac

from tapeline.store.encryption import Cipher

LENGTH, GROUP = 12, 4  # 48 bits, and attempts are counted


def shown(cipher: Cipher) -> str:
    """In groups, so that people can copy it."""
    code = _codes(cipher)[0]
    return "-".join(code[at : at + GROUP] for at in range(0, LENGTH, GROUP))


def is_right(cipher: Cipher, given: str) -> bool:
    """However it is typed: with dashes, with spaces, in capitals."""
    plain = "".join(given.replace("-", "").split()).lower().encode("utf-8", "surrogatepass")
    return any(hmac.compare_digest(one.encode(), plain) for one in _codes(cipher))


def _codes(cipher: Cipher) -> list[str]:
    return [mark[:LENGTH] for mark in cipher.fingerprints(b"setup code")]
