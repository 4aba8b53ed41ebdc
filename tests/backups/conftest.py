"""An installation with a model's tape, on each database, and commands about its backups."""

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tapeline.ids import new_id
from tapeline.settings import Settings
from tests import spawner
from tests.conftest import DATABASES, database_url, let_in, run_sql, running
from tests.pushing import ORDER, pushing
from tests.waiting import SLOW_MACHINE

LINES = 5


@dataclass(frozen=True)
class Installation:
    """One whose server is stopped: five lines and an order on the tape of its only model."""

    settings: Settings
    model_id: str

    @property
    def options(self) -> list[str]:
        return options_of(self.settings)

    def backup(self, to: Path) -> Path:
        does("backup", str(to), *self.options)
        return to


def options_of(settings: Settings) -> list[str]:
    database = ["--database", settings.database] if settings.database else []
    return ["--data", str(settings.data), *database]


def tapeline(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The real command, in a process of its own."""
    return spawner.run(
        arguments,
        environment={"HOME": "/nonexistent", **spawner.CLEAN, **variables},
        cwd=Path("/"),
        seconds=SLOW_MACHINE,
    )


def does(*arguments: str, **variables: str) -> str:
    ended = tapeline(*arguments, **variables)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def gets(*arguments: str, **variables: str) -> Any:
    return json.loads(does(*arguments, "--json", **variables))


def refused(*arguments: str, **variables: str) -> str:
    """What a command says that must not work: one line, and no traceback."""
    ended = tapeline(*arguments, **variables)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    said = ended.stderr.strip().splitlines()
    assert len(said) == 1, ended.stderr
    assert "Traceback" not in said[0]
    return said[0].removeprefix("tapeline: ")


def names_in(folder: Path) -> list[str]:
    """Everything in it, drafts included."""
    return sorted(one.name for one in folder.iterdir())


def forge(data: Path) -> None:
    """Change an event behind its seal."""
    with closing(sqlite3.connect(data / "tapeline.db")) as database, database:
        ((page,),) = database.execute(
            "select content from pages where instr(content, 'line 3')"
        ).fetchall()
        database.execute(
            "update pages set content = ? where content = ?",
            (page.replace(b"line 3", b"line 9"), page),
        )


def installed(settings: Settings, password_hash: str) -> Installation:
    before = os.umask(0o022)
    with running(settings) as service:
        owner = let_in(service, "ada@example.com", password_hash)
        with owner.client, pushing(service, owner) as model:
            for number in range(LINES):
                model.push("/v1/live/log", {"line": f"line {number}"})
            model.push("/v1/live/spot-market", ORDER)
    os.umask(before)
    return Installation(settings, model.id)


@pytest.fixture(scope="session")
def installations(
    tmp_path_factory: pytest.TempPathFactory,
    empty: Callable[[str, Path], Settings],
    password_hash: str,
) -> Callable[[str], Installation]:
    known: dict[str, Installation] = {}

    def get(kind: str) -> Installation:
        if kind not in known:
            known[kind] = installed(empty(kind, tmp_path_factory.mktemp(kind) / "d"), password_hash)
        return known[kind]

    return get


@pytest.fixture(params=DATABASES)
def installation(
    request: pytest.FixtureRequest, installations: Callable[[str], Installation]
) -> Installation:
    """On each database; nobody may change it."""
    return installations(request.param)


@pytest.fixture
def on_sqlite(installations: Callable[[str], Installation]) -> Installation:
    """Where the database makes no difference."""
    return installations("sqlite")


@pytest.fixture
def empty_database(postgres_server: str) -> str:
    name = f"t_{new_id()}"
    run_sql(postgres_server, f"create database {name}")
    return database_url(postgres_server, name)
