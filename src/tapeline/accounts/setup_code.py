"""The setup code: whoever reads it where the server runs may make the first account from afar.

It is made from the server's own key: the same after a restart and on all servers that share the
keys, and stored nowhere. Once there is a first account it opens nothing.
"""

import hmac

from tapeline.store.encryption import Cipher

LENGTH, GROUP = 12, 4  # 48 bits, and attempts are counted


def shown(cipher: Cipher) -> str:
    """As people copy it: in groups."""
    code = _codes(cipher)[0]
    return "-".join(code[at : at + GROUP] for at in range(0, LENGTH, GROUP))


def is_right(cipher: Cipher, given: str) -> bool:
    """However it is written: with its dashes, with spaces, in capitals."""
    plain = "".join(given.replace("-", "").split()).lower().encode("utf-8", "surrogatepass")
    return any(hmac.compare_digest(one.encode(), plain) for one in _codes(cipher))


def _codes(cipher: Cipher) -> list[str]:
    return [mark[:LENGTH] for mark in cipher.fingerprints(b"setup code")]
