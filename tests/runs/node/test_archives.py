"""Archives that are handed to a node: by several at the same time, damaged, or both."""

import hashlib
import os
from pathlib import Path

import pytest

from tapeline.runs.node.archives import Archives
from tapeline.runs.node.frames import NodeFailed, Piece

CONTENT = os.urandom(300)
NAME = hashlib.sha256(CONTENT).hexdigest()


def pieces(content: bytes = CONTENT) -> list[Piece]:
    starts = range(0, len(content), 100)
    return [Piece(NAME, at, content[at : at + 100], at + 100 >= len(content)) for at in starts]


def test_two_that_hand_over_the_same_archive_do_not_damage_it(tmp_path: Path) -> None:
    made = Archives(tmp_path / "archives")
    first, second = pieces(), pieces()
    assert not made.has(NAME)
    assert [made.take(NAME, one) for one in first[:2]] == [False, False]
    assert not made.take(NAME, second[0])
    assert made.take(NAME, first[2])
    assert made.has(NAME)
    assert [made.take(NAME, one) for one in second[1:]] == [False, True]
    assert (made.folder / NAME).read_bytes() == CONTENT
    assert [one.name for one in made.folder.iterdir()] == [NAME]


def test_an_archive_that_was_damaged_on_its_way_is_not_kept(tmp_path: Path) -> None:
    made = Archives(tmp_path / "archives")
    with pytest.raises(NodeFailed, match="whole"):
        [made.take(NAME, one) for one in pieces(b"x" * 300)]
    assert list(made.folder.iterdir()) == []


def test_a_damaged_archive_is_sent_again_and_replaced(tmp_path: Path) -> None:
    made = Archives(tmp_path / "archives")
    (made.folder / NAME).write_bytes(CONTENT[:100])
    assert not made.has(NAME)
    assert [made.take(NAME, one) for one in pieces()][-1]
    assert made.has(NAME)
    assert (made.folder / NAME).read_bytes() == CONTENT
