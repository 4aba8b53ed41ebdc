"""Heads of a log are signed notes, as C2SP's transparency logs and witnesses have them."""

import pytest

from tapeline.tape.proof import key_chain, notes
from tapeline.tape.proof.notes import MalformedNote
from tests.tape.record.making import key, some_bytes

ROOT = some_bytes("root", 32)
LOG, WITNESS = key(0), key(1)
TEXT = notes.text_of("tapeline/a-log", 12, ROOT)
NOTE = notes.sign(TEXT, key_chain.public_of(LOG), LOG.sign)
COSIGNED = NOTE + notes.cosign(
    TEXT, "witness.example/w1", key_chain.public_of(WITNESS), 1_790_000_000, WITNESS.sign
)


def test_a_note_says_which_log_signed_it_and_when_a_witness_did() -> None:
    found = notes.parse(COSIGNED)
    assert (found.origin, found.size, found.root) == ("tapeline/a-log", 12, ROOT)
    assert found.text == TEXT
    assert found.is_signed_by(key_chain.public_of(LOG))
    assert not found.is_signed_by(key_chain.public_of(WITNESS))
    assert found.cosigned_at("witness.example/w1", key_chain.public_of(WITNESS)) == 1_790_000_000
    assert found.cosigned_at("witness.example/w2", key_chain.public_of(WITNESS)) is None
    assert notes.parse(NOTE).cosigned_at("witness.example/w1", key_chain.public_of(WITNESS)) is None


def test_a_signature_over_another_text_is_an_error() -> None:
    other = notes.parse(COSIGNED.replace("\n12\n", "\n13\n"))
    with pytest.raises(MalformedNote):
        other.is_signed_by(key_chain.public_of(LOG))
    with pytest.raises(MalformedNote):
        other.cosigned_at("witness.example/w1", key_chain.public_of(WITNESS))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        NOTE[:-1],
        NOTE.replace("\n\n", "\n"),
        NOTE.replace("12", "012"),
        NOTE.replace("12", "-1"),
        NOTE.replace("12", "١٢"),
        NOTE.replace("\n\n", "\nextension\n\n"),
        NOTE.replace("— ", "- "),
        NOTE + "no signature\n",
        NOTE * 50,
        NOTE + COSIGNED.splitlines(keepends=True)[-1] * 101,
        NOTE.replace("tapeline/a-log\n12", "\n12"),
        TEXT.decode() + "\n",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(MalformedNote):
        notes.parse(text)
