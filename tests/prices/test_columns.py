"""Columns of bars: packed, merged and made coarser without losing anything."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from tapeline.prices import arrivals, columns
from tapeline.prices.columns import NOTHING, Bar, Bars
from tapeline.prices.intervals import start_of
from tests.examples import some

PRICES = st.floats(-1e30, 1e30)
VOLUMES = st.floats(0, 1e30) | st.just(NOTHING)


@st.composite
def bars(draw: st.DrawFn, interval: int = 60) -> list[Bar]:
    slots = draw(st.lists(st.integers(-500, 500), unique=True, max_size=300))
    found = []
    for slot in sorted(slots):
        low, opened, close, high = sorted(draw(st.tuples(PRICES, PRICES, PRICES, PRICES)))
        found.append((float(slot * interval), opened, high, low, close, draw(VOLUMES)))
    return found


def text(found: Bars) -> list[str]:
    """Equal for equal bars: a volume that is not known is not equal to itself."""
    return [repr(row) for row in found.rows()]


@settings(max_examples=some(100), deadline=None)
@given(bars())
def test_packed_bars_are_the_same_when_they_are_unpacked(rows: list[Bar]) -> None:
    found = columns.of_rows(rows)
    if rows:
        assert text(columns.unpack(columns.pack(found))) == text(found)


@settings(max_examples=some(100), deadline=None)
@given(bars(), st.sampled_from([60, 300, 900, 3600, 604_800]))
def test_a_coarser_bar_is_what_its_bars_say_together(rows: list[Bar], interval: int) -> None:
    by_start: dict[int, list[Bar]] = {}
    for row in rows:
        by_start.setdefault(start_of(row[0], interval), []).append(row)
    found = list(columns.coarsened(columns.of_rows(rows), interval).rows())
    assert [bar[0] for bar in found] == sorted(by_start)
    for bar in found:
        inside = by_start[int(bar[0])]
        volumes = [one[5] for one in inside if not math.isnan(one[5])]
        assert bar[1:5] == (
            inside[0][1], max(one[2] for one in inside), min(one[3] for one in inside),
            inside[-1][4],
        )  # fmt: skip
        assert math.isnan(bar[5]) if not volumes else bar[5] == math.fsum(volumes)


def test_a_gap_of_an_indicator_counts_as_no_value_of_a_stretch() -> None:
    points = [arrivals.value(time, value) for time, value in ((0, None), (1, 5), (60, None))]
    rows = columns.of_rows(points)
    first, second = columns.coarsened(rows, 60).rows()
    assert first[1:5] == (5, 5, 5, 5)
    assert all(math.isnan(one) for one in second[1:])


def test_days_that_start_an_hour_earlier_when_clocks_change_stay_apart() -> None:
    day, midnight = 86_400, 1_774_742_400.0  # 2026-03-29, when London's clocks change
    bar = (1.0, 1.0, 1.0, 1.0, NOTHING)
    known = columns.of_rows([(midnight, *bar)])
    found = columns.merged(known, [(midnight + day - 3_600, *bar), (midnight, *bar)], day)
    assert list(found.time) == [midnight, midnight + day - 3_600]
