"""An exported tape checks out by itself, and whatever is changed in it shows."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tapeline.errors import Invalid
from tapeline.tape import exported
from tests.conftest import Person, Service
from tests.pushing import ORDER, RESULT, Model, pushing

POINTS = [{"time": 100, "value": 1.5}, {"time": 110, "value": None}]


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def export(model: Model) -> list[bytes]:
    """As `tapeline export` writes it."""
    seals = model.get("/tape/seals", limit=1000)
    heading = {
        "tapeline_export": 1, "model_id": model.id, "model": "m", "server": "s",
        "exported_at": 1.0, "seals": seals,
    }  # fmt: skip
    tape = model.owner.get(f"/api/models/{model.id}/tape").content
    return [json.dumps(heading).encode() + b"\n", *tape.splitlines(keepends=True)]


def everything(model: Model) -> list[bytes]:
    model.push("/v1/live/log", {"line": "first"})
    model.get("/tape/seals")  # a checkpoint in the middle
    model.push("/v1/live/spot-market", ORDER)
    model.push("/v1/live/update-trade", {"id": "o1", "status": "filled"})
    indicators = {"rsi": {"values": POINTS, "display_name": "RSI", "type": "line"}}
    model.push("/v1/backtest/result", RESULT | {"indicators": indicators})
    model.push("/v1/backtest/result", RESULT | {"backtest_id": "b2", "account_values": []})
    return export(model)


def test_a_whole_tape_is_good(model: Model) -> None:
    found = exported.check(everything(model))
    assert found.problems == []
    assert (found.events, found.checkpoints, found.results) == (5, 2, 2)
    assert found.model_id == model.id
    assert found.key_id == model.get("/tape/seals")["key_id"]


def test_a_tape_without_events_is_good(model: Model) -> None:
    found = exported.check(export(model))
    assert (found.events, found.problems) == (0, [])


def test_every_event_and_list_is_held(model: Model) -> None:
    lines = everything(model)
    for place in range(1, len(lines)):
        without = [*lines[:place], *lines[place + 1 :]]
        found = exported.check(without)
        # A result whose lists were all taken away looks like one that was replaced: that is said.
        assert found.problems or found.results_without_lists, lines[place]
        twice = [*lines[: place + 1], *lines[place:]]
        assert exported.check(twice).problems, lines[place]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"first"', b'"First"'),
        (b'"size":2.5', b'"size":2.6'),
        (b'"filled"', b'"cancel"'),
        (b'"value":1000', b'"value":2000'),
        (b'"value":1.5', b'"value":1.6'),
        (b'"price":5', b'"price":6'),
        (b'"received_at":1', b'"received_at":2'),
        (b'"kind":"log"', b'"kind":"event"'),
    ],
)
def test_whatever_is_edited_shows(model: Model, old: bytes, new: bytes) -> None:
    lines = everything(model)
    place = next(number for number, line in enumerate(lines) if number and old in line)
    lines[place] = lines[place].replace(old, new, 1)
    assert exported.check(lines).problems


def test_the_end_cannot_be_cut_off_and_signatures_cannot_be_moved(model: Model) -> None:
    lines = everything(model)
    heading: dict[str, Any] = json.loads(lines[0])
    newest, older = heading["seals"]["items"]

    def with_seals(**changes: Any) -> list[bytes]:
        changed = heading | {"seals": heading["seals"] | changes}
        return [json.dumps(changed).encode(), *lines[1:]]

    assert exported.check(lines[:3]).problems
    assert exported.check(with_seals(items=[older])).problems, "the rest is signed by nobody"
    assert exported.check(with_seals(items=[])).problems
    forged = newest | {"at": newest["at"] + 1}
    assert "not genuine" in exported.check(with_seals(items=[forged, older])).problems[0]
    other = "00" * 32
    assert exported.check(with_seals(public_key=other)).problems
    assert exported.check(lines, key=heading["seals"]["public_key"]).problems == []
    assert exported.check(lines, key="abc").problems


@pytest.mark.parametrize("content", [[], [b"hello"], [b"{}"], [b'{"tapeline_export": 1}']])
def test_what_is_no_export_is_said(content: list[bytes]) -> None:
    with pytest.raises(Invalid, match="no export of a tape"):
        exported.check(content)


def test_a_line_that_is_none_is_said(model: Model) -> None:
    lines = everything(model)
    with pytest.raises(Invalid, match="The line after event 0"):
        exported.check([lines[0], b"nonsense\n"])
