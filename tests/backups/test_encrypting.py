"""Encrypted backups: only the holder of the secret key can read them, and damage is noticed."""

import io
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pyrage
import pytest

from tapeline.backups.process import carry_out
from tests import needs
from tests.backups.conftest import LINES, Installation, does, gets, names_in, refused
from tests.backups.test_process import order
from tests.waiting import SLOW_MACHINE

SECRET, OTHER = (pyrage.x25519.Identity.generate() for _ in range(2))
PUBLIC = str(SECRET.to_public())


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> str:
    """As age-keygen writes it."""
    file = tmp_path_factory.mktemp("key") / "key.txt"
    file.write_text(f"# public key: {PUBLIC}\n{SECRET}\n")
    return str(file)


@pytest.fixture(scope="module")
def encrypted(
    installations: Callable[[str], Installation], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A scheduled backup of an installation whose model has left strange files."""
    here = installations("sqlite")
    state = here.settings.data / "state" / "model"
    state.mkdir(parents=True, exist_ok=True)
    with (state / "hole").open("wb") as file:
        file.truncate(1 << 30)
        file.write(b"data")
    (state / "link").symlink_to("/etc/passwd")
    made = carry_out(order(here, tmp_path_factory.mktemp("encrypted"), recipients=PUBLIC))
    shutil.rmtree(state)  # others copy this installation, and a copy of a hole is a gigabyte
    return Path(made.path)


def test_an_encrypted_backup_is_one_file_that_its_key_opens(
    encrypted: Path, key: str, installations: Callable[[str], Installation], tmp_path: Path
) -> None:
    assert names_in(encrypted.parent) == [encrypted.name, f"{encrypted.name}.sha256"]
    assert encrypted.stat().st_size < 10_000_000, "holes take no space"
    assert b"line 3" not in encrypted.read_bytes()
    assert names_in(installations("sqlite").settings.data / "backing-up") == []
    subprocess.run(
        ["sha256sum", "--check", f"{encrypted.name}.sha256"], cwd=encrypted.parent, check=True
    )
    new = tmp_path / "new"
    told = gets("restore", str(encrypted), "--data", str(new), "--identity", key)
    assert told["events"] == LINES + 1
    assert (new / "state/model/link").readlink() == Path("/etc/passwd")
    assert (new / "state/model/hole").stat().st_blocks < 1000
    assert new.stat().st_mode & 0o077 == 0


def test_by_hand_and_from_postgresql(
    installations: Callable[[str], Installation], key: str, tmp_path: Path
) -> None:
    here, file = installations("postgresql"), str(tmp_path / "one.tar.age")
    does("backup", file, "--recipient", f"{OTHER.to_public()},{PUBLIC}", *here.options)
    told = gets("restore", file, "--data", str(tmp_path / "new"), "--identity", key)
    assert told["events"] == LINES + 1


def cut(file: bytes) -> bytes:
    return file[: len(file) // 2]


def cut_at_a_chunk(file: bytes) -> bytes:
    """Where the library would find whole chunks only."""
    head = file.index(b"\n---")
    head = file.index(b"\n", head + 1) + 1 + 16
    return file[: head + 2 * (64 * 1024 + 16)]


def flip(file: bytes) -> bytes:
    return file[:-100] + bytes([file[-100] ^ 1]) + file[-99:]


@pytest.mark.parametrize("damage", [cut, cut_at_a_chunk, flip])
def test_a_changed_file_is_refused_and_leaves_nothing(
    damage: Callable[[bytes], bytes], encrypted: Path, key: str, tmp_path: Path
) -> None:
    (tmp_path / "bad").write_bytes(damage(encrypted.read_bytes()))
    to = ("--data", str(tmp_path / "new"), "--identity", key)
    assert "was changed or cut off" in refused("restore", str(tmp_path / "bad"), *to)
    assert names_in(tmp_path) == ["bad"]


@needs.root("needs root, for a disk of its own")
def test_a_full_disk_is_said_when_it_is_restored(encrypted: Path, key: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tapeline", "restore", str(encrypted), "--identity", key]
    script = f'mount -t tmpfs -o size=64k none {tmp_path} && ("$@"; ls -A {tmp_path})'
    ended = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *command, "--data", f"{tmp_path}/new"],
        capture_output=True,
        text=True,
        timeout=SLOW_MACHINE,
        check=False,
    )
    assert "No space left on device. Free some space" in ended.stderr
    assert ended.stdout == "", "nothing is left of it"


def test_the_wrong_key_is_told_from_a_damaged_file(
    encrypted: Path, key: str, tmp_path: Path
) -> None:
    to = ("--data", str(tmp_path / "new"))
    assert "Name the file with the secret key" in refused("restore", str(encrypted), *to)
    for content, said in (
        (str(OTHER), "No key in"),
        ("not a key", "is not a key file of age"),
        ("# only a comment", "There is no secret key in"),
    ):
        (tmp_path / "wrong").write_text(content)
        wrong = ("--identity", str(tmp_path / "wrong"))
        assert said in refused("restore", str(encrypted), *to, *wrong)
    gone = ("--identity", str(tmp_path / "gone"))
    assert "cannot be read" in refused("restore", str(encrypted), *to, *gone)
    assert names_in(tmp_path) == ["wrong"]


def link(name: str, to: str) -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type, one.linkname = tarfile.SYMTYPE, to
    return one


def pipe(name: str) -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type = tarfile.FIFOTYPE
    return one


def setuid(name: str) -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.mode = 0o4755
    return one


@pytest.mark.parametrize(
    "member", [link("keys", "/etc"), link("state", "/etc"), pipe("state/pipe"), setuid("state/run")]
)
def test_a_forged_archive_brings_in_nothing_that_a_server_would_not_have(
    member: tarfile.TarInfo, key: str, tmp_path: Path
) -> None:
    """Anyone who can write to the place of the backups can encrypt to a public key."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(member)
    recipient = pyrage.x25519.Recipient.from_str(PUBLIC)
    (tmp_path / "forged").write_bytes(pyrage.encrypt(packed.getvalue(), [recipient]))
    to = ("--data", str(tmp_path / "new"), "--identity", key)
    assert "no server has put there" in refused("restore", str(tmp_path / "forged"), *to)
    assert names_in(tmp_path) == ["forged"]


def test_a_public_key_that_is_none_is_refused_at_the_start(
    on_sqlite: Installation, tmp_path: Path
) -> None:
    typo = PUBLIC[:-1] + ("q" if PUBLIC[-1] != "q" else "p")
    said = refused("up", "--port", "0", *on_sqlite.options, TAPELINE_BACKUP_RECIPIENTS=typo)
    assert "is not a public key of age" in said
    said = refused("backup", str(tmp_path / "one"), "--recipient", typo, *on_sqlite.options)
    assert "is not a public key of age" in said
    assert names_in(tmp_path) == []
