"""What a run printed on a host that was lost arrives when the host is back: once, and marked."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tapeline.runs.engines.engine import Engine, Sight, Sights
from tapeline.runs.journals import journal
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.journals.late import ARRIVED
from tapeline.runs.run import Run
from tapeline.runs.shim.spool import Spool
from tapeline.runs.supervision import collector as collecting_journals
from tapeline.runs.supervision import late_endings
from tapeline.runs.supervision.collector import Collector
from tapeline.tape.events import kinds
from tests.conftest import Cast, Service, on_both
from tests.pushing import pushing
from tests.runs.supervision.leased import Rows, bodies, fail_over, records

DIED = OSError("the server died here")


pytestmark = on_both


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    shared_service.services.background.leads = lambda: False  # tests take these turns themselves
    return shared_service


@pytest.fixture
def rows(service: Service, cast: Cast) -> Iterator[Rows]:
    with pushing(service, cast.owner) as model:
        yield Rows(service, cast, model.id)


class Back:
    """A host that is back, with the journal that a real spool wrote there."""

    def __init__(self, rows: Rows, folder: Path) -> None:
        self.rows, self.folder = rows, folder
        self.alive = False
        self.reads_left = 1000
        self.stopped: list[str] = []
        folder.mkdir(exist_ok=True)

    def prints(self, *lines: str, **state: Any) -> None:
        spool = Spool(str(self.folder), 10**9, str(self.folder), "late", 10**9)
        for line in lines:
            spool.output(b"o", [line.encode()])
        if state:
            spool.state(**state)
        spool.close(0.0)

    def look(self, runs: list[Run], *, closely: bool) -> Sights:
        assert closely
        return Sights({runs[0].id: Sight(alive=self.alive, last_seen=77.0)}, {}, {})

    def stop(self, run: Run, *, now: bool = False) -> None:
        assert now
        self.stopped.append(run.id)
        self.alive = False

    def read(self, _run: Run, offset: int, limit_bytes: int) -> Chunk:
        self.reads_left -= 1
        if self.reads_left < 0:
            raise DIED
        return journal.read(self.folder, offset, limit_bytes)

    def arrive(self, run: Run) -> bool:
        parts, engine = self.rows.service.services, cast(Engine, self)
        collector = Collector(
            self.rows.store, engine, parts.inbox.appender, parts.watchers, parts.staging,
            parts.quotas, parts.background,
        )  # fmt: skip
        try:
            return asyncio.run(
                late_endings.are_stored(self.rows.store, engine, collector, "n1", run.id)
            )
        finally:
            collector.close()


@pytest.fixture
def back(rows: Rows, tmp_path: Path) -> Back:
    return Back(rows, tmp_path / "late")


def lines(rows: Rows, kind: kinds.Kind = kinds.LOG) -> list[str]:
    return [one["line"] for one in bodies(rows, kind)]


ENDED = {
    "event": "ended", "attempt": 1, "cause": "lease", "exit_code": None, "signal": 9,
}  # fmt: skip


def lost(rows: Rows, **more: Any) -> Run:
    run = rows.let_lapse(rows.add("lost", 60.0, **{"kind": "live", "state": "running", **more}))
    fail_over(rows)
    return rows.get(run)


def test_late_lines_are_stored_once_between_two_notes(rows: Rows, back: Back) -> None:
    run = lost(rows)
    before = len(lines(rows))
    back.prints("one", "two", **ENDED)
    assert back.arrive(run)
    opening, *printed, ended, closing = lines(rows)[before:]
    assert printed == ["one", "two"]
    assert opening.startswith(f"[The host n1 is back. Run {run.id} printed the following lines")
    assert ended == "Stopped: its node could not renew its lease."
    assert closing.startswith(f"[End of the lines that arrived late. Run {run.id} ended at 2")
    found = records(rows, kinds.LOG)[before:]
    assert {one.run_id for one in found} == {run.id}
    now = rows.get(run)
    assert now.ended_at == found[-1].time
    assert (now.state, now.reason) == ("stopped", run.reason + ARRIVED)
    assert [one["message"] for one in bodies(rows, kinds.LIFECYCLE)] == ["Stopped"]
    after = lines(rows)
    assert back.arrive(now)
    assert lines(rows) == after


def test_nothing_is_doubled_when_the_server_dies_in_between(
    rows: Rows, back: Back, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting_journals, "READ_AT_ONCE", 60)
    run = lost(rows)
    before = len(lines(rows))
    printed = [f"line {number} of a model" for number in range(20)]
    back.prints(*printed, **ENDED)
    for reads in (1, 2, 3, 5):
        back.reads_left = reads
        with pytest.raises(OSError, match="died"):
            back.arrive(run)
    back.reads_left = 1000
    assert back.arrive(run)
    found = lines(rows)[before:]
    assert found[1:-2] == printed
    assert sum(one.startswith("[") for one in found) == 2


def test_a_run_that_still_lives_there_is_killed_before_its_last_lines_are_read(
    rows: Rows, back: Back
) -> None:
    run = lost(rows)
    back.prints("one")
    back.alive = True
    assert not back.arrive(run), "ask again"
    assert back.stopped == [run.id]
    assert "one" not in lines(rows)
    assert back.arrive(run)
    assert "one" in lines(rows)


def test_a_node_with_nothing_more_to_say_adds_nothing(rows: Rows, back: Back) -> None:
    run = lost(rows)
    before = lines(rows)
    assert back.arrive(run)
    assert lines(rows) == before
    assert rows.get(run) == run


def test_a_host_that_was_declared_gone_says_when_its_run_ended(rows: Rows, back: Back) -> None:
    run = rows.add("gone", None, kind="live")
    rows.change(run, ended_at=50.0, reason="Its host n1 was declared gone by ada.")
    for _ in range(2):
        assert back.arrive(run)
        said = f"[The host n1 is back: run {run.id} went on there until 1970-01-01 00:01:17 UTC"
        assert [one.startswith(said) for one in lines(rows)] == [True]
        assert rows.get(run).ended_at == 77.0


def test_the_late_result_of_a_backtest_is_refused_in_words(rows: Rows, back: Back) -> None:
    run = lost(rows, kind="backtest", backtest_id=f"b-{rows.model}")
    finished = {"event": "finished", "outcome": "exited", "exit_code": 0}
    back.prints("almost done", **finished)
    assert back.arrive(run)
    found = lines(rows, kinds.BACKTEST_LOG)
    assert "almost done" in found
    assert "Its result is not stored, because the backtest was started again or given up." in found
    assert not bodies(rows, kinds.BACKTEST_STATUS)


def test_output_of_other_ended_runs_is_left_alone(rows: Rows, back: Back) -> None:
    run = rows.add("ended", None, kind="live")
    rows.change(run, ended_at=50.0, reason="Stopped by ada.")
    back.prints("more")
    assert back.arrive(run)
    assert lines(rows) == []
