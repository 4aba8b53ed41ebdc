"""What is sealed to a node: read by it alone, and never twice the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeline.runs.node import sealing
from tapeline.runs.node.sealing import NotSealedToUs

KEY, OTHER = sealing.new_key(), sealing.new_key()


@given(st.binary(max_size=2_000))
def test_only_the_node_reads_what_is_sealed_to_it(content: bytes) -> None:
    sealed = sealing.seal(content, sealing.public_part(KEY))
    assert sealing.unseal(sealed, KEY) == content
    with pytest.raises(NotSealedToUs):
        sealing.unseal(sealed, OTHER)


@given(st.binary(max_size=200), st.data())
def test_what_was_changed_on_its_way_is_refused(content: bytes, data: st.DataObject) -> None:
    sealed = bytearray(sealing.seal(content, sealing.public_part(KEY)))
    at = data.draw(st.integers(0, len(sealed) - 1))
    bit = data.draw(st.integers(0, 7))
    # The highest bit of a public key counts for nothing in this curve.
    if (at, bit) != (sealing.KEY_BYTES - 1, 7):
        sealed[at] ^= 1 << bit
        with pytest.raises(NotSealedToUs):
            sealing.unseal(bytes(sealed), KEY)


@given(st.binary(max_size=100))
def test_anything_else_is_refused(sealed: bytes) -> None:
    with pytest.raises(NotSealedToUs):
        sealing.unseal(sealed, KEY)


def test_the_same_content_never_looks_alike() -> None:
    to = sealing.public_part(KEY)
    assert sealing.seal(b"secret", to) != sealing.seal(b"secret", to)
    assert b"secret" not in sealing.seal(b"secret", to)
