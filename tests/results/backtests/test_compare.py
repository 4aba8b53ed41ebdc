"""Backtests side by side: one axis, one start, nothing made up between or beyond the values."""

import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from sqlalchemy import Connection

from tapeline.results.backtests import compare, report, reports
from tapeline.results.metrics.report_fields import Align, Comparison
from tapeline.store.store import Store
from tapeline.store.tables.tape import pieces
from tests.results.metrics.series import DAY, MONDAY
from tests.results.stored_backtests import add_backtest


class Told(NamedTuple):
    """A backtest as the store has it."""

    id: str
    upload: str | None


def kept(store: Store, name: str, days: list[float], values: list[float]) -> Told:
    """A backtest with its report, as the reporter would leave them."""
    times = MONDAY + DAY * np.array(days)
    content = times.astype("<f8").tobytes() + np.array(values, dtype="<f8").tobytes()
    lists = {"equity": [content]}
    made, rows = report.make(lambda of: lists.get(of, []), {})

    def write(connection: Connection) -> None:
        add_backtest(connection, name)
        connection.execute(
            pieces.insert().values(upload=name, list="equity", piece=0, first=0, content=content)
        )
        put = list(rows)
        reports.put(connection, name, put)
        reports.finish(connection, name, made, {(row.name, row.level): row.piece for row in put})

    store.write_now(write)
    return Told(name, name)


def compared(
    store: Store, *rows: Told, align: Align = "time", points: int = 5, **zoom: Any
) -> Comparison:
    def read(connection: Connection) -> Comparison:
        return compare.compare(
            connection,
            rows,
            labels=[None] * len(rows),
            align=align,
            points=points,
            start=zoom.get("start"),
            end=zoom.get("end"),
            base=zoom.get("base", "window"),
        )

    return store.read_now(read)


def test_each_starts_from_a_hundred_and_keeps_to_its_own_time(store: Store) -> None:
    one = kept(store, "one", [0, 1, 2], [50.0, 60.0, 25.0])
    two = kept(store, "two", [2, 3, 4], [1_000.0, 2_000.0, 1_500.0])
    found = compared(store, one, two)
    assert found.times == [MONDAY + DAY * day for day in range(5)]
    assert found.items[0].values == [100, 120, 50, None, None]
    assert found.items[1].values == [None, None, 100, 200, 150]
    started = compared(store, one, two, align="start", points=3)
    assert started.times == [0, DAY, 2 * DAY]
    assert [item.values for item in started.items] == [[100, 120, 50], [100, 200, 150]]


def test_a_range_begins_with_the_value_known_at_its_start(store: Store) -> None:
    sparse = kept(store, "sparse", [0, 2, 4], [10.0, 20.0, 30.0])
    ranges: dict[str, Any] = {"start": MONDAY + DAY * 2.5, "end": MONDAY + DAY * 3.5}
    assert compared(store, sparse, points=3, **ranges).items[0].values == [100, 100, 100]
    ranges["end"] = MONDAY + DAY * 4.5
    assert compared(store, sparse, points=5, **ranges).items[0].values == [100, 100, 100, 150, None]
    whole = compared(store, sparse, points=5, base="start", **ranges)
    assert whole.items[0].values == [200, 200, 200, 300, None]


def test_between_two_values_the_earlier_one_stands(store: Store) -> None:
    sparse = kept(store, "sparse", [0, 3], [100.0, 400.0])
    dense = kept(store, "dense", [0, 1, 2, 3], [10.0, 11.0, 12.0, 13.0])
    found = compared(store, sparse, dense, points=4)
    assert found.items[0].values == [100, 100, 100, 400]
    assert found.items[1].values == pytest.approx([100, 110, 120, 130])


def test_a_curve_ends_with_its_last_value_wherever_that_is(store: Store) -> None:
    long = kept(store, "long", [0, 10], [100.0, 200.0])
    short = kept(store, "short", [0, 1, 3.3], [100.0, 110.0, 130.0])
    late = kept(store, "late", [3.4, 3.5], [100.0, 140.0])
    found = compared(store, long, short, late, points=5)
    assert found.times == sorted(found.times)
    assert (found.times[0], found.times[-1]) == (MONDAY, MONDAY + 10 * DAY)
    last = [max(place for place, one in enumerate(item.values) if one) for item in found.items]
    assert [found.times[place] for place in last] == [item.last for item in found.items]
    ends = [item.values[place] for item, place in zip(found.items, last, strict=True)]
    assert ends == pytest.approx([200, 130, 140])
    started = compared(store, long, short, late, align="start", points=5)
    assert len(started.times) <= 5 + 2
    for item, end in zip(started.items, (200, 130, 140), strict=True):
        assert [one for one in item.values if one][-1] == pytest.approx(end)


def test_a_long_curve_ends_with_its_last_value(store: Store) -> None:
    rising = [100.0 + number % 7 for number in range(40_000)]
    long = kept(store, "long", [0, 1_000], [1.0, 2.0])
    dense = kept(store, "dense", [number / 100 for number in range(40_000)], [*rising[:-1], 777.0])
    found = compared(store, long, dense, points=50)
    assert [one for one in found.items[1].values if one][-1] == pytest.approx(777)


def test_a_closer_look_can_keep_the_base_of_the_whole(store: Store) -> None:
    one = kept(store, "one", [0, 1, 2, 3], [50.0, 60.0, 30.0, 45.0])
    end = MONDAY + 3 * DAY
    found = compared(store, one, points=3, base="start", start=MONDAY + DAY, end=end)
    assert found.items[0].values == pytest.approx([120, 60, 90])
    found = compared(store, one, points=2, base="start", align="start", start=DAY, end=2 * DAY)
    assert found.items[0].values == pytest.approx([120, 60])


def test_a_zoom_is_rebased_where_it_starts(store: Store) -> None:
    one = kept(store, "one", [0, 1, 2, 3], [10.0, 20.0, 40.0, 30.0])
    found = compared(store, one, points=3, start=MONDAY + DAY, end=MONDAY + 3 * DAY)
    assert found.items[0].values == [100, 200, 150]
    backwards = compared(store, one, start=MONDAY + DAY, end=MONDAY)
    assert (backwards.times, backwards.items[0].values) == ([], [])


def test_what_cannot_be_rebased_has_a_reason(store: Store) -> None:
    broke = kept(store, "broke", [0, 1], [0.0, 10.0])
    empty = kept(store, "empty", [], [])
    pending = Told("pending", None)
    found = compared(store, broke, empty, pending)
    assert [bool(item.reason) for item in found.items] == [True, True, True]
    assert {value for item in found.items for value in item.values} == {None}


def test_the_best_of_each_metric_is_marked(store: Store) -> None:
    up = kept(store, "up", [0, 1, 2, 3], [10.0, 11.0, 10.5, 14.0])
    down = kept(store, "down", [0, 1, 2, 3], [10.0, 9.0, 9.5, 4.0])
    rows = {row.name: row for row in compared(store, up, down).metrics}
    assert rows["total_return"].values == pytest.approx([0.4, -0.6])
    for name in ("total_return", "max_drawdown", "volatility", "worst_day"):
        assert rows[name].best == [0], name
    assert rows["trades"].best == rows["max_drawdown_start"].best == []
    same = {row.name: row for row in compared(store, up, up).metrics}
    assert same["total_return"].best == [0, 1]


@pytest.mark.heavy
def test_the_service_starts_without_what_it_may_never_need() -> None:
    """numpy would add a tenth of a second and twelve megabytes to every start, the dialect of
    PostgreSQL a third of both."""
    never = {"numpy", "tsdownsample", "sqlalchemy.dialects.postgresql"}
    look = f"import sys, tapeline.compose; print(sorted({never} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", look], capture_output=True, check=True).stdout
    assert printed.strip() == b"[]"
