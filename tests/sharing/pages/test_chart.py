"""The drawings of shared pages: in every shape, with every mark, never of what is no curve."""

import math
import re
from typing import Any

from tapeline.results.charts.tear_sheet_charts import time_ticks
from tapeline.sharing.exhibits.answers import SharedMark, SharedTrade
from tapeline.sharing.pages import chart
from tapeline.tape.backtest_results.series import Point

DAY = 86_400.0


def trade(time: float, side: str) -> SharedTrade:
    rest: dict[str, Any] = dict.fromkeys(SharedTrade.__struct_fields__)
    return SharedTrade(**rest | {"index": 1, "time": time, "side": side})


def curve(*values: float | None) -> list[Point]:
    return [Point(place * DAY, value) for place, value in enumerate(values)]


def drawn(items: list[Point], **more: object) -> chart.Drawing:
    found = chart.draw(items, "money", title="Money", kind="curve", **more)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_a_curve_is_drawn_for_every_width_of_screen() -> None:
    found = drawn(curve(0.0, 12.5, None, 7.25))
    assert len(found.svgs) == 3
    assert found.times.split() == ["0", "86400", "259200"]
    assert found.values.split() == ["0", "12.5", "7.25"]
    for svg in found.svgs:
        left, right, *_ = map(float, re.findall(r'data-frame="([^"]*)"', svg)[0].split())
        xs = [float(x) for x in re.findall(r"([\d.]+),", svg.split("polyline")[1])]
        assert left <= min(xs) <= max(xs) <= right


def test_versions_downtime_and_trades_are_marked() -> None:
    marks = [
        SharedMark(kind="version", time=DAY, until=None, version=2),
        SharedMark(kind="downtime", time=2 * DAY, until=None, version=None),
        SharedMark(kind="version", time=99 * DAY, until=None, version=3),
    ]
    trades = [trade(DAY, "buy"), trade(DAY + 1, "buy"), trade(2 * DAY, "sell"), trade(-DAY, "buy")]
    for svg in drawn(curve(1.0, 2.0, 3.0, 4.0), marks=marks, trades=trades).svgs:
        assert svg.count('class="version"') == 1
        assert "v2</text>" in svg
        assert svg.count('class="downtime"') == 1
        assert svg.count('class="buy"') == 1
        assert "Buy (2)" in svg
        assert svg.count('class="sell"') == 1


def test_what_is_no_curve_is_not_drawn() -> None:
    for items in ([], curve(1.0), curve(None, None), curve(1.0, math.nan), [Point(1.0, 1.0)] * 2):
        assert chart.draw(items, "money", title="", kind="curve") is None
    assert chart.draw(curve(-1e308, 1e308), "money", title="", kind="curve") is None


def test_a_flat_curve_and_a_rebased_one_have_an_axis() -> None:
    assert "<polyline" in drawn(curve(5.0, 5.0)).svgs[0]
    percent = chart.draw(curve(100.0, 112.5), "percent", title="", kind="curve")
    fallen = chart.draw(curve(0.0, -0.125), "percent", title="", kind="drawdown")
    assert percent is not None
    assert fallen is not None
    assert percent.last.endswith("%")
    assert "\N{MINUS SIGN}10%" in fallen.svgs[0]


def test_moments_on_the_axis_are_round_ones() -> None:
    def texts(span: float, most: int = 8) -> list[str]:
        return [text for _, text in time_ticks(1_700_000_003.0, 1_700_000_003.0 + span, most)]

    assert texts(100) == ["22:13:30", "22:13:45", "22:14:00", "22:14:15", "22:14:30", "22:14:45",
                          "22:15:00"]  # fmt: skip
    assert texts(3_000)[:2] == ["22:20", "22:30"]
    assert texts(86_400, 5)[:2] == ["Nov 15 00:00", "Nov 15 06:00"]
    assert texts(2 * 365 * DAY)[:2] == ["Jan 2024", "Apr 2024"]
    assert all(len(texts(span)) <= 9 for span in (1, 59, 61, 3_601, 90_000, 9e6, 9e7, 9e8, 9e9))
