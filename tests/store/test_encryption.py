"""What the store keeps of remembered answers cannot be read or guessed from the database alone."""

from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from tapeline.store.encryption import NAME, Cipher, NotOurKey, UnusableKey
from tapeline.store.tables.core import answers
from tests.conftest import PASSWORD, Cast, Service


def test_what_is_hidden_can_be_shown_with_the_same_key_only(tmp_path: Path) -> None:
    ours = Cipher.of(tmp_path)
    hidden = ours.encrypt(b"a secret link")
    assert "secret" not in hidden
    assert Cipher.of(tmp_path).decrypt(hidden) == b"a secret link"
    assert ours.encrypt(b"a secret link") != hidden
    (tmp_path / NAME).unlink()
    with pytest.raises(NotOurKey):
        Cipher.of(tmp_path).decrypt(hidden)


@pytest.mark.parametrize("content", [b"", b"\n", b"AAAA", b"not base64"])
def test_a_damaged_key_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(UnusableKey, match=r"store.key is empty or damaged. Put it back"):
        Cipher.of(tmp_path)


@pytest.mark.parametrize("content", [None, b""])
def test_a_key_that_was_read_outlives_its_file(tmp_path: Path, content: bytes | None) -> None:
    ours = Cipher.of(tmp_path)
    hidden = ours.encrypt(b"a secret link")
    (tmp_path / NAME).unlink()
    if content is not None:
        (tmp_path / NAME).write_bytes(content)
    assert ours.decrypt(hidden) == b"a secret link"
    with pytest.raises(UnusableKey, match=NAME):
        Cipher(file=tmp_path / NAME).decrypt(hidden)


def test_a_fingerprint_is_the_same_for_the_same_content_under_one_key(tmp_path: Path) -> None:
    ours = Cipher.of(tmp_path)
    assert (
        ours.fingerprints(b"x") == Cipher.of(tmp_path).fingerprints(b"x") != ours.fingerprints(b"y")
    )
    assert Cipher(bytes(32)).fingerprints(b"x") != ours.fingerprints(b"x")


def test_a_remembered_answer_leaves_neither_its_link_nor_a_hash_of_a_password(
    service: Service, cast: Cast
) -> None:
    again = {"Idempotency-Key": "k-1"}
    path = f"/api/projects/{cast.project_id}/invitations"
    first = cast.owner.post(path, json={}, headers=again).json()
    assert cast.owner.post(path, json={}, headers=again).json() == first
    change = {"current_password": PASSWORD, "new_password": "another long one"}
    for _ in range(2):
        answer = cast.owner.post("/api/me/password", json=change, headers=again)
        assert answer.status_code == 200
    kept = service.store.read_now(_answers)
    secret = first["url"].rsplit("/", 1)[1]
    assert len(kept) == 2
    assert all(secret not in row and "status" not in row for row in kept)


def _answers(connection: Connection) -> list[str]:
    return [row.answer for row in connection.execute(select(answers))]
