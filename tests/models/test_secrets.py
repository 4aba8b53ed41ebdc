"""Secrets are sealed, told to runs alone, and outlive a change of the key."""

import base64
import time
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from tapeline.accounts import audit
from tapeline.accounts.actor import Actor
from tapeline.errors import CannotLaunch, IdempotencyKeyReused, Invalid, NoSuchSecret
from tapeline.models import models, onboarding, secrets
from tapeline.models.models import Model
from tapeline.store import encryption
from tapeline.store.encryption import NAME, RETIRED_SECONDS, Cipher, NotOurKey
from tapeline.store.once import RequestKey, once
from tapeline.store.store import Store
from tapeline.store.tables import runs

Scene = tuple[Store, Actor, Model, Cipher]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sealing-keys"
    made.mkdir()
    return made


@pytest.fixture
def scene(store: Store, folder: Path) -> Scene:
    user = store.write_now(
        onboarding.add_by_operator, email="ada@example.com", name="Ada", password_hash="x"
    )
    ada = Actor(kind="account", id=user.id, label=user.email)
    model = store.write_now(models.create, ada, user.id, name="x", type="strategy", description="")
    return store, ada, model, Cipher.of(folder)


def sealed(connection: Connection) -> list[str]:
    return [row.value for row in connection.execute(select(runs.secrets))]


def test_a_secret_is_sealed_listed_by_name_and_told_to_a_run(scene: Scene) -> None:
    store, ada, model, cipher = scene
    store.write_now(secrets.put, ada, cipher, model, "B_KEY", "first")
    store.write_now(secrets.put, ada, cipher, model, "B_KEY", "höchst\ngeheim")
    store.write_now(secrets.put, ada, cipher, model, "A_KEY", "x" * secrets.LONGEST_VALUE)
    assert [one.name for one in store.read_now(secrets.names, model.id)] == ["A_KEY", "B_KEY"]
    told = store.read_now(secrets.of_model, cipher, model.id)
    assert told == {"A_KEY": "x" * secrets.LONGEST_VALUE, "B_KEY": "höchst\ngeheim"}
    assert not any("geheim" in one or "x" * 20 in one for one in store.read_now(sealed))
    noted = store.read_now(audit.of_project, model.project_id, before=None, limit=10)
    assert [one.action for one in noted][:3] == ["secret_set"] * 3
    assert "geheim" not in repr(noted)
    store.write_now(secrets.remove, ada, model, "A_KEY")
    with pytest.raises(NoSuchSecret):
        store.write_now(secrets.remove, ada, model, "A_KEY")
    store.write_now(models.remove, ada, model.project_id, model.id)
    assert store.read_now(sealed) == []


NAMES_REFUSED = (
    "", "a", "KEY-1", "1KEY", "KEY ", "KEY=", "É", "K" * 129, "PATH", "PYTHONPATH", "LD_PRELOAD",
    "TAPELINE_URL", "SLATE_API_KEY", "API_KEY", "MODEL_ID", "HOME", "BACKTESTING",
)  # fmt: skip


def test_a_name_that_is_no_variable_or_the_platforms_own_is_refused(scene: Scene) -> None:
    store, ada, model, cipher = scene
    for name in NAMES_REFUSED:
        with pytest.raises(Invalid) as refused:
            store.write_now(secrets.put, ada, cipher, model, name, "x")
        assert refused.value.field == "name"
    assert store.read_now(sealed) == []


def test_values_and_their_number_are_bounded(scene: Scene) -> None:
    store, ada, model, cipher = scene
    with pytest.raises(Invalid, match="32,768"):
        store.write_now(secrets.put, ada, cipher, model, "KEY", "é" * 16_385)
    for number in range(secrets.MOST):
        store.write_now(secrets.put, ada, cipher, model, f"KEY_{number}", "x")
    with pytest.raises(Invalid, match="at most 100"):
        store.write_now(secrets.put, ada, cipher, model, "ONE_MORE", "x")
    store.write_now(secrets.put, ada, cipher, model, "KEY_1", "changed")


def test_secrets_outlive_a_new_key_also_for_a_server_that_is_running(
    scene: Scene, folder: Path
) -> None:
    store, ada, model, running = scene
    store.write_now(secrets.put, ada, running, model, "KEY", "hidden")
    before = store.read_now(sealed)
    old_key = (folder / NAME).read_bytes().split()[0]
    encryption.rotate(folder)
    # Between the two steps nothing is unreadable.
    assert store.read_now(secrets.of_model, running, model.id) == {"KEY": "hidden"}
    assert store.write_now(secrets.encrypt_again, Cipher.of(folder)) == 1
    encryption.forget_retired(folder, time.time() - RETIRED_SECONDS)
    assert store.read_now(sealed) != before
    assert store.read_now(secrets.of_model, running, model.id) == {"KEY": "hidden"}
    with pytest.raises(CannotLaunch, match="The secret KEY cannot be read"):
        store.read_now(secrets.of_model, Cipher(base64.b64decode(old_key)), model.id)
    assert (folder / NAME).stat().st_mode & 0o077 == 0


def test_an_old_key_is_forgotten_only_when_nothing_can_be_left_under_it(folder: Path) -> None:
    cipher = Cipher.of(folder)
    hidden = cipher.encrypt(b"x")
    encryption.rotate(folder)
    encryption.rotate(folder)
    encryption.forget_retired(folder, time.time() - RETIRED_SECONDS)
    assert len((folder / NAME).read_bytes().splitlines()) == 3
    assert cipher.decrypt(hidden) == b"x"
    lines = (folder / NAME).read_bytes().splitlines()
    aged = [line.split()[0] + b" %d" % (float(line.split()[1]) - RETIRED_SECONDS - 1)
            for line in lines[1:]]  # fmt: skip
    (folder / NAME).write_bytes(b"\n".join([lines[0], *aged]))
    encryption.forget_retired(folder, time.time() - RETIRED_SECONDS)
    assert len((folder / NAME).read_bytes().splitlines()) == 1
    with pytest.raises(NotOurKey):
        cipher.decrypt(hidden)


def test_remembered_answers_outlive_a_new_key(scene: Scene, folder: Path) -> None:
    store, _, _, cipher = scene
    asked: list[bytes] = []

    def ask(body: bytes) -> bytes:
        request = RequestKey("ada", "/x", "key", body, cipher)

        def act() -> bytes:
            asked.append(body)
            return b"answer %d" % len(asked)

        return store.write_now(once, request, 1000.0, act)

    assert ask(b"body") == b"answer 1"
    encryption.rotate(folder)
    assert ask(b"body") == b"answer 1"
    with pytest.raises(IdempotencyKeyReused):
        ask(b"another")
