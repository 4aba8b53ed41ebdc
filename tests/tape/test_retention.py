"""Retention removes what is old, gives its space back, and leaves a record that can be proven."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, insert, select, update

from tapeline.ids import new_id
from tapeline.runs.upkeep import sampling
from tapeline.store.tables.runs import runs, samples, versions
from tapeline.store.tables.tape import pages, tapes
from tapeline.tape.append.appending import Appender
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.proof import removed
from tapeline.tape.record import checking, in_words
from tapeline.tape.record.outcome import Checked
from tapeline.tape.retention import policy, removal
from tapeline.tape.retention.policy import Policy
from tapeline.tape.tapes import open_tape
from tests.conftest import Person, Service, let_in, run
from tests.examples import some
from tests.pushing import RESULT, Model, pushing

DAY = 86_400.0
START = 1_700_000_000.0
LATER = START + 1_000 * DAY
BODIES: dict[kinds.Kind, dict[str, Any]] = {
    kinds.LOG: {"line": "hello", "type": "stdout"},
    kinds.EVENT: {"type": "signal", "strength": 3},
    kinds.LIFECYCLE: {"message": "Running"},
    kinds.SPOT_MARKET: {"symbol": "BTC-USD", "exchange": "x", "side": "buy", "size": 1.5},
}
LOG, EVENT, LIFECYCLE, ORDER = BODIES


@pytest.fixture
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def append(model: Model, groups: list[list[kinds.Kind]]) -> None:
    """One group a day, as the server would have stored them."""
    appender: Appender = model.service.services.inbox.appender
    store = model.service.store
    tape = store.write_now(open_tape, model.id)
    for day, group in enumerate(groups):
        events = [_event(tape, kind, START + day * DAY + n) for n, kind in enumerate(group)]
        store.write_now(appender.append, [Submission(events, None)])
    store.write_now(appender.sign_head, tape)


_ids = iter(range(1_000_000))


def _event(tape: int, kind: kinds.Kind, at: float) -> Event:
    fields = dict(BODIES[kind])
    if kind is ORDER:
        fields["id"] = f"o{next(_ids)}"
    body = msgspec.json.encode(fields, order="deterministic")
    return Event(tape=tape, kind=kind, fields=fields, body=body, time=at, received_at=at)


def remove(model: Model, chosen: Policy, now: float) -> int:
    actor, project = model.owner.actor, model.project_id
    model.service.store.write_now(policy.change, actor, project, dict.fromkeys(policy.KINDS))
    model.service.store.write_now(policy.change, actor, project, dict(chosen))
    return run(removal.remove_due(model.service.store, lambda seconds: now - seconds))


def record(model: Model) -> list[bytes]:
    answer = model.owner.get(f"/api/models/{model.id}/record")
    assert answer.status_code == 200
    return answer.content.splitlines(keepends=True)


def checked(model: Model, earlier: Checked | None = None) -> Checked:
    return checking.check(record(model), earlier=earlier)


def held(model: Model) -> int:
    return model.service.store.read_now(
        lambda c: c.scalar(select(tapes.c.bytes).where(tapes.c.model_id == model.id)) or 0
    )


def test_old_lines_go_and_what_is_left_is_whole(model: Model) -> None:
    append(model, [[LOG] * 50, [ORDER], [LOG, LOG, ORDER, LOG], [LIFECYCLE], [LOG]])
    before, size = checked(model), held(model)
    assert remove(model, {"logs": 30}, START + 40 * DAY) > 0
    assert held(model) < size - 50 * 20
    after = checked(model, earlier=before)
    assert (after.reason, after.events, after.removed) == (None, before.events, {"log": 53})
    assert after.removed_until == START + 2 * DAY + 3
    assert model.first_break() is None
    assert [one["seq"] for one in model.items("/logs")] == [57], "the newest group stays"
    assert len(model.items("/orders")) == 2
    said = in_words.words(after)
    assert "Removed by retention, received until 2023-11-16" in said
    assert "53 (log)" in said
    lines = [msgspec.json.decode(one) for one in model.owner.get(
        f"/api/models/{model.id}/tape").content.splitlines()]  # fmt: skip
    assert [one["removed"] for one in lines if "removed" in one] == [
        {"log": 50}, {"log": 2}, {"log": 1}
    ]  # fmt: skip
    assert remove(model, {"logs": 30}, START + 40 * DAY) == 0, "nothing is left to do"


def test_money_and_lifecycle_are_never_removed(model: Model) -> None:
    append(model, [[ORDER], [LIFECYCLE], [ORDER, LIFECYCLE], [ORDER], [LOG]])
    assert remove(model, {"logs": 1, "events": 1, "backtests": 1, "samples": 1}, LATER) == 0
    assert (checked(model).removed, checked(model).hidden) == ({}, 0)


def test_lines_that_share_a_seal_with_what_is_kept_stay_with_it(model: Model) -> None:
    append(model, [[LOG, LIFECYCLE, LOG], [LOG], [LOG]])
    remove(model, {"logs": 1}, LATER)
    assert checked(model).removed == {"log": 1}
    assert [one["seq"] for one in model.items("/logs")] == [5, 3, 1]


@given(
    groups=st.lists(
        st.lists(st.sampled_from([LOG, EVENT, LIFECYCLE, ORDER]), min_size=1, max_size=6),
        min_size=1, max_size=6,
    ),
    passes=st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from(["logs", "events"]), st.integers(1, 6)),
            st.integers(0, 12),
        ),
        max_size=3,
    ),
)  # fmt: skip
@settings(max_examples=some(15), deadline=None)
def test_whatever_is_removed_the_record_stays_whole(
    shared_service: Service,
    password_hash: str,
    groups: list[list[kinds.Kind]],
    passes: list[tuple[Policy, int]],
) -> None:
    owner = let_in(shared_service, f"{new_id()}@example.com", password_hash)
    with owner.client, pushing(shared_service, owner) as model:
        append(model, groups)
        first = checked(model)
        kept = [one for one in model.records() if one.kind in (1, 5)]
        for chosen, days in passes:
            remove(model, chosen, START + days * DAY)
            assert checked(model, earlier=first).reason is None
            assert model.first_break() is None
            assert [one for one in model.records() if one.kind in (1, 5)] == kept


def test_a_changed_digest_of_removed_lines_is_found(model: Model) -> None:
    append(model, [[LOG] * 5, [ORDER], [LOG]])
    remove(model, {"logs": 1}, LATER)

    def spoil(connection: Connection) -> None:
        here = (pages.c.tape == model.tape(connection), pages.c.channel == removed.CHANNEL)
        content = bytearray(connection.scalar(select(pages.c.content).where(*here)) or b"")
        content[len(content) // 2] ^= 1
        connection.execute(update(pages).where(*here).values(content=bytes(content)))

    model.service.store.write_now(spoil)
    assert model.first_break() is not None
    assert checked(model).reason is not None


def test_a_stream_goes_on_behind_removed_lines(model: Model) -> None:
    append(model, [[LOG] * 5, [ORDER], [LOG]])
    remove(model, {"logs": 1}, LATER)
    headers = {"Last-Event-ID": "0"}
    with model.owner.client.stream(
        "GET", f"/api/models/{model.id}/stream", headers=headers
    ) as answer:
        seen = []
        for line in answer.iter_lines():
            if line.startswith("id: "):
                seen.append(int(line[4:]))
            if seen[-1:] == [7]:
                break
    assert seen == [6, 7]


def test_owners_see_what_is_taken_and_choose_what_is_kept(model: Model) -> None:
    append(model, [[LOG] * 20, [EVENT], [ORDER], [LOG]])
    path = f"/api/projects/{model.project_id}/retention"
    answer = model.owner.patch(path, json={"logs": 30, "samples": 3})
    assert answer.status_code == 200, answer.text
    run(removal.remove_due(model.service.store, lambda seconds: LATER - seconds))
    shown = model.owner.get(path).json()
    by_kind = {one["kind"]: one for one in shown["items"]}
    assert list(by_kind) == ["logs", "events", "backtests", "samples", "prices", "record"]
    assert [by_kind[kind]["days"] for kind in by_kind] == [30, None, None, 3, 400, None]
    assert by_kind["logs"]["removed"] == 20
    assert shown["removed_until"] == START + 19
    assert all(by_kind[kind]["bytes"] > 0 for kind in ("logs", "events", "record"))
    assert sum(one["bytes"] for one in shown["items"]) == held(model)
    again = model.owner.patch(path, json={"logs": None}).json()
    assert [one["days"] for one in again["items"]] == [None, None, None, 3, 400, None]
    assert model.owner.get(f"/api/projects/{model.project_id}/audit").json()["items"][0][
        "action"
    ] == "retention_changed"  # fmt: skip


@pytest.mark.parametrize("days", [0, -1, 1.5, "soon", 40_000])
def test_days_that_mean_nothing_are_refused(model: Model, days: Any) -> None:
    answer = model.owner.patch(f"/api/projects/{model.project_id}/retention", json={"logs": days})
    assert (answer.status_code, answer.json()["field"]) == (400, "logs")


def test_a_kind_that_nobody_knows_is_refused_and_nothing_is_changed(model: Model) -> None:
    path = f"/api/projects/{model.project_id}/retention"
    answer = model.owner.patch(path, json={"logs": 30, "prices": 30})
    assert answer.status_code == 400
    assert "prices" in answer.json()["error"]
    assert all(one["days"] in (None, 400) for one in model.owner.get(path).json()["items"])


def test_finished_backtests_go_with_their_results_and_lines(model: Model) -> None:
    model.push("/v1/backtest/log", {"backtest_id": "b1", "line": "began"})
    model.push("/v1/backtest/result", RESULT)
    model.push("/v1/backtest/status", {"backtest_id": "b1", "successful": True})
    model.push("/v1/backtest/log", {"backtest_id": "b2", "line": "still runs"})
    model.get("/tape/seals")
    assert len(model.items("/backtests")) == 2
    before = checked(model)
    assert remove(model, {"backtests": 30}, time.time() + 29 * DAY) == 0
    remove(model, {"backtests": 30}, time.time() + 31 * DAY)
    assert [one["backtest_id"] for one in model.items("/backtests")] == ["b2"]
    assert model.pieces() == 0
    after = checked(model, earlier=before)
    assert (after.reason, after.removed) == (None, {"backtest-log": 1})
    assert model.first_break() is None


def test_samples_go_as_the_project_wants(model: Model) -> None:
    store, times = model.service.store, [START, START + 10 * DAY]
    remove(model, {"samples": 5}, START)

    def looked(connection: Connection) -> list[float]:
        run_id = _run(connection, model)
        rows = [{"run_id": run_id, "at": at, "memory": 1, "cpu": 0.5} for at in times]
        connection.execute(insert(samples), rows)
        sampling.forget_by_project(connection, lambda seconds: START + 11 * DAY - seconds)
        return [at for at, *_ in sampling.of_run(connection, run_id)]

    assert store.write_now(looked) == times[1:]


def _run(connection: Connection, model: Model) -> str:
    version, made = new_id(), new_id()
    connection.execute(
        insert(versions).values(
            id=version, model_id=model.id, number=1, description="", plan="nano", created_at=START,
            python_version="3.12", manifest={}, archive="b", size=1, created_by="x",
        )
    )  # fmt: skip
    connection.execute(
        insert(runs).values(
            id=made, model_id=model.id, version_id=version, kind="live", state="ended",
            desired="stopped", reason="", plan="nano", memory_mb=256, cpu_milli=250,
            python_version="3.12", description="", launches=0, restarts=0, confinement="",
            journal=0, refused=0, created_at=START, created_by="x",
        )
    )  # fmt: skip
    return made
