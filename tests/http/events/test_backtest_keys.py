"""A backtest writes itself and never the live record, however its model is used to report."""

import json
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, insert

from tapeline.accounts import keys
from tapeline.ids import new_id
from tapeline.store.tables.runs import runs, versions
from tapeline.tape.events import kinds
from tapeline.tape.events.kinds import BY_PATH, OF_BACKTESTS
from tests.conftest import Service, on_both
from tests.http.events.test_api import BODIES
from tests.pushing import NDJSON, ORDER, RESULT, Model

OWN = "own"
LOG = "/v1/live/log"
TOLD = {kinds.LOG, kinds.EVENT, kinds.LIFECYCLE, kinds.USED_SYMBOL, kinds.USED_EXCHANGE}
LIVE = {path: kind for path, kind in BY_PATH.items() if kind not in OF_BACKTESTS}


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def tester(model: Model) -> Model:
    """The same model with the key of a run that is a backtest."""

    def launched(connection: Connection) -> tuple[str, str]:
        version, run = new_id(), new_id()
        common: dict[str, Any] = {"model_id": model.id, "plan": "nano", "python_version": "3.11"}
        common |= {"description": "", "created_at": 0.0, "created_by": model.owner.id}
        connection.execute(
            insert(versions).values(
                id=version,
                number=1,
                archive="none",
                size=0,
                manifest={"main_script": "main.py"},
                **common,
            )
        )
        connection.execute(
            insert(runs).values(
                id=run, version_id=version, kind="backtest", backtest_id=OWN, state="running",
                desired="running", reason="", memory_mb=1, cpu_milli=1, host="another", fence=1,
                launches=1, restarts=0, confinement="", journal=0, refused=0, **common,
            )
        )  # fmt: skip
        return keys.generate_for_run(connection, model.project_id, run, 1)

    key, secret = model.service.store.write_now(launched)
    return replace(model, headers=model.headers | {"api_key": key, "api_pass": secret})


def lines(tester: Model) -> list[tuple[str, str]]:
    found = tester.items(f"/backtests/{OWN}/logs")
    return [(one["type"], one["line"]) for one in reversed(found)]


def assert_nothing_is_live(tester: Model) -> None:
    shown = tester.get()
    assert set(shown["counts"]) <= {"backtest-log", "backtest-status", "backtest-result"}
    assert (shown["symbols"], shown["exchanges"]) == ([], [])
    assert shown["lifecycle"]["message"] in (None, "")
    for path in ("/orders", "/logs", "/events"):
        assert tester.items(path) == []
    assert tester.get("/pnl")["realized"] in (None, 0)
    assert tester.first_break() is None


def test_what_models_tell_by_habit_becomes_a_line_of_the_backtests_log(tester: Model) -> None:
    said: list[tuple[str, str]] = []
    for path, kind in LIVE.items():
        if kind not in TOLD:
            continue
        body, key = BODIES[kind.name], {"Idempotency-Key": path}
        tester.push(path, body)
        tester.push("/v1/batch", [{"path": path, "body": body}])
        tester.push(path, body, headers=key)
        tester.push(path, body, headers=key)
        *before, first, second, third = lines(tester)
        assert (before, second, third) == (said, first, first)
        said += [first] * 3
        if kind is kinds.LOG:
            assert first == (body.get("type", "stdout"), body["line"])
        else:
            assert first[0] == kind.name
            assert {key: json.loads(first[1])[key] for key in body} == body
    assert_nothing_is_live(tester)


def test_what_would_be_trading_is_refused_and_leaves_nothing(tester: Model) -> None:
    for path, kind in LIVE.items():
        if kind in TOLD:
            continue
        for headers in ({}, {"Idempotency-Key": "k"}):
            shape = tester.refused(path, BODIES[kind.name], 409, headers=headers)
            assert shape["code"] == "backtest_key"
            assert kind.name in shape["error"]
    assert tester.size() == 0
    assert_nothing_is_live(tester)


@pytest.mark.parametrize("encoding", ["application/json", NDJSON])
@on_both
def test_a_batch_with_one_live_event_is_refused_whole_and_names_it(
    tester: Model, encoding: str
) -> None:
    items: list[Any] = [
        {"path": LOG, "body": {"line": "a"}},
        {"path": "/v1/live/spot-market", "body": ORDER},
        {"path": "/v1/backtest/result", "body": RESULT | {"backtest_id": OWN}},
    ]
    content = json.dumps(items) if encoding != NDJSON else "\n".join(map(json.dumps, items))
    shape = tester.refused(
        "/v1/batch", status=409, content=content, headers={"Content-Type": encoding}
    )
    assert shape["code"] == "backtest_key"
    assert shape["error"].startswith("Item 1: ")
    assert tester.size() == 0


def test_it_writes_its_own_backtest_and_no_other(tester: Model) -> None:
    status = {"successful": True}
    for path, body in (
        ("/v1/backtest/log", {"line": "x"}),
        ("/log", {"line": "x"}),
        ("/v1/backtest/status", status),
        ("/v1/backtest/result", RESULT),
    ):
        shape = tester.refused(path, {**body, "backtest_id": "of somebody else"}, 409)
        assert (shape["code"], shape["field"]) == ("backtest_key", "backtest_id")
        assert OWN in shape["error"]
        tester.push(path, {**body, "backtest_id": OWN})
    large = RESULT | {"backtest_id": "other", "trades": RESULT["trades"] * 10_000}
    assert tester.refused("/v1/backtest/result", large, 409)["code"] == "backtest_key"
    assert [one["backtest_id"] for one in tester.items("/backtests")] == [OWN]
    assert_nothing_is_live(tester)


def test_a_form_is_no_way_around(tester: Model) -> None:
    order = {key: str(value) for key, value in ORDER.items()}
    assert tester.refused("/v1/live/spot-market", status=409, data=order)["code"] == "backtest_key"
    tester.push("/v1/live/used-symbol", data={"symbol": "BTC-USD"})
    assert lines(tester) == [("used-symbol", '{"symbol":"BTC-USD"}')]
    assert_nothing_is_live(tester)


def test_a_long_report_is_cut_as_a_line_is(tester: Model) -> None:
    tester.push("/v1/live/event", {"type": "x", "args": {"long": "y" * 200_000}})
    ((kind, line),) = lines(tester)
    assert kind == "event"
    assert len(line) < 70_000
    assert "[cut: " in line


def test_a_key_of_the_project_still_writes_both(model: Model) -> None:
    model.push("/v1/live/spot-market", ORDER)
    model.push("/v1/backtest/log", {"line": "x", "backtest_id": "any"})
    assert model.get()["counts"] == {"spot-market": 1, "backtest-log": 1}
