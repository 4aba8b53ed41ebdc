"""Whatever a model made of folders can be removed and measured, and nothing else is touched."""

import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import pytest

from tapeline import deep_folders
from tapeline.runs.shim import tree
from tests import needs
from tests.deep_trees import KINDS, OPERATOR, as_operator, nest

ROOT = needs.root("only root can be somebody else")


@contextmanager
def few_descriptors() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    highest = max(map(int, os.listdir("/proc/self/fd")))  # noqa: PTH208
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(used, highest) + 8, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@ROOT
@pytest.mark.parametrize("who", ["root", "operator"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_of_any_depth_goes(place: Path, kind: str, who: str) -> None:
    with as_operator() if who == "operator" else nullcontext():
        nest(place / "tree", *KINDS[kind])
        (place / "beside").touch()
        with few_descriptors():
            deep_folders.remove(place / "tree")
    assert [one.name for one in place.iterdir()] == ["beside"]


def test_more_folders_side_by_side_than_are_kept_in_mind_go(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deep_folders, "AT_ONCE", 10)
    for number in range(35):
        (place / "tree" / f"{number}" / "empty").mkdir(parents=True)
    deep_folders.remove(place / "tree")
    assert not (place / "tree").exists()


def test_what_somebody_else_removes_meanwhile_hides_nothing_that_is_left(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(name: str, **_: object) -> None:
        raise FileNotFoundError(name)

    (place / "tree").mkdir()
    monkeypatch.setattr(os, "rmdir", too_late)
    with pytest.raises(OSError, match="not empty"):
        deep_folders.remove(place / "tree")


def test_files_links_and_what_is_missing(place: Path) -> None:
    kept = place / "kept"
    kept.mkdir()
    (kept / "file").touch()
    (place / "link").symlink_to(kept)
    (place / "tree" / "in").mkdir(parents=True)
    (place / "tree" / "in" / "link").symlink_to(kept)
    os.mkfifo(place / "tree" / "pipe")
    for name in ("link", "tree", "missing", "missing/below"):
        deep_folders.remove(place / name)
    assert [one.name for one in place.iterdir()] == ["kept"]
    assert (kept / "file").exists()


@ROOT
@pytest.mark.parametrize("mode", [0o000, 0o100, 0o300, 0o400, 0o500])
def test_what_its_owner_has_forbidden_goes_without_root(place: Path, mode: int) -> None:
    with as_operator():
        (place / "tree" / "locked" / "in").mkdir(parents=True)
        (place / "tree" / "locked" / "file").touch()
        (place / "tree" / "locked").chmod(mode)
        deep_folders.remove(place / "tree")
    assert not (place / "tree").exists()


@ROOT
def test_what_cannot_be_removed_is_told_and_the_rest_goes(place: Path) -> None:
    """A file of another user, in a folder of theirs."""
    (place / "tree" / "theirs").mkdir(parents=True)
    (place / "tree" / "theirs" / "file").touch()
    for number in range(20):
        (place / "tree" / f"ours-{number}").mkdir()
    os.chown(place / "tree", OPERATOR, OPERATOR)
    for one in (place / "tree").glob("ours-*"):
        os.chown(one, OPERATOR, OPERATOR)
    with as_operator(), pytest.raises(PermissionError):
        deep_folders.remove(place / "tree")
    assert [one.name for one in (place / "tree").iterdir()] == ["theirs"]


def test_folders_that_are_moved_away_lead_nowhere_else(place: Path) -> None:
    """The folder above is another one then, with files of others."""
    others = place / "others"
    others.mkdir()
    (others / "file").touch()
    over = threading.Event()

    def move() -> None:
        while not over.is_set():
            with suppress(OSError):
                (place / "tree" / "a" / "b").rename(others / "b")
            with suppress(OSError):
                (others / "b").rename(place / "tree" / "a" / "b")

    moving = threading.Thread(target=move)
    moving.start()
    try:
        for _ in range(50):
            with suppress(OSError):
                (place / "tree" / "a" / "b" / "c" / "d").mkdir(parents=True, exist_ok=True)
                deep_folders.remove(place / "tree")
            assert (others / "file").exists()
    finally:
        over.set()
        moving.join()


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_of_any_depth_is_measured(place: Path, kind: str) -> None:
    name, levels = KINDS[kind]
    nest(place / "tree", name, levels)
    files = 1 + -(-levels // 100)
    one = (place / "tree" / "file").stat().st_blocks * 512
    folder = (place / "tree" / name).stat().st_blocks * 512
    assert deep_folders.size(place / "tree") == files * one + levels * folder
    assert deep_folders.size(place / "missing") == 0


def test_a_file_with_several_names_is_measured_once_or_not_at_all(place: Path) -> None:
    tree = place / "tree"
    tree.mkdir()
    (tree / "one").write_bytes(b"x" * 10_000)
    once = deep_folders.size(tree)
    (tree / "two").hardlink_to(tree / "one")
    assert deep_folders.size(tree) == once > 0
    assert deep_folders.size(tree, alone=True) == 0


def test_folders_that_move_while_they_are_measured_hide_nothing_else(place: Path) -> None:
    nest(place / "tree" / "z", "d", 30)
    (place / "tree" / "a" / "b" / "c").mkdir(parents=True)
    least = deep_folders.size(place / "tree" / "z")
    over = threading.Event()

    def move() -> None:
        while not over.is_set():
            (place / "tree" / "a" / "b").rename(place / "tree" / "b")
            (place / "tree" / "b").rename(place / "tree" / "a" / "b")

    moving = threading.Thread(target=move)
    moving.start()
    try:
        for _ in range(10):
            assert deep_folders.size(place / "tree") >= least
    finally:
        over.set()
        moving.join()


@pytest.mark.parametrize("kind", KINDS)
def test_a_launch_with_folders_that_no_backup_holds_has_used_too_much(
    place: Path, kind: str
) -> None:
    name, levels = KINDS[kind]
    nest(place / "state", "d", 900)
    assert tree.disk_bytes([str(place)], [], 10**12) < 10**12
    nest(place / "work", name, levels)
    assert tree.disk_bytes([str(place)], [], 10**12) > 10**12


@ROOT
@pytest.mark.parametrize("mode", [0o000, 0o400, 0o100])
def test_a_folder_that_a_model_may_not_read_counts_too(place: Path, mode: int) -> None:
    with as_operator():  # models are the server's own user then
        for folder in (place / "state", place / "state" / "below"):
            folder.mkdir()
            (folder / "file").write_bytes(bytes(1_000_000))
        for folder in (place / "state" / "below", place / "state"):
            folder.chmod(mode)
        assert tree.disk_bytes([str(place / "state")], [], 10**12) > 2_000_000


@ROOT
def test_a_folder_that_nobody_can_look_into_counts_as_too_much(place: Path) -> None:
    (place / "state" / "below").mkdir(parents=True)
    (place / "state" / "below").chmod(0o700)
    with as_operator():  # and that folder is root's
        assert tree.disk_bytes([str(place / "state")], [], 10**12) > 10**12
