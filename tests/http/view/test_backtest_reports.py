"""The life of a report: made, made anew, failed, deleted with its backtest."""

from typing import Any

import pytest
from sqlalchemy import Connection, delete, func, select

from tapeline.results.backtests import report, reporter, reports
from tapeline.results.metrics.report_fields import Row
from tapeline.store.tables import results, tape
from tests.conftest import on_both
from tests.http.view.pushed_backtests import PATH, computed, result, rows_in, sweep
from tests.pushing import Model
from tests.results.metrics.series import walk
from tests.waiting import wait_for


def test_a_replaced_result_is_computed_anew_and_the_old_report_goes(own_model: Model) -> None:
    own_model.push(PATH, result(seed=1))
    first = computed(own_model)
    own_model.push(PATH, result(seed=2))
    second = computed(own_model)
    assert first["sharpe"]["value"] != second["sharpe"]["value"]
    sweep(own_model)
    assert rows_in(own_model.service, results.reports) == {"reports": 1}
    assert own_model.get("/backtests/b1")["trials"]["count"] == 1
    assert own_model.first_break() is None


@on_both
def test_a_deleted_backtest_is_gone_at_once_and_stays_a_trial(own_model: Model) -> None:
    for name, seed in (("b1", 1), ("b2", 2)):
        own_model.push(PATH, result(name, seed=seed))
        computed(own_model, name)
    own_model.push("/v1/backtest/log", {"backtest_id": "b1", "line": "x"})
    size, address = own_model.size(), f"/api/models/{own_model.id}/backtests/b1"
    assert own_model.owner.delete(address).json() == {"status": "success"}
    for path in ("", "/equity", "/round-trips", "/logs", "/tear-sheet", "/export.csv"):
        assert own_model.owner.get(address + path).status_code == 404
    assert own_model.owner.delete(address).status_code == 404
    assert [one["backtest_id"] for one in own_model.items("/backtests")] == ["b2"]
    assert own_model.get("/backtests/b2")["trials"]["count"] == 2
    sweep(own_model)
    tables = (results.reports, results.discards)
    assert rows_in(own_model.service, *tables) == {"reports": 1, "discards": 0}
    store = own_model.service.store
    uploads = store.read_now(lambda c: set(c.scalars(select(tape.pieces.c.upload))))
    assert len(uploads) == 1
    # The chain runs through its events: they stay, and still fit.
    assert (own_model.size(), own_model.first_break()) == (size, None)
    own_model.push(PATH, result("b1", seed=3))
    assert computed(own_model)["trades"]["value"] == 3
    assert own_model.get("/backtests/b1")["trials"]["count"] == 2


@on_both
def test_a_deleted_model_leaves_no_reports_and_no_trials(own_model: Model) -> None:
    own_model.push(PATH, result())
    computed(own_model)
    reference = {"projectId": own_model.project_id, "modelId": own_model.id}
    assert own_model.owner.post("/model/delete", json=reference).status_code == 200
    sweep(own_model)
    tables = [getattr(results, name) for name in ("reports", "report_pieces", "trials")]
    assert set(rows_in(own_model.service, *tables).values()) == {0}


def test_what_cannot_be_computed_is_said_and_others_go_on(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug of ours in one report must not stop the others."""
    make = report.make

    def broken(contents: Any, header: Any) -> Any:
        if header["backtest_id"] == "bad":
            raise ZeroDivisionError
        return make(contents, header)

    monkeypatch.setattr(report, "make", broken)
    model.push(PATH, result("bad"))
    model.push(PATH, result("good"))
    assert computed(model, "good")["trades"]["value"] == 3
    bad = computed(model, "bad")
    assert {one["reason"] for one in bad.values()} == {reporter.FAILED}
    answer = model.owner.get(f"/api/models/{model.id}/backtests/bad/drawdown")
    assert (answer.status_code, answer.json()["code"]) == (409, "cannot_compute")


def test_a_result_that_is_too_large_for_the_memory_does_not_hold_up_others(
    own_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those with a later upload, which are made after it."""
    reports_of = own_model.service.services.reporter
    monkeypatch.setattr(reports_of._memory, "most", 1_000)
    monkeypatch.setattr(reporter, "SMALL", 1_000)
    own_model.push(PATH, result("large", count=1_100))
    # By themselves, one after the other: nobody looks at them.
    _later_than(own_model, "large")
    wait_for(lambda: _is_made(own_model, "small"))
    assert {one["reason"] for one in computed(own_model, "large").values()} == {reporter.FAILED}
    monkeypatch.undo()
    reports_of._failed.clear()
    assert computed(own_model, "large")["trades"]["value"] == 3


def _later_than(model: Model, name: str) -> None:
    """Push a small result until its upload is sorted after that of another."""
    model.push(PATH, result("small"))
    while _upload(model, "small") < _upload(model, name):
        model.push(PATH, result("small"))


def _upload(model: Model, name: str) -> str:
    query = select(tape.backtests.c.upload).where(tape.backtests.c.id == name)
    return str(model.service.store.read_now(lambda c: c.scalar(query)))


def _is_made(model: Model, name: str) -> bool:
    query = select(results.reports.c.version).where(
        results.reports.c.upload == _upload(model, name)
    )
    return model.service.store.read_now(lambda c: c.scalar(query)) is not None


def test_a_process_that_hangs_does_not_keep_the_only_place(
    own_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporter, "SMALL", 1_000)
    monkeypatch.setattr(reporter, "APART_WITHIN", 0.01)
    own_model.push(PATH, result("large", count=1_100))
    own_model.push(PATH, result("small"))
    wait_for(lambda: _is_made(own_model, "small"))
    assert {one["reason"] for one in computed(own_model, "large").values()} == {reporter.FAILED}


@on_both
def test_reports_of_earlier_formulas_are_made_anew(own_model: Model) -> None:
    own_model.push(PATH, result())
    computed(own_model)
    store = own_model.service.store

    def age(connection: Connection) -> None:
        table = results.reports
        connection.execute(table.update().values(version=0, content=b"{}", brief=b"{}"))
        connection.execute(delete(results.report_pieces))

    store.write_now(age)
    assert computed(own_model)["trades"]["value"] == 3
    assert len(own_model.items("/backtests/b1/equity")) == 400


@on_both
def test_a_report_that_is_made_anew_leaves_nothing_of_the_one_before(own_model: Model) -> None:
    own_model.push(PATH, result())
    computed(own_model)
    store, upload = own_model.service.store, _upload(own_model, "b1")
    pieces, version = results.report_pieces, results.reports.c.version
    longer = [Row("round_trips", 0, 7, b"x"), Row("equity", 0, 50, b"x"), Row("gone", 0, 0, b"x")]

    def age(connection: Connection) -> None:
        before = connection.scalar(select(func.count()).select_from(pieces))
        reports.put(connection, upload, longer)
        connection.execute(results.reports.update().values({version: 0}))
        counts.append(before)

    def count(connection: Connection) -> None:
        counts.append(connection.scalar(select(func.count()).select_from(pieces)))

    counts: list[int | None] = []
    store.write_now(age)
    own_model.service.services.reporter.wake()
    wait_for(lambda: store.read_now(lambda c: c.scalar(select(version))) != 0)
    store.read_now(count)
    assert counts[0] == counts[1] != 0


@on_both
def test_what_a_crash_left_of_a_report_goes_with_its_result(own_model: Model) -> None:
    own_model.push(PATH, result())
    store = own_model.service.store
    (upload,) = store.read_now(lambda c: list(c.scalars(select(tape.backtests.c.upload))))
    assert upload is not None
    store.write_now(reports.begin, upload)
    store.write_now(reports.put, upload, [Row("equity", 0, n, b"x") for n in range(50)])
    own_model.owner.delete(f"/api/models/{own_model.id}/backtests/b1")
    sweep(own_model)
    tables = (tape.pieces, results.report_pieces, results.reports)
    assert set(rows_in(own_model.service, *tables).values()) == {0}
    with pytest.raises(reports.Gone):
        store.write_now(reports.begin, upload)


@pytest.mark.heavy
@on_both
def test_a_large_result_is_computed_in_another_process_and_answers_all_the_same(
    model: Model,
) -> None:
    model.push(PATH, result(count=30_000))
    assert model.get("/backtests/b1/equity")["total"] == 30_000
    found = computed(model)
    assert found["trades"]["value"] == 3
    assert found["total_return"]["value"] == pytest.approx(walk(30_000)[-1] / 10_000 - 1)
    assert list(model.service.services.staging.spool.iterdir()) == []
