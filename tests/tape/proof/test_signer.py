"""The key that signs tapes can be replaced while servers run; a crash in between costs nothing."""

import shutil
from pathlib import Path

import pytest

from tapeline import private_files
from tapeline.settings import Settings
from tapeline.store.encryption import UnusableKey
from tapeline.tape.proof import key_chain, signer
from tapeline.tape.proof.signer import Signer, rotate
from tests.conftest import running


def test_a_server_that_runs_uses_the_new_key_and_the_old_one_is_gone(tmp_path: Path) -> None:
    running = Signer(tmp_path)
    first, old = running.key_id, (tmp_path / signer.NAME).read_bytes()
    made = rotate(tmp_path)
    running.refresh()
    assert running.key_id == made.key_id != first
    assert [one.key_id for one in running.chain] == [first, made.key_id]
    assert key_chain.trouble(running.chain) is None
    assert all(old not in file.read_bytes() for file in tmp_path.iterdir())
    third = rotate(tmp_path)
    assert [one.key_id for one in Signer(tmp_path).chain] == [first, made.key_id, third.key_id]


@pytest.mark.parametrize("written", [signer.NEXT, signer.CHAIN])
def test_a_crash_in_a_rotation_leaves_the_old_key_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    first = Signer(tmp_path)
    write = private_files.write

    def crash(path: Path, content: bytes) -> None:
        write(path, content)
        if path.name == written:
            raise KeyboardInterrupt

    monkeypatch.setattr(private_files, "write", crash)
    with pytest.raises(KeyboardInterrupt):
        rotate(tmp_path)
    monkeypatch.undo()
    again = Signer(tmp_path)
    assert (again.key_id == first.key_id) == (written == signer.NEXT)
    assert again.chain[-1].key_id == again.key_id
    assert key_chain.trouble(again.chain) is None
    assert rotate(tmp_path).previous == again.public_key.hex()


def test_a_folder_from_before_a_rotation_is_refused_with_what_to_copy(
    sqlite_settings: Settings,
) -> None:
    folder = sqlite_settings.data / "keys"
    with running(sqlite_settings):
        pass
    older = sqlite_settings.data / "older"
    shutil.copytree(folder, older)
    made = rotate(folder)
    with running(sqlite_settings):
        pass
    shutil.rmtree(folder)
    older.rename(folder)
    said = f"older than the database: copy the newest folder keys, with the key {made.key_id}"
    with pytest.raises(UnusableKey, match=said), running(sqlite_settings):
        pass


def test_a_key_file_that_is_damaged_while_a_server_runs_changes_nothing(tmp_path: Path) -> None:
    running = Signer(tmp_path)
    before = running.key_id
    (tmp_path / signer.NAME).write_text("damaged")
    running.refresh()
    assert running.key_id == before
    (tmp_path / signer.NAME).unlink()
    running.refresh()
    assert running.key_id == before


def test_a_key_in_the_place_of_a_lost_one_starts_a_chain_of_its_own(tmp_path: Path) -> None:
    lost = Signer(tmp_path)
    (tmp_path / signer.NAME).unlink()
    chain = Signer(tmp_path).chain
    assert [one.previous for one in chain] == [None, None]
    assert key_chain.connected(chain, [lost.public_key.hex()]) == {lost.public_key.hex()}


def test_a_damaged_list_of_keys_is_not_replaced_by_a_shorter_one(tmp_path: Path) -> None:
    Signer(tmp_path)
    (tmp_path / signer.CHAIN).write_text("[")
    with pytest.raises(UnusableKey, match=r"tape-keys\.json is damaged"):
        Signer(tmp_path)
