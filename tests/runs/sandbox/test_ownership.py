"""A model's folder goes to the model's user, and nothing else does."""

import os
import threading
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


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_goes_while_it_is_looked_at_is_no_error(tmp_path: Path, what: str) -> None:
    for number in range(200):
        (tmp_path / f"kept{number}").touch()
    draft, done = tmp_path / "account.new", threading.Event()

    def write() -> None:
        while not done.is_set():
            if what == "file":
                draft.touch()
                draft.rename(tmp_path / "account")
            else:
                draft.mkdir()
                draft.rmdir()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for uid in range(ownership.FIRST_UID, ownership.FIRST_UID + 100):
            assert ownership.give(tmp_path, uid) >= 200
    finally:
        done.set()
        writer.join()
    assert (tmp_path / "kept0").stat().st_uid == uid
