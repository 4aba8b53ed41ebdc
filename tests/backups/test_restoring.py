"""`tapeline restore` makes a data directory from a backup, or says why not and leaves nothing."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import select

from tapeline import compose
from tapeline.runs.holding import holds
from tapeline.runs.sandbox import ownership
from tapeline.settings import Settings
from tapeline.store.tables.tape import tapes
from tapeline.tape.reading import whole_tape
from tapeline.tape.roots import trees
from tests import needs
from tests.backups.conftest import (
    LINES,
    Installation,
    forge,
    gets,
    names_in,
    options_of,
    refused,
    tapeline,
)
from tests.conftest import DATABASES, run_sql


def lines_of(settings: Settings, model_id: str) -> list[str]:
    """What is on the tape of the model, in a database that needs no migration."""
    with compose.open_store(settings) as store:
        here = select(tapes.c.no).where(tapes.c.model_id == model_id)
        records = store.read_now(
            lambda connection: list(whole_tape.records(connection, connection.scalars(here).one()))
        )
    bodies = [msgspec.json.decode(one.body) for one in records]
    return [one["line"] for one in bodies if "line" in one]


def log_of(settings: Settings) -> str | None:
    with compose.open_store(settings) as store:
        return store.read_now(trees.log_id)


@pytest.mark.parametrize("to", DATABASES)
def test_a_backup_is_restored_on_either_database(
    installation: Installation, to: str, tmp_path: Path, empty_database: str
) -> None:
    with compose.open_store(installation.settings) as store:
        store.write_now(trees.ensure_log)
    backup = installation.backup(tmp_path / "backup")
    before = sorted(backup.rglob("*"))
    target = Settings(data=tmp_path / "new")
    if to == "postgresql":
        target = replace(target, database=empty_database)
    told = gets("restore", str(backup), *options_of(target))
    assert (told["models"], told["events"], told["tapes"]) == (1, LINES + 1, 1)
    assert told["newest"] is not None
    assert sorted(backup.rglob("*")) == before, "the backup itself is only read"
    assert (target.data / "tapeline.db").exists() == (to == "sqlite")
    assert not (target.data / "backup.json").exists()
    assert target.data.stat().st_mode & 0o077 == 0
    hold = holds.on_all(target.data)
    assert hold is not None
    assert "It was restored from" in hold.why
    assert log_of(target) not in (None, log_of(installation.settings)), "the old one has ended"
    assert lines_of(target, installation.model_id) == [f"line {n}" for n in range(LINES)]
    assert names_in(target.data / "keys") == names_in(installation.settings.data / "keys")


def test_what_is_there_already_is_refused(
    on_sqlite: Installation, tmp_path: Path, empty_database: str
) -> None:
    backup = on_sqlite.backup(tmp_path / "backup")
    (tmp_path / "used").mkdir()
    (tmp_path / "used/file").touch()
    said = refused("restore", str(backup), "--data", str(tmp_path / "used"))
    assert "already exists. Restore to a new place" in said
    (tmp_path / "empty").mkdir()
    gets("restore", str(backup), "--data", str(tmp_path / "empty"), "--database", empty_database)
    again = ("--data", str(tmp_path / "other"), "--database", empty_database)
    assert "is not empty" in refused("restore", str(backup), *again)
    run_sql(empty_database, "update alembic_version set version_num = '0001'")
    assert "another version of Tapeline" in refused("restore", str(backup), *again)
    assert names_in(tmp_path) == ["backup", "empty", "used"]


def test_what_a_killed_restore_left_is_removed_and_nothing_else(
    on_sqlite: Installation, tmp_path: Path
) -> None:
    backup = on_sqlite.backup(tmp_path / "backup")
    others = [".new.notes.part", ".newer.12345.part", ".new.12345"]
    for name in (".new.12345.part", *others):
        (tmp_path / name / "keys").mkdir(parents=True)
    (tmp_path / ".new.999.part").touch()  # a file of another program
    gets("restore", str(backup), "--data", str(tmp_path / "new"))
    assert names_in(tmp_path) == sorted([*others, ".new.999.part", "backup", "new"])


def cut(backup: Path) -> None:
    os.truncate(backup / "tapeline.db", (backup / "tapeline.db").stat().st_size // 2)


def garble(backup: Path) -> None:
    with (backup / "tapeline.db").open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 4096)


def empty_out(backup: Path) -> None:
    (backup / "tapeline.db").write_bytes(b"not a database" * 1000)


def forge_signature(backup: Path) -> None:
    with closing(sqlite3.connect(backup / "tapeline.db")) as database, database:
        database.execute("update checkpoints set signature = zeroblob(64)")


def lose_keys(backup: Path) -> None:
    shutil.rmtree(backup / "keys")


def empty_key(backup: Path) -> None:
    os.truncate(backup / "keys" / "tape-signing.key", 0)


def lose_state(backup: Path) -> None:
    shutil.rmtree(backup / "state" / "m")


def change_state(backup: Path) -> None:
    (backup / "state" / "m" / "positions.json").write_text("{ }")


def forget_list(backup: Path) -> None:
    """As a version before this one made it."""
    made = json.loads((backup / "backup.json").read_text())
    del made["files"]
    (backup / "backup.json").write_text(json.dumps(made))


def lose_keys_without_a_list(backup: Path) -> None:
    forget_list(backup)
    lose_keys(backup)


def lose_database(backup: Path) -> None:
    (backup / "tapeline.db").unlink()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (cut, "The database in it"),
        (garble, "The database in it"),
        (empty_out, "The database in it cannot be read: file is not a database"),
        (forge, "is broken at event 4. Look for an earlier backup"),
        (forge_signature, "does not match its signature"),
        (lose_keys, "These files are missing or changed: keys/"),
        (empty_key, "These files are missing or changed: keys/tape-signing.key."),
        (lose_state, "These files are missing or changed: state/m/positions.json."),
        (change_state, "These files are missing or changed: state/m/positions.json."),
        (lose_keys_without_a_list, "is incomplete. The key tape-signing.key, with which"),
        (lose_database, "has no database in it"),
        (shutil.rmtree, "is not a backup"),
    ],
)
def test_a_damaged_backup_is_refused_and_leaves_nothing(
    damage: Callable[[Path], None], said: str, on_sqlite: Installation, tmp_path: Path
) -> None:
    backup = _with_state(on_sqlite, tmp_path)
    damage(backup)
    assert said in refused("restore", str(backup), "--data", str(tmp_path / "new"))
    assert set(names_in(tmp_path)) <= {"backup"}


def _with_state(installation: Installation, tmp_path: Path) -> Path:
    """A backup of a copy of the data in which a model has left a file."""
    data = tmp_path.with_name(f"{tmp_path.name}-data")
    shutil.copytree(installation.settings.data, data, ignore=shutil.ignore_patterns("runs"))
    (data / "state" / "m").mkdir(parents=True)
    (data / "state" / "m" / "positions.json").write_text("[]\n")
    gets("backup", str(tmp_path / "backup"), "--data", str(data))
    return tmp_path / "backup"


def test_a_server_without_the_keys_of_its_database_does_not_make_new_ones(
    on_sqlite: Installation, tmp_path: Path
) -> None:
    backup, data = on_sqlite.backup(tmp_path / "backup"), tmp_path / "new"
    lose_keys(backup)
    told = gets("restore", str(backup), "--data", str(data), "--keep-broken")
    assert "is incomplete" in told["broken"][0]
    said = refused("up", "--port", "0", "--data", str(data))
    assert "The key tape-signing.key, with which its tapes are signed, is missing." in said
    assert "tapeline keys replace-lost" in said
    assert not (data / "keys").exists()
    doctor = tapeline("doctor", "--data", str(data))
    assert "The key tape-signing.key, with which its tapes are signed, is missing" in doctor.stdout
    (data / "keys").mkdir()
    (data / "keys" / "tape-signing.key").touch()
    said = refused("up", "--port", "0", "--data", str(data))
    assert "The key tape-signing.key, with which its tapes are signed, is empty or damaged." in said
    assert "tapeline keys replace-lost" in said
    assert gets("keys", "replace-lost", "--yes", "--data", str(data))["replaced"]
    assert (data / "keys" / "tape-signing.key").read_bytes()
    (data / "keys" / "store.key").write_bytes(b"once more")
    assert gets("keys", "replace-lost", "--yes", "--data", str(data))["replaced"]
    assert (data / "keys" / "store.key.damaged").read_bytes() == b"once more"
    assert (data / "keys" / "tape-signing.key.damaged").read_bytes() == b""


@needs.root("each model has a user of its own")
def test_a_backup_that_lost_its_owners_is_restored_with_them(
    on_sqlite: Installation, tmp_path: Path
) -> None:
    """As `cp -r` and `scp` lose them."""
    backup = on_sqlite.backup(tmp_path / "backup")
    for model in (on_sqlite.model_id, "unknown"):
        (backup / "state" / model / "deep").mkdir(parents=True)
        (backup / "state" / model / "deep" / "n").touch()
    gets("restore", str(backup), "--data", str(tmp_path / "new"))
    state = tmp_path / "new" / "state"
    ours = {one.stat().st_uid for one in (state / on_sqlite.model_id).rglob("*")}
    assert ours == {ownership.uid_of(1)}
    assert (state / "unknown" / "deep").stat().st_uid == 0


def test_a_broken_tape_is_kept_if_the_operator_insists(
    on_sqlite: Installation, tmp_path: Path, empty_database: str
) -> None:
    backup = on_sqlite.backup(tmp_path / "backup")
    forge(backup)
    here = ("--data", str(tmp_path / "new"), "--database", empty_database)
    told = gets("restore", str(backup), *here, "--keep-broken")
    assert told["tapes"] == 0
    assert told["broken"] == [f"The tape of model {on_sqlite.model_id} is broken at event 4."]


def test_a_database_that_cannot_be_reached_is_said_before_anything_is_copied(
    on_sqlite: Installation, tmp_path: Path
) -> None:
    backup = on_sqlite.backup(tmp_path / "backup")
    gone = ("--database", "postgresql://nobody@127.0.0.1:1/none")
    said = refused("restore", str(backup), "--data", str(tmp_path / "new"), *gone)
    assert "cannot be filled" in said
    assert names_in(tmp_path) == ["backup"]
