"""A model owns rows and files in many places; deleted, it leaves none of them, anywhere.

One of everything is made, by rows of any content where the real way would take minutes; then the
model, its project or the demo goes, and every table and folder is as it was before.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import (
    BigInteger,
    Boolean,
    Connection,
    Double,
    Integer,
    LargeBinary,
    Table,
    func,
    insert,
    select,
)

from tapeline.accounts import users
from tapeline.accounts.actor import Actor
from tapeline.cli.demo import account, removal
from tapeline.models import models, onboarding, projects
from tapeline.runs.engines import local, model_files
from tapeline.runs.environments.cache import Made
from tapeline.settings import Settings
from tapeline.store import belongings, upsert
from tapeline.store.store import Store
from tapeline.store.tables import core
from tapeline.store.tables.core import metadata
from tapeline.store.tables.watch import channels, halts
from tapeline.tape import cleanup, tapes
from tests import needs
from tests.conftest import run
from tests.deep_trees import KINDS, OPERATOR, as_operator, nest

OWNED = (
    *belongings.WITH_THE_ROW,
    *belongings.OF_UPLOADS,
    *belongings.ON_THE_TAPE,
    *belongings.LAST,
)
OF_ITS_OWN = {
    "versions": "version", "runs": "run", "shares": "share", "rules": "rule",
    "incidents": "incident", "keys": "key",
}  # fmt: skip
"""Tables whose rows others point at."""
HALT = {"id": "halt", "why": "", "at": 1.0, "by": "operator"}
"""Of everything: it outlives every model that it stopped."""
CHANNEL = {
    "id": "channel", "scope": "server", "name": "mail", "kind": "apprise", "address": "",
    "shown": "", "created_at": 1.0, "created_by": "operator",
}  # fmt: skip
"""Of the installation: so does who is told."""
BY_OTHERS = {"audit", "facts", "deleted_models"}  # these outlive models


def counts(connection: Connection) -> dict[str, int]:
    return {
        table.name: connection.scalar(select(func.count()).select_from(table)) or 0
        for table in metadata.sorted_tables
        if table.name not in BY_OTHERS
    }


def test_every_table_says_whether_it_is_a_models() -> None:
    listed = [*OWNED, *belongings.OF_OTHERS]
    assert len(listed) == len(set(listed))
    assert {one.name for one in listed} == set(metadata.tables), "list a new table as somebody's"


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: str(table.name))
def test_a_table_that_names_models_tapes_or_uploads_is_cleared_by_that(table: Table) -> None:
    by_name = {"tape": belongings.ON_THE_TAPE, "upload": belongings.OF_UPLOADS}
    for column, group in by_name.items():
        if column in table.c and not table.c[column].foreign_keys:
            cleared = table in group or (table.name == "discards" and column == "tape")
            assert cleared or (table.name == "backtests" and column == "upload"), column
    if table in belongings.WITH_THE_ROW:
        assert _goes_with_models(table)
    elif _goes_with_models(table):
        pytest.fail("the database deletes its rows with a model: list it in WITH_THE_ROW")
    if "model_id" in table.c:
        assert table in (*belongings.WITH_THE_ROW, *belongings.LAST)


def _goes_with_models(table: Table) -> bool:
    for column in table.c:
        for key in column.foreign_keys:
            if key.ondelete == "CASCADE":
                target = key.column.table
                if target is core.models or _goes_with_models(target):
                    return True
    return False


class Everything:
    """A model with one of everything that a model can have."""

    def __init__(self, store: Store, data: Path, owner: Actor, project_id: str) -> None:
        self.store, self.data, self.owner, self.project = store, data, owner, project_id
        self.model = store.write_now(
            models.create, owner, project_id, name="M", type="strategy", description=""
        ).id
        self.tape = store.write_now(tapes.open_tape, self.model)
        self.known: dict[str, Any] = {
            "model_id": self.model,
            "project_id": project_id,
            "tape": self.tape,
            "upload": f"upload-{self.model}",
            "version_id": f"version{self.model}",
            "run_id": f"run{self.model}",
            "key_id": f"key{self.model}",
            "share_id": f"share{self.model}",
            "halt_id": HALT["id"],
            "channel_id": CHANNEL["id"],
            "rule_id": f"rule{self.model}",
            "incident_id": f"incident{self.model}",
            "scope": belongings.scope_of(self.tape),
            "archive": f"{self.tape:064d}",
            "ended_at": 1.0,
            "after": time.time() + 1e6,  # as if it were being staged
        }
        store.write_now(lambda connection: upsert.claim(connection, halts, **HALT))
        store.write_now(lambda connection: upsert.claim(connection, channels, **CHANNEL))
        for table in [one for one in metadata.sorted_tables if one in OWNED]:
            if table.name != "tapes":
                store.write_now(self._put, table)
        # What is only staged, or was replaced, is no backtest's.
        self.known["upload"] = f"loose-{self.model}"
        for table in belongings.OF_UPLOADS:
            store.write_now(self._put, table)
        self._leave_files()

    def _put(self, connection: Connection, table: Table) -> None:
        row = {column.name: self._value(table, column) for column in table.c}
        row.pop("no", None)
        connection.execute(insert(table).values(row))

    def _value(self, table: Table, column: Any) -> Any:
        own = OF_ITS_OWN.get(table.name)
        if own is not None and column.name == "id":
            return f"{own}{self.model}"
        if column.name in self.known:
            return self.known[column.name]
        if isinstance(column.type, LargeBinary):
            return b"{}"
        if isinstance(column.type, Boolean):
            return False
        if isinstance(column.type, Integer | BigInteger | Double):
            return 1
        return f"{column.name} {self.model}"

    def _leave_files(self) -> None:
        for file in (
            self.data / "state" / self.model / "deep" / "weights",
            self.data / "versions" / str(self.known["archive"]) / "main.py",
            self.data / "runs" / "locks" / self.model,
            self.data / "environments" / "made" / f"of-{self.model}" / "bin" / "python",
        ):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x")
        made = Made("lock", "python", True, archive=str(self.known["archive"]))
        record = self.data / "environments" / "made" / f"of-{self.model}.json"
        record.write_bytes(msgspec.json.encode(made))
        note = self.data / "environments" / "requests" / f"for-{self.model}.json"
        note.parent.mkdir(exist_ok=True)
        note.write_text(json.dumps({"key": record.stem, "lock": "", "resolved_at": 1.0}))

    def files(self) -> list[Path]:
        return [
            one
            for one in self.data.rglob("*")
            if self.model in one.name or str(self.known["archive"]) in one.name
        ]


@pytest.fixture
def make(store: Store, settings: Settings) -> Callable[[], Everything]:
    """In the demo's project, which is one like any other."""
    project = account.prepare(store, settings.data).project_id
    return lambda: Everything(store, settings.data, _account(store, account.EMAIL), project)


@pytest.fixture
def other(store: Store, settings: Settings) -> Everything:
    """Somebody else's, who must lose nothing."""
    ada = store.write_now(
        onboarding.add_by_operator, email="ada@example.com", name="Ada", password_hash="hash"
    )
    return Everything(store, settings.data, _account(store, ada.email), ada.id)


def _account(store: Store, email: str) -> Actor:
    user = store.read_now(users.find, email)
    assert user is not None
    return Actor(kind="account", id=user.id, label=user.email)


def clear(store: Store, data: Path) -> None:
    """What the service does beside the requests."""
    model_files.remove(store, data)
    run(cleanup.clean_up(store))
    run(cleanup.clean_up_discards(store, time.time()))


def remove_model(store: Store, settings: Settings, made: Everything) -> None:
    store.write_now(models.remove, made.owner, made.project, made.model)
    clear(store, settings.data)


def remove_project(store: Store, settings: Settings, made: Everything) -> None:
    store.write_now(projects.remove, made.owner, made.project)
    clear(store, settings.data)


def remove_demo(store: Store, settings: Settings, made: Everything) -> None:
    # In a thread: it runs a loop of its own, and the browser's driver keeps one in the main one.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(removal.remove, store, settings, account.EMAIL).result()


@pytest.mark.parametrize("remove", [remove_model, remove_project, remove_demo])
def test_nothing_is_left_of_a_model_that_had_one_of_everything(
    store: Store,
    settings: Settings,
    other: Everything,
    make: Callable[[], Everything],
    remove: Callable[[Store, Settings, Everything], None],
) -> None:
    before, files = store.read_now(counts), other.files()
    made = make()
    full = store.read_now(counts)
    assert [one.name for one in OWNED if full[one.name] <= before[one.name]] == []
    assert len(made.files()) >= 3
    remove(store, settings, made)
    after = store.read_now(counts)
    assert {one.name: after[one.name] - before[one.name] for one in OWNED} == dict.fromkeys(
        [one.name for one in OWNED], 0
    )
    assert made.files() == []
    assert other.files() == files


def test_environments_of_a_project_go_with_it_and_those_of_everybody_stay(
    store: Store, settings: Settings, make: Callable[[], Everything]
) -> None:
    made, folder = make(), settings.data / "environments" / "made"
    for name, project in (("own", made.project), ("gone", "gone"), ("shared", "")):
        (folder / name).mkdir()
        record = Made("lock", "python", built=bool(project), project=project)
        (folder / f"{name}.json").write_bytes(msgspec.json.encode(record))
    model_files.remove(store, settings.data)
    assert {one.name for one in folder.iterdir()} >= {"own", "own.json", "shared", "shared.json"}
    assert not (folder / "gone").exists()
    remove_project(store, settings, made)
    assert {one.name for one in folder.iterdir()} == {"shared", "shared.json"}


def test_what_another_database_knows_nothing_of_is_left_alone(
    store: Store, settings: Settings
) -> None:
    """A server that is started on a wrong or an older database must not empty the state folders."""
    unknown = settings.data / "state" / "unknown"
    unknown.mkdir(parents=True)
    clear(store, settings.data)
    assert unknown.exists()


def test_what_is_still_running_keeps_its_folders_until_it_is_ended(
    store: Store, settings: Settings, make: Callable[[], Everything]
) -> None:
    made = make()
    folder = settings.data / "runs" / str(made.known["run_id"])
    folder.mkdir(parents=True)
    (folder / model_files.NOTE).write_text(made.model)
    other = make()
    for one in (made, other):
        store.write_now(models.remove, one.owner, one.project, one.model)
    model_files.remove(store, settings.data)
    assert (settings.data / "state" / made.model).exists()
    assert not other.files(), "it does not wait for the files of another"
    shutil.rmtree(folder)
    model_files.remove(store, settings.data)
    assert not (settings.data / "state" / made.model).exists()


@pytest.mark.parametrize("kind", KINDS)
def test_folders_of_any_depth_go_and_keep_nothing_of_others(
    store: Store, settings: Settings, make: Callable[[], Everything], kind: str
) -> None:
    """A run of an earlier version, which made no note; it ended, and its folder is still there."""
    made, other = make(), make()
    nest(settings.data / "state" / made.model, *KINDS[kind])
    ended = settings.data / "runs" / str(made.known["run_id"])
    nest(ended / "work", *KINDS[kind])
    for one in (made, other):
        store.write_now(models.remove, one.owner, one.project, one.model)
    assert model_files.remove(store, settings.data) == {}
    assert not any((settings.data / "state").iterdir())
    local.clear(settings.data / "runs", ended.name)
    assert not made.files() + other.files()


@needs.root("only root can be somebody else")
def test_a_folder_that_cannot_be_removed_is_told_and_keeps_nothing_of_others() -> None:
    data = Path(tempfile.mkdtemp(prefix="files-"))
    for model in ("first", "second"):
        (data / "state" / model / "in").mkdir(parents=True)
        (data / "runs" / model / "in").mkdir(parents=True)
        (data / "state" / model / "in" / "file").touch()
        (data / "runs" / model / "in" / "file").touch()
    theirs = {data / "state" / "first" / "in", data / "runs" / "first" / "in"}
    for one in {data, *data.rglob("*")} - theirs:
        os.chown(one, OPERATOR, OPERATOR)
    try:
        with as_operator():
            failed = model_files.discard(data, model_files.Doomed(["first", "second"]))
            with pytest.raises(PermissionError):
                local.clear(data / "runs", "first")
            local.clear(data / "runs", "second")
        assert list(failed) == ["model first"]
        assert isinstance(failed["model first"], PermissionError)
        assert [one.name for one in (data / "state").iterdir()] == ["first"]
        assert model_files.of_runs(data) == {"first"}
    finally:
        shutil.rmtree(data)
