"""Output of models goes onto the tape in short commits while others push events."""

import asyncio
import math
from pathlib import Path
from typing import cast

import msgspec
import pytest
from sqlalchemy import Connection, insert

from tapeline import compose
from tapeline.http.core.services import Services
from tapeline.runs.engines.engine import Engine
from tapeline.runs.journals import journal
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.run import Run
from tapeline.runs.shim.spool import Spool
from tapeline.runs.supervision import collector
from tapeline.runs.supervision.collector import BESIDE_OTHERS, READ_AT_ONCE, Collector
from tapeline.settings import Settings
from tapeline.store.tables.runs import runs, versions
from tests.results.pnl.bookkeeping import new_model
from tests.runs.supervision.histories import a_run

LINES = 300  # less than a slow watcher may be behind
LINE = b"x" * 2000


class Journal:
    """The part of an engine that reads a journal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, _run: Run, offset: int, limit_bytes: int) -> Chunk:
        return journal.read(self.folder, offset, limit_bytes)


def printing_run(connection: Connection) -> Run:
    model, _ = new_model(connection, "signed")
    version = {
        "id": "v", "model_id": model, "number": 1, "description": "", "archive": "a", "size": 1,
        "manifest": {}, "plan": "nano", "python_version": "3.11", "created_at": 0.0,
        "created_by": "ada",
    }  # fmt: skip
    connection.execute(insert(versions).values(**version))
    run = a_run("printing", model=model, state="running")
    known = {column.name for column in runs.columns}
    values = {name: one for name, one in msgspec.structs.asdict(run).items() if name in known}
    connection.execute(insert(runs).values(**values))
    return run


async def commits_of(services: Services, folder: Path, *, is_gone: bool = False) -> list[int]:
    """Bytes of lines in each."""
    run = services.store.write_now(printing_run)
    reader = Collector(
        services.store,
        cast(Engine, Journal(folder)),
        services.inbox.appender,
        services.watchers,
        services.staging,
        services.quotas,
        services.background,
    )
    watcher = services.watchers.join(run.model_id)
    await (reader.collect_last if is_gone else reader.collect)(run.id)
    reader.close()
    return [len(news.records) * len(LINE) for news in watcher.take()]


@pytest.mark.parametrize(
    ("pushed_at", "limit"), [(math.inf, BESIDE_OTHERS), (-math.inf, READ_AT_ONCE)]
)
def test_a_commit_of_output_is_short_while_others_push(
    tmp_path: Path, pushed_at: float, limit: int
) -> None:
    folder = printed(tmp_path)
    with compose.open_services(Settings(data=tmp_path / "data")) as services:
        services.inbox.appender.pushed_at = pushed_at
        commits = asyncio.run(commits_of(services, folder))
    assert sum(commits) == LINES * len(LINE)
    assert limit / 2 < max(commits) <= limit + len(LINE)


def test_the_journal_of_a_run_that_is_gone_is_read_without_rests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "RESTING", math.inf)
    folder = printed(tmp_path)
    with compose.open_services(Settings(data=tmp_path / "data")) as services:
        services.inbox.appender.pushed_at = math.inf
        commits = asyncio.run(commits_of(services, folder, is_gone=True))
    assert sum(commits) == LINES * len(LINE)


def printed(tmp_path: Path) -> Path:
    """The folder of a run with a journal."""
    folder = tmp_path / "run"
    folder.mkdir()
    spool = Spool(str(folder), 10**9, str(folder), "printing", 10**9)
    for _ in range(LINES):
        spool.output(b"o", [LINE])
    spool.close(0.0)
    return folder
