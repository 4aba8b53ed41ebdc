"""A tenant's turn comes, whatever another one asks for."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tapeline.fair_line import Owner
from tapeline.turns import APART, SERVER, STRANGERS, Turns
from tests.examples import some

TENANTS = ("ada", "ben", "cleo")
ADA, BEN = Owner("ada"), Owner("ben")
STRANGER = Owner(STRANGERS)


def begun(turns: Turns[str]) -> list[str]:
    found = []
    while (one := turns.begin()) is not None:
        found.append(one[1])
    return found


def flooded(places: int) -> Turns[str]:
    """Ada has more work than there are places."""
    turns: Turns[str] = Turns(places)
    for number in range(20):
        turns.add(ADA, f"a{number}")
    return turns


def test_one_tenant_never_has_every_place() -> None:
    turns = flooded(4)
    assert begun(turns) == ["a0", "a1", "a2"]
    turns.add(BEN, "b0")
    assert begun(turns) == ["b0"]


def test_strangers_and_the_server_have_a_place_when_tenants_have_all_the_others() -> None:
    turns = flooded(2)
    turns.add(BEN, "b0")
    assert begun(turns) == ["a0", "b0"]
    turns.add(STRANGER, "sign-in")
    turns.add(Owner(SERVER), "supervision")
    turns.add(STRANGER, "another")
    assert begun(turns) == ["sign-in", "supervision"]
    turns.end(STRANGER, 1.0)
    assert begun(turns) == ["another"]


def test_the_tenant_that_used_less_time_goes_next() -> None:
    turns = flooded(1)
    assert begun(turns) == ["a0"]
    turns.add(BEN, "b0")
    turns.add(BEN, "b1")
    turns.end(ADA, 5.0)
    assert begun(turns) == ["b0"]
    turns.end(BEN, 1.0)
    assert begun(turns) == ["b1"], "Ada used five seconds, Ben one"
    turns.end(BEN, 9.0)
    assert begun(turns) == ["a1"]


def test_nobody_saves_up_turns_by_being_absent() -> None:
    turns = flooded(1)
    for _ in range(10):
        begun(turns)
        turns.end(ADA, 1.0)
    for number in range(10):
        turns.add(BEN, f"b{number}")
    order = []
    while found := begun(turns):
        order += found
        turns.end(BEN if found[0].startswith("b") else ADA, 1.0)
    assert order[:6].count("b0") == 1
    assert 2 <= sum(name.startswith("b") for name in order[:6]) <= 4


def test_accounts_of_one_tenant_take_turns() -> None:
    turns: Turns[str] = Turns(1)
    for number in range(3):
        turns.add(Owner("ada", "one"), f"one {number}")
    turns.add(Owner("ada", "other"), "other")
    order = []
    while found := begun(turns):
        order += found
        turns.end(ADA, 1.0)
    assert order.index("other") < 2


Step = tuple[str, str, float]
steps = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "end"]),
        st.sampled_from([*TENANTS, *APART]),
        st.floats(0, 5),
    ),
    max_size=80,
)


@settings(max_examples=some(200))
@given(steps, st.integers(1, 5))
def test_places_are_shared_and_no_work_is_lost(steps: list[Step], places: int) -> None:
    turns: Turns[int] = Turns(places)
    under_way: Counter[str] = Counter()
    waiting: Counter[str] = Counter()

    def admit() -> None:
        while (found := turns.begin()) is not None:
            name = found[0].tenant
            assert not any(
                waiting[other] and under_way[other] < under_way[name] for other in TENANTS
            ), "somebody with fewer places waits"
            under_way[name] += 1
            waiting[name] -= 1

    for number, (act, name, seconds) in enumerate(steps):
        if act == "add":
            turns.add(Owner(name), number)
            waiting[name] += 1
        elif under_way[name]:
            under_way[name] -= 1
            turns.end(Owner(name), seconds)
        admit()
        assert len(turns) == waiting.total()
        assert under_way.total() <= turns.threads
        for tenant in TENANTS:
            assert under_way[tenant] <= max(1, places - 1)
        for one in APART:
            assert under_way[one] or not waiting[one], "its own place is always free for it"
        if places > 1 and len([one for one in TENANTS if waiting[one] or under_way[one]]) == 1:
            assert under_way.total() >= min(places - 1, 1)
    while under_way.total():
        name = next(iter(+under_way))
        under_way[name] -= 1
        turns.end(Owner(name), 1.0)
        admit()
    assert not waiting.total()
