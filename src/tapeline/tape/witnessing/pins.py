"""Keys of another server, as they were when an operator named it. Only a chain of signatures adds
to them: whoever controls its address later cannot put others in their place."""

from collections.abc import Sequence

import msgspec

from tapeline.tape.proof import key_chain
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.witnessing.refusing import UnconfirmedKeys

MOST = 1_000


def read(text: str) -> list[Key]:
    return msgspec.json.decode(text, type=list[Key])


def written(keys: Sequence[Key]) -> str:
    return msgspec.json.encode(keys).decode()


def extended(pinned: Sequence[Key], offered: Sequence[Key]) -> list[Key]:
    """The pinned keys and those that follow from them.

    A key has one successor. Whoever stole one that was replaced cannot name another.
    """
    if len(offered) > MOST:
        raise UnconfirmedKeys
    if said := key_chain.trouble(offered):
        raise UnconfirmedKeys(said)
    found = list(pinned)
    for key in offered:
        known = {one.public_key for one in found}
        if key.public_key in known or key.previous not in known:
            continue
        if key.previous in _replaced(found):
            raise UnconfirmedKeys(f"The key before {key.key_id} already has another successor.")
        found.append(key)
    return found


def current(pinned: Sequence[Key]) -> list[bytes]:
    """Those that may sign now: a replaced key may have been stolen."""
    replaced = _replaced(pinned)
    return [bytes.fromhex(one.public_key) for one in pinned if one.public_key not in replaced]


def _replaced(keys: Sequence[Key]) -> set[str | None]:
    return {one.previous for one in keys if one.previous is not None}
