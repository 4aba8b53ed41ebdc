"""Merkle trees as in RFC 6962: roots, paths from a leaf to a root, and proofs that one tree extends
another. Pure functions over hashes; `verify` uses the same file."""

from collections.abc import Sequence
from hashlib import sha256

EMPTY = sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


class Tree:
    """Over hashes of leaves. Complete parts are hashed once, so a thousand paths cost little more
    than one."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self._leaves = leaves
        self._known: dict[tuple[int, int], bytes] = {}

    def root(self, size: int | None = None) -> bytes:
        size = len(self._leaves) if size is None else size
        return self._hash(0, size) if size else EMPTY

    def path(self, index: int, size: int) -> list[bytes]:
        """From a leaf to the root of the first leaves, bottom up (section 2.1.1)."""
        return self._path(index, 0, size)

    def consistency(self, old: int, new: int) -> list[bytes]:
        """That the first `new` leaves begin with the first `old` (section 2.1.2)."""
        return self._consistency(old, 0, new, is_whole=True) if 0 < old < new else []

    def _path(self, index: int, start: int, end: int) -> list[bytes]:
        if end - start <= 1:
            return []
        middle = start + split(end - start)
        if index < middle:
            return [*self._path(index, start, middle), self._hash(middle, end)]
        return [*self._path(index, middle, end), self._hash(start, middle)]

    def _consistency(self, old: int, start: int, end: int, *, is_whole: bool) -> list[bytes]:
        if old == end:
            return [] if is_whole else [self._hash(start, end)]
        middle = start + split(end - start)
        if old <= middle:
            left = self._consistency(old, start, middle, is_whole=is_whole)
            return [*left, self._hash(middle, end)]
        right = self._consistency(old, middle, end, is_whole=False)
        return [*right, self._hash(start, middle)]

    def _hash(self, start: int, end: int) -> bytes:
        if end - start == 1:
            return self._leaves[start]
        known = self._known.get((start, end))
        if known is None:
            middle = start + split(end - start)
            known = node_hash(self._hash(start, middle), self._hash(middle, end))
            if (end - start) & (end - start - 1) == 0:  # complete: never changes as the tree grows
                self._known[start, end] = known
        return known


def split(size: int) -> int:
    """The largest power of two below a size: where its two halves meet."""
    return 1 << (size - 1).bit_length() - 1


def root_of_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root to which a path leads; None if it cannot be a path of this leaf."""
    if not 0 <= index < size:
        return None
    last, found = size - 1, leaf
    for one in path:
        if last == 0:
            return None
        if index & 1 or index == last:
            found = node_hash(one, found)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            found = node_hash(found, one)
        index, last = index >> 1, last >> 1
    return found if last == 0 else None


def extends(old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether a proof shows that the new tree begins with the old one (RFC 9162, 2.1.4.2)."""
    if old > new:
        return False
    if old == new:
        return old_root == new_root and not proof
    if old == 0:
        return not proof
    rest = list(proof) if old & (old - 1) else [old_root, *proof]
    return _roots(old, new, rest) == (old_root, new_root)


def roots_of_consistency(old: int, new: int, proof: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    """The two roots to which a proof leads. None if it is not one, or if the old size is a power of
    two: such a proof leaves the old root out."""
    return _roots(old, new, proof) if 0 < old < new and old & (old - 1) else None


def _roots(old: int, new: int, rest: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    if not rest:
        return None
    first, last = old - 1, new - 1
    while first & 1:
        first, last = first >> 1, last >> 1
    before = after = rest[0]
    for one in rest[1:]:
        if last == 0:
            return None
        if first & 1 or first == last:
            before, after = node_hash(one, before), node_hash(one, after)
            while not first & 1 and first:
                first, last = first >> 1, last >> 1
        else:
            after = node_hash(after, one)
        first, last = first >> 1, last >> 1
    return (before, after) if last == 0 else None
