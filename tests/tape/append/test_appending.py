"""Appending and folding through the real store: any arrival order, any grouping, same state."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, insert

from tapeline import compose
from tapeline.ids import new_id
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.store.tables import core
from tapeline.tape import tapes
from tapeline.tape.append.appending import Appender
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.events.kinds import Kind
from tapeline.tape.proof.signer import Signer
from tapeline.tape.reading import order_list, whole_tape
from tapeline.tape.reading.order_list import Filter
from tapeline.tape.record import verify
from tests.examples import some

Said = tuple[Kind, dict[str, Any]]

IDS = st.sampled_from(["o1", "o2"])
POSTS = st.builds(
    lambda id_, size, kind: (kind, {"id": id_, "symbol": "A", "exchange": "x", "side": "buy",
                                    "size": float(size)}),
    IDS, st.integers(1, 3), st.sampled_from([kinds.SPOT_MARKET, kinds.SPOT_LIMIT]),
)  # fmt: skip
UPDATES = st.builds(
    lambda id_, key, value: (kinds.UPDATE_TRADE, {"id": id_, key: value}),
    IDS, st.sampled_from(["status", "size", "note"]), st.integers(0, 3),
)  # fmt: skip
ANNOTATIONS = st.builds(
    lambda id_, text: (kinds.UPDATE_ANNOTATION, {"id": id_, "annotation": text}),
    IDS, st.none() | st.sampled_from(["good", "bad"]),
)  # fmt: skip


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Appender]]:
    data = tmp_path_factory.mktemp("append")
    with compose.open_store(Settings(data=data)) as store:
        yield store, Appender(Signer(_folder(data / "keys")))


def _folder(path: Path) -> Path:
    path.mkdir(exist_ok=True)
    return path


def new_tape(connection: Connection) -> int:
    owner, model = new_id(), new_id()
    project = {"id": owner, "name": "p", "description": "", "created_at": 0.0}
    connection.execute(insert(core.projects).values(**project))
    connection.execute(
        insert(core.models).values(
            id=model, project_id=owner, name="m", type="strategy", description="", created_at=0.0
        )
    )
    return tapes.open_tape(connection, model)


def event(tape: int, said: Said, time: float) -> Event:
    kind, fields = said
    body = msgspec.json.encode(fields, order="deterministic")
    return Event(tape=tape, kind=kind, fields=dict(fields), body=body, time=time, received_at=1.0)


def stored(
    opened: tuple[Store, Appender], parts: list[tuple[float, Said]], groups: list[int]
) -> tuple[int, list[dict[str, Any]]]:
    """The orders of a new tape after these parts, appended in groups of these sizes."""
    store, appender = opened
    tape = store.write_now(new_tape)
    waiting = [Submission([event(tape, said, time)], None) for time, said in parts]
    sizes = iter(groups)
    while waiting:
        size = next(sizes, len(waiting))
        refusals, _ = store.write_now(appender.append, waiting[:size])
        assert refusals == [None] * len(waiting[:size])
        waiting = waiting[size:]
    found, _ = store.read_now(order_list.listed, tape, Filter(), before=None, limit=100)
    unordered = {"seq", "received_at"}
    shown = [{k: v for k, v in one.items() if k not in unordered} for one in found]
    return tape, sorted(shown, key=lambda one: str(one["id"]))


@settings(max_examples=some(40), deadline=None)
@given(st.data())
def test_any_arrival_order_and_grouping_folds_to_the_same_orders(
    opened: tuple[Store, Appender], data: st.DataObject
) -> None:
    said = [
        *data.draw(st.lists(POSTS, max_size=4, unique_by=repr)),
        *data.draw(st.lists(UPDATES | ANNOTATIONS, max_size=5)),
    ]
    times = data.draw(
        st.lists(st.integers(0, 99), min_size=len(said), max_size=len(said), unique=True)
    )
    parts = list(zip(map(float, times), said, strict=True))
    sizes = st.lists(st.integers(1, 5), max_size=5)
    tape, one = stored(opened, parts, data.draw(sizes))
    _, other = stored(opened, data.draw(st.permutations(parts)), data.draw(sizes))
    assert one == other
    store, appender = opened
    assert store.read_now(verify.first_break, tape) is None
    # All posts once more: retries, which leave the tape as it is.
    before = store.read_now(lambda connection: list(whole_tape.records(connection, tape)))
    again = [event(tape, what, 500.0) for what in said if what[0] in kinds.ORDERS]
    store.write_now(appender.append, [Submission(again, None)])
    assert store.read_now(lambda connection: list(whole_tape.records(connection, tape))) == before


def test_a_group_with_refused_submissions_stores_the_others(
    opened: tuple[Store, Appender],
) -> None:
    store, appender = opened
    tape = store.write_now(new_tape)
    line: Said = (kinds.LOG, {"line": "x", "type": "stdout"})
    sent = [
        Submission([event(tape, line, 1.0)], None),
        Submission([event(tape, line, 2.0), event(tape + 1000, line, 2.0)], None),
        Submission([event(tape, line, 3.0)], "no-such-key"),
        Submission([event(tape, line, 4.0)], None),
    ]
    refusals, appended = store.write_now(appender.append, sent)
    assert [type(one).__name__ for one in refusals] == [
        "NoneType", "NoSuchModel", "WrongKey", "NoneType",
    ]  # fmt: skip
    assert [record.time for record in appended[0].records] == [1, 4]
    assert store.read_now(verify.first_break, tape) is None
