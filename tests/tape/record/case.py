"""One record of the set, and what a checker must say of it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tapeline.tape.proof.key_chain import Key

STATUS = {"proven": 0, "unknown_signer": 3, "retired_key": 3, "unsigned": 4, "unsigned_tail": 4}


class Case(NamedTuple):
    name: str
    record: bytes
    verdict: str
    keys: tuple[str, ...] = ()
    """What the reader knows: fingerprints, or beginnings of them."""
    earlier: bytes | None = None
    certificates: tuple[str, ...] = ()
    """Of time-stamp authorities that the reader trusts, in PEM form."""
    published: tuple[Key, ...] = ()
    """Keys of a server that the reader trusts, as it publishes them."""
    facts: Mapping[str, int] = MappingProxyType({})
    """Numbers that a checker must tell; `cases.facts` has all of them."""

    @property
    def status(self) -> int:
        return STATUS.get(self.verdict, 1)
