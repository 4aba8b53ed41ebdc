"""Reservations are given to the next run of the same size, and end when nobody needs them."""

from collections.abc import Collection, Iterator
from itertools import count

import pytest

from tapeline.runs.cluster import slots
from tapeline.runs.cluster.slots import Size, Slots

SMALL, LARGE = Size(1, 100), Size(2, 200)


class Nodes:
    """Two nodes with two cores each."""

    def __init__(self) -> None:
        self.free = {"a": 2.0, "b": 2.0}
        self.held: dict[int, tuple[str, float]] = {}
        self.made = self.tried = 0
        self.is_wrong = self.is_late = False
        self._numbers: Iterator[int] = count()

    def make(self, size: Size, among: Collection[str]) -> tuple[int, str] | None:
        self.tried += 1
        for node in sorted(among):
            if self.free[node] >= size.cpu and not self.is_late:
                self.free[node] -= size.cpu
                self.made += 1
                number = next(self._numbers)
                self.held[number] = node, size.cpu
                return number, node
        return None

    def room(self) -> dict[str, Size]:
        return {node: Size(9 if self.is_wrong else cpu, 1000) for node, cpu in self.free.items()}

    def remove(self, number: int) -> None:
        node, cpu = self.held.pop(number)
        self.free[node] += cpu


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


@pytest.fixture
def slots_of(nodes: Nodes) -> "Slots[int]":
    return Slots(nodes.make, nodes.remove, nodes.room)


def test_a_run_keeps_its_node_however_often_it_asks(nodes: Nodes, slots_of: "Slots[int]") -> None:
    assert {slots_of.reserve("one", SMALL, ["a", "b"]) for _ in range(3)} == {"a"}
    assert nodes.made == 1
    assert slots_of.reserved() == {"one": "a"}


def test_a_run_moves_when_its_node_is_no_longer_among_them(
    nodes: Nodes, slots_of: "Slots[int]"
) -> None:
    slots_of.reserve("one", SMALL, ["a", "b"])
    assert slots_of.reserve("one", SMALL, ["b"]) == "b"
    assert slots_of.reserve("one", LARGE, ["b"]) == "b"  # its own room counts


def test_many_runs_one_after_the_other_need_one_reservation(
    nodes: Nodes, slots_of: "Slots[int]"
) -> None:
    for number in range(100):
        assert slots_of.reserve(str(number), SMALL, ["a", "b"]) == "a"
        slots_of.release([str(number), "never heard of"])
    assert nodes.made == 1


def test_there_is_no_room_while_runs_have_it(slots_of: "Slots[int]") -> None:
    for number in range(4):
        assert slots_of.reserve(str(number), SMALL, ["a", "b"]) is not None
    assert slots_of.reserve("more", SMALL, ["a", "b"]) is None
    assert slots_of.reserve("more", SMALL, []) is None
    slots_of.release(["2"])
    assert slots_of.reserve("more", SMALL, ["a", "b"]) == "b"


def test_a_run_that_waits_for_room_makes_nothing(nodes: Nodes, slots_of: "Slots[int]") -> None:
    """Ray's head keeps something of each try for ever."""
    for number in range(4):
        slots_of.reserve(str(number), SMALL, ["a", "b"])
    assert {slots_of.reserve("more", SMALL, ["a", "b"]) for _ in range(100)} == {None}
    slots_of.release(["0"])
    assert {slots_of.reserve("large", LARGE, ["a", "b"]) for _ in range(100)} == {None}
    assert nodes.tried == 4
    assert slots_of.reserve("more", SMALL, ["a", "b"]) == "a"


def test_figures_that_were_wrong_are_not_believed_until_something_is_free(
    nodes: Nodes, slots_of: "Slots[int]"
) -> None:
    slots_of.reserve("one", LARGE, ["a"])
    nodes.is_wrong = True
    assert {slots_of.reserve("more", LARGE, ["a"]) for _ in range(100)} == {None}
    assert nodes.tried == 2
    slots_of.release(["one"])
    assert slots_of.reserve("more", LARGE, ["a"]) == "a"


def test_what_is_kept_makes_room_for_another_size(nodes: Nodes, slots_of: "Slots[int]") -> None:
    for number in range(4):
        slots_of.reserve(str(number), SMALL, ["a", "b"])
    slots_of.release(["0", "1"])
    assert slots_of.reserve("large", LARGE, ["a", "b"]) == "a"
    assert nodes.free == {"a": 0, "b": 0}


def test_what_was_kept_is_asked_for_until_it_is_there(
    nodes: Nodes, slots_of: "Slots[int]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "SETTLES", 600.0)
    for number in range(4):
        slots_of.reserve(str(number), SMALL, ["a", "b"])
    slots_of.release(["0", "1"])
    nodes.is_wrong = nodes.is_late = True
    assert {slots_of.reserve("large", LARGE, ["a"]) for _ in range(3)} == {None}
    nodes.is_late = False
    assert slots_of.reserve("large", LARGE, ["a"]) == "a"


def test_what_nobody_needs_ends_after_a_while(
    nodes: Nodes, slots_of: "Slots[int]", monkeypatch: pytest.MonkeyPatch
) -> None:
    slots_of.reserve("one", SMALL, ["a"])
    slots_of.reserve("two", SMALL, ["a"])
    slots_of.release(["one"])
    slots_of.tidy({"a", "b"})
    assert len(nodes.held) == 2
    monkeypatch.setattr(slots, "KEPT", -1.0)
    slots_of.tidy({"a", "b"})
    assert len(nodes.held) == 1
    assert slots_of.reserved() == {"two": "a"}


def test_reservations_of_a_dead_node_end(nodes: Nodes, slots_of: "Slots[int]") -> None:
    slots_of.reserve("one", SMALL, ["a"])
    slots_of.reserve("two", SMALL, ["b"])
    slots_of.reserve("three", SMALL, ["a"])
    slots_of.release(["three"])
    slots_of.tidy({"b"})
    assert slots_of.reserved() == {"two": "b"}
    assert nodes.free == {"a": 2, "b": 1}
