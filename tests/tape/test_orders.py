"""One order from its parts: the same in whatever order they arrive."""

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from tapeline.tape.orders import (
    OrderState,
    Part,
    fingerprint,
    is_retry,
    merged,
    take_post,
    take_update,
)
from tests.examples import some

KEYS = st.sampled_from(["status", "price", "annotation", "size", "note"])
VALUES = st.none() | st.integers(0, 3) | st.sampled_from(["a", "b"])
POST = st.tuples(
    st.sampled_from(["spot-market", "spot-limit"]), st.dictionaries(KEYS, VALUES, max_size=4)
)
UPDATE = st.tuples(st.none(), st.dictionaries(KEYS, VALUES, min_size=1, max_size=3))


def fold(parts: list[tuple[float, tuple[str | None, dict[str, Any]]]]) -> OrderState:
    state = OrderState()
    for seq, (time, (kind, body)) in enumerate(parts, 1):
        whole = {"id": "o", **body}
        if kind is None:
            take_update(state, whole, time, seq)
        else:
            post = fingerprint(kind, msgspec.json.encode(whole, order="deterministic"))
            if not is_retry(state, post):
                take_post(state, Part(time, seq, kind, whole, post))
    return state


@settings(max_examples=some(300))
@given(st.data())
def test_any_arrival_order_of_the_same_parts_folds_to_the_same_order(data: st.DataObject) -> None:
    posts = data.draw(st.lists(POST, max_size=3, unique_by=repr))
    updates = data.draw(st.lists(UPDATE, max_size=5))
    said = [*posts, *updates]
    times = data.draw(
        st.lists(st.integers(0, 99), min_size=len(said), max_size=len(said), unique=True)
    )
    parts = list(zip(map(float, times), said, strict=True))
    shuffled = data.draw(st.permutations(parts))
    one, other = fold(parts), fold(shuffled)
    assert merged(one) == merged(other)
    assert (one.base and one.base.time) == (other.base and other.base.time)
    # And sending anything once more changes nothing.
    again = fold([*parts, *shuffled])
    assert merged(again) == merged(one)


@given(st.lists(UPDATE, min_size=1, max_size=6))
def test_the_newest_time_wins_per_key_and_ties_go_to_the_later_arrival(
    updates: list[tuple[None, dict[str, Any]]],
) -> None:
    base = ("spot-market", {"price": 0, "size": 0})
    apart = [(float(place), one) for place, one in enumerate(updates)]
    # The order is the base, however late it is.
    state = merged(fold([*apart, (1000.0, base)])) or {}
    expected = {"id": "o", "type": "spot-market", **base[1]}
    for _, body in updates:
        expected |= body
    assert state == expected
    assert merged(fold([(5.0, base), *((5.0, one) for one in updates)])) == expected


def test_nothing_is_shown_before_the_order_itself() -> None:
    state = fold([(1.0, (None, {"status": "filled"}))])
    assert merged(state) is None
    take_post(state, Part(0.0, 2, "spot-market", {"id": "o", "size": 1}, "a post"))
    assert merged(state) == {"id": "o", "size": 1, "status": "filled", "type": "spot-market"}


def test_the_earliest_post_is_the_base_and_later_ones_are_updates() -> None:
    early, late = ("spot-market", {"size": 1}), ("spot-limit", {"size": 2, "price": 3})
    for parts in ([(1.0, early), (2.0, late)], [(2.0, late), (1.0, early)]):
        state = fold(list(parts))
        expected = {"id": "o", "size": 2, "price": 3, "type": "spot-market"}
        assert merged(state) == expected
        assert state.base is not None
        assert (state.base.time, state.first_seq) == (1.0, 1)
