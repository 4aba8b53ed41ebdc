"""Long series: what is asked for is found in little time, and its extremes are in it."""

import numpy as np
import pytest
from sqlalchemy import Connection

from tapeline.results.backtests import reports
from tapeline.results.charts import pyramid
from tapeline.results.metrics.account import Floats
from tapeline.store.store import Store
from tapeline.tape.backtest_results.series import thinned
from tests.results.stored_backtests import add_backtest

UPLOAD = "u"


def keep(store: Store, times: Floats, values: Floats) -> None:
    store.write_now(add_backtest, UPLOAD)
    store.write_now(reports.put, UPLOAD, list(pyramid.build("equity", times, values)))


def stretch(
    store: Store, points: int, start: float | None = None, end: float | None = None
) -> tuple[Floats, Floats]:
    def read(connection: Connection) -> tuple[Floats, Floats]:
        return pyramid.within(connection, UPLOAD, "equity", points=points, start=start, end=end)

    return store.read_now(read)


@pytest.fixture
def long(store: Store) -> tuple[Floats, Floats]:
    times = 1.6e9 + 60.0 * np.arange(300_000.0)
    values = 1_000 + np.cumsum(np.random.default_rng(1).normal(0, 1, 300_000))
    values[123_456], values[200_001] = 9e9, -9e9
    values[50_000:50_100] = np.nan
    keep(store, times, values)
    return times, values


def test_extremes_and_ends_are_kept_at_every_zoom(
    store: Store, long: tuple[Floats, Floats]
) -> None:
    times, values = long
    for first, last in ((0, 299_999), (100_000, 250_000), (123_000, 124_000), (49_990, 50_200)):
        for points in (5, 100, 1_000, 5_000):
            found = stretch(store, points, times[first], times[last])
            shown = thinned(*found, points)
            inside = values[first : last + 1]
            assert len(shown) <= points
            known = [one.value for one in shown if one.value is not None]
            assert (max(known), min(known)) == (np.nanmax(inside), np.nanmin(inside))
            assert times[first] <= shown[0].time
            assert shown[-1].time <= times[last]
            assert [one.time for one in shown] == sorted({one.time for one in shown})


def test_no_more_is_read_than_a_chart_can_use(store: Store, long: tuple[Floats, Floats]) -> None:
    times, _ = long
    assert len(stretch(store, 1_000)[0]) <= pyramid.ENOUGH
    near = stretch(store, 1_000, times[1_000], times[2_000])
    assert near[0].tolist() == times[1_000:2_001].tolist()


def test_a_stretch_without_points_is_empty(store: Store, long: tuple[Floats, Floats]) -> None:
    times, _ = long
    for start, end in (
        (times[-1] + 1, None),
        (None, times[0] - 1),
        (times[0] + 1, times[0] + 2),
        (times[9], times[3]),
        (float("nan"), float("nan")),
    ):
        found = stretch(store, 100, start, end)
        assert len(found[0]) in {0} or np.isnan(start or 0)
    assert len(stretch(store, 100)[0]) > 0


@pytest.mark.parametrize("count", [0, 1, 2, 8_191, 8_192, 8_193, 20_000])
def test_series_of_every_length(store: Store, count: int) -> None:
    times, values = np.arange(count, dtype=float), np.sin(np.arange(count))
    keep(store, times, values)
    found = stretch(store, 5_000)
    assert found[0].tolist() == times.tolist()
    assert found[1].tolist() == values.tolist()


def test_only_nulls_are_a_series_too(store: Store) -> None:
    keep(store, np.arange(10_000.0), np.full(10_000, np.nan))
    shown = thinned(*stretch(store, 100), 100)
    assert {one.value for one in shown} == {None}
