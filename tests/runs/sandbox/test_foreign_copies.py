"""A folder that a model wrote in is copied, and nothing that it points at."""

import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from tapeline import deep_folders
from tapeline.runs.sandbox import foreign_copies
from tests import needs
from tests.deep_trees import KINDS, as_operator, nest
from tests.store.disk import small_disk

ROOT = needs.root("only root reads what others may not")
MODEL = 1_900_000_001


@pytest.fixture
def state(tmp_path: Path) -> Path:
    made = tmp_path / "state"
    made.mkdir()
    return made


def copied(state: Path) -> Path:
    target = state.with_name("copy")
    foreign_copies.copy(state, target)
    return target


def test_files_folders_and_their_modes_are_the_same(state: Path) -> None:
    (state / "deep" / "er").mkdir(parents=True)
    file = state / "deep" / "er" / "weights"
    file.write_bytes(os.urandom(3_000_000))
    file.chmod(0o640)
    os.utime(file, (1_000, 2_000))
    there = copied(state) / "deep" / "er" / "weights"
    assert there.read_bytes() == file.read_bytes()
    assert there.stat().st_mode == file.stat().st_mode
    assert there.stat().st_mtime == 2_000


def test_links_stay_links_and_pipes_and_sockets_stay_behind(state: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not theirs")
    (state / "file").symlink_to(secret)
    (state / "folder").symlink_to(tmp_path)
    os.mkfifo(state / "pipe")
    here = os.open(state, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)
        made = copied(state)
    assert sorted(one.name for one in made.iterdir()) == ["file", "folder"]
    assert (made / "file").is_symlink()
    assert (made / "folder").readlink() == tmp_path


@ROOT
def test_a_device_and_a_second_name_of_anothers_file_stay_behind(
    state: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "shadow"
    secret.write_text("root's")
    secret.chmod(0o600)
    os.chown(state, MODEL, MODEL)
    (state / "linked").hardlink_to(secret)
    os.mknod(state / "disk", 0o60666, os.makedev(1, 0))
    (state / "own").write_text("mine")
    os.chown(state / "own", MODEL, MODEL)
    made = tmp_path / "copy"
    assert foreign_copies.copy(state, made) == {"linked": 1}
    assert [one.name for one in made.iterdir()] == ["own"]
    assert (made / "own").stat().st_uid == made.stat().st_uid == MODEL


def test_a_copy_takes_no_more_room_than_the_original(state: Path) -> None:
    with (state / "sparse").open("wb") as file:
        file.truncate(1_000_000_000_000)
        file.seek(5_000_000)
        file.write(b"data")
    (state / "one").write_bytes(b"x" * 1_000_000)
    for number in range(50):
        (state / f"name-{number}").hardlink_to(state / "one")
    made = copied(state)
    assert (made / "sparse").stat().st_size == 1_000_000_000_000
    with (made / "sparse").open("rb") as file:
        file.seek(5_000_000)
        assert file.read(4) == b"data"
    assert (made / "sparse").stat().st_blocks < 10_000
    assert (made / "name-7").stat().st_nlink == 51


@ROOT
def test_a_disk_that_takes_only_a_part_of_a_file_fails_the_copy(
    state: Path, tmp_path: Path
) -> None:
    (state / "large").write_bytes(os.urandom(1_040_000))  # read in one piece
    with small_disk(tmp_path / "disk", megabytes=1) as disk:
        (disk.path / "filler").write_bytes(bytes(500_000))
        with pytest.raises(OSError, match="No space left"):
            foreign_copies.copy(state, disk.path / "copy")


@pytest.mark.parametrize("kind", KINDS)
def test_folders_nested_too_deep_are_left_out_and_told(place: Path, kind: str) -> None:
    name, levels = KINDS[kind]
    nest(place / "state" / "deep", name, levels)
    (place / "state" / "beside").write_text("mine")
    target = place / "copy"
    assert foreign_copies.copy(place / "state", target) == {"deep": 1}
    assert (target / "beside").read_text() == "mine"
    found = target / "deep"
    while (found / name).is_dir():
        found /= name
    assert 2_000 - len(name) <= len(str(found.relative_to(target))) <= 2_000
    assert foreign_copies.copy(place / "state", place / "all", 10_000) == {}
    assert deep_folders.size(place / "all") == deep_folders.size(place / "state")


@ROOT
def test_what_may_not_be_read_is_told(place: Path) -> None:
    with as_operator():
        for mode in (0o000, 0o200, 0o300, 0o400):
            (place / "state" / f"{mode:o}").mkdir(parents=True)
            (place / "state" / f"{mode:o}" / "file").touch()
            (place / "state" / f"{mode:o}").chmod(mode)
        (place / "state" / "secret").touch(mode=0o200)
        (place / "state" / "closed").mkdir()
        (place / "state" / "closed" / "in").mkdir()
        (place / "state" / "closed" / "in" / "file").touch()
        (place / "state" / "closed").chmod(0o500)
        assert foreign_copies.copy(place / "state", place / "copy") == dict.fromkeys(
            ["0", "200", "300", "400", "secret"], 1
        )
        assert (place / "copy" / "closed" / "in" / "file").exists()


def test_a_file_that_becomes_a_folder_while_it_is_copied_is_left_out(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (state / "folder").mkdir()
    (state / "file").write_text("mine")
    monkeypatch.setattr(foreign_copies, "mode_of", lambda *_: stat.S_IFREG)
    foreign_copies.copy(state, tmp_path / "copy")
    assert [one.name for one in (tmp_path / "copy").iterdir()] == ["file"]


def test_what_is_swapped_while_it_is_copied_leads_nowhere_else(state: Path, tmp_path: Path) -> None:
    """A file becomes a link to a secret, a folder a link to the folder of secrets, and back."""
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "file").write_text("secret")
    (state / "folder").mkdir()
    (state / "folder" / "file").write_text("mine")
    (state / "file").write_text("mine")
    (state / "link").symlink_to(secrets / "file")
    (state / "way").symlink_to(secrets)
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            for one, other in (("file", "link"), ("folder", "way")):
                (state / one).rename(state / "aside")
                (state / other).rename(state / one)
                (state / one).rename(state / other)
                (state / "aside").rename(state / one)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for number in range(100):
            target = tmp_path / f"copy-{number}"
            foreign_copies.copy(state, target)
            for folder, _, names in os.walk(target):
                for name in names:
                    file = Path(folder) / name
                    assert file.is_symlink() or file.read_text() == "mine"
    finally:
        over.set()
        swapping.join()
