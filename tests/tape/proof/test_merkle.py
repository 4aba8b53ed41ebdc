"""Trees are those of RFC 6962: known roots, paths of every leaf, proofs that a tree grew."""

from tapeline.tape.proof import merkle
from tapeline.tape.proof.merkle import Tree

LEAVES = [
    bytes.fromhex(one)
    for one in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657",
                "606162636465666768696a6b6c6d6e6f")
]  # fmt: skip
ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}
MOST = 34


def tree(size: int) -> tuple[Tree, list[bytes]]:
    hashes = [merkle.leaf_hash(bytes([number])) for number in range(size)]
    return Tree(hashes), hashes


def test_roots_are_the_published_ones() -> None:
    found = Tree([merkle.leaf_hash(one) for one in LEAVES])
    assert {size: found.root(size).hex() for size in ROOTS} == ROOTS
    assert Tree([]).root() == merkle.EMPTY


def test_each_leaf_has_a_path_to_each_root_and_no_other_path_leads_there() -> None:
    whole, leaves = tree(MOST)
    for size in range(1, MOST + 1):
        for index in range(size):
            path = whole.path(index, size)
            assert merkle.root_of_path(leaves[index], index, size, path) == whole.root(size)
            for wrong in ([*path, leaves[0]], path[:-1] if path else [leaves[0]]):
                assert merkle.root_of_path(leaves[index], index, size, wrong) != whole.root(size)
            other = (index + 1) % size
            if other != index:
                assert merkle.root_of_path(leaves[index], other, size, path) != whole.root(size)
    assert merkle.root_of_path(leaves[0], 1, 1, []) is None
    assert merkle.root_of_path(leaves[0], -1, 1, []) is None


def test_a_tree_extends_its_beginning_and_nothing_else() -> None:
    whole, leaves = tree(MOST)
    other = Tree([leaves[1], *leaves[1:]])
    for new in range(1, MOST + 1):
        for old in range(new + 1):
            proof = whole.consistency(old, new)
            assert merkle.extends(old, whole.root(old), new, whole.root(new), proof)
            if old:
                assert not merkle.extends(old, other.root(old), new, whole.root(new), proof)
                assert not merkle.extends(old, whole.root(old), new, other.root(new), proof)
            if 0 < old < new:
                assert not merkle.extends(old, whole.root(old), new, whole.root(new), [])
                more = [*proof, leaves[0]]
                assert not merkle.extends(old, whole.root(old), new, whole.root(new), more)
    assert not merkle.extends(2, whole.root(2), 1, whole.root(1), [])
