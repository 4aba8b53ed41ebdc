"""A model's folder goes to the model's user, and nothing else does."""

import os
from pathlib import Path

import pytest

from tapeline.runs.sandbox import ownership
from tests import needs

pytestmark = needs.root("only root gives files away")

UID = 1_987_654_321


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "n").touch()
    return folder


def owner(path: Path) -> int:
    return path.lstat().st_uid


def test_everything_in_it_is_given_and_once_is_enough(state: Path) -> None:
    assert ownership.give(state, UID) == 3
    assert {owner(one) for one in (state, *state.rglob("*"))} == {UID}
    assert ownership.give(state, UID) == 0


def test_nothing_behind_a_link_is_given(state: Path, tmp_path: Path) -> None:
    for name in ("file", "linked"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    (state / "to-file").symlink_to(tmp_path / "file")
    (state / "to-folder").symlink_to(tmp_path / "folder")
    os.link(tmp_path / "linked", state / "hard")
    ownership.give(state, UID)
    assert {owner(tmp_path / name) for name in ("file", "folder", "linked")} == {os.geteuid()}
    assert {owner(state / name) for name in ("to-file", "to-folder")} == {UID}
