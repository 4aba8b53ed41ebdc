"""What the store keeps of remembered answers cannot be read or guessed from the database alone."""

from pathlib import Path

import pytest
from cryptography.exceptions import InvalidTag
from sqlalchemy import Connection, select

from tapeline.store.encryption import NAME, Seal
from tapeline.store.tables.core import answers
from tests.conftest import PASSWORD, Cast, Service


def test_what_is_hidden_can_be_shown_with_the_same_key_only(tmp_path: Path) -> None:
    ours = Seal.of(tmp_path)
    hidden = ours.hide(b"a secret link")
    assert "secret" not in hidden
    assert Seal.of(tmp_path).show(hidden) == b"a secret link"
    assert ours.hide(b"a secret link") != hidden
    (tmp_path / NAME).unlink()
    with pytest.raises(InvalidTag):
        Seal.of(tmp_path).show(hidden)


def test_a_mark_is_the_same_for_the_same_content_under_one_key(tmp_path: Path) -> None:
    ours = Seal.of(tmp_path)
    assert ours.marks(b"x") == Seal.of(tmp_path).marks(b"x") != ours.marks(b"y")
    assert Seal(bytes(32)).marks(b"x") != ours.marks(b"x")


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
