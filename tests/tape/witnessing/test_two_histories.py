"""Evidence of two histories: what forks is proven by its own signatures, and nobody else is."""

from hypothesis import given
from hypothesis import strategies as st

from tapeline.tape.proof import merkle, notes
from tapeline.tape.witnessing.two_histories import Evidence, contradict
from tests.tape.witnessing.small_log import SmallLog

LOG = SmallLog().grow(*map(str, range(40)))
KEYS = [bytes.fromhex(one.public_key) for one in LOG.keys]
sizes = st.integers(1, 40)


def evidence(first: str, second: str, proof: list[bytes]) -> Evidence:
    return Evidence(first, second, [one.hex() for one in proof])


@given(st.integers(0, 39), sizes, sizes)
def test_a_fork_is_proven_by_its_own_proof(fork: int, one: int, other: int) -> None:
    """Unless the old size is a power of two, or both histories still agree there."""
    old, new = sorted((one, other))
    liar = LOG.forked(fork, *(f"other {number}" for number in range(40 - fork)))
    found = evidence(LOG.note(old), liar.note(new), liar.tree.consistency(old, new))
    differs = fork < old
    is_power = old & (old - 1) == 0
    assert found.is_proof(KEYS) == (differs and (old == new or not is_power))
    assert not found.is_proof([bytes(32)])


@given(sizes, sizes, st.lists(st.binary(min_size=32, max_size=32), max_size=8), st.data())
def test_no_proof_accuses_an_honest_log(
    one: int, other: int, rubbish: list[bytes], data: st.DataObject
) -> None:
    old, new = sorted((one, other))
    honest = LOG.tree.consistency(old, new)
    mixed = data.draw(st.permutations([*honest, *rubbish]))
    for proof in ([], honest, rubbish, mixed, honest[:-1], [*honest, bytes(32)]):
        assert not evidence(LOG.note(old), LOG.note(new), proof).is_proof(KEYS)
        small, large = notes.parse(LOG.note(old)), notes.parse(LOG.note(new))
        assert not contradict(small, large, proof)


@given(sizes, sizes)
def test_a_proof_leads_to_both_roots(one: int, other: int) -> None:
    old, new = sorted((one, other))
    proof = LOG.tree.consistency(old, new)
    assert merkle.extends(old, LOG.tree.root(old), new, LOG.tree.root(new), proof)
    found = merkle.roots_of_consistency(old, new, proof)
    if old < new and old & (old - 1):
        assert found == (LOG.tree.root(old), LOG.tree.root(new))
    else:
        assert found is None


def test_evidence_of_two_logs_or_without_signatures_is_none() -> None:
    other = SmallLog("tapeline/other").grow("x")
    other.key, other.keys = LOG.key, LOG.keys
    assert not evidence(LOG.note(1), other.note(1), []).is_proof(KEYS)
    unsigned = LOG.forked(0, "x").note(1).partition("\n\n")[0]
    assert not evidence(LOG.note(1), f"{unsigned}\n\n", []).is_proof(KEYS)
    assert not Evidence("", "", ["zz"]).is_proof(KEYS)
