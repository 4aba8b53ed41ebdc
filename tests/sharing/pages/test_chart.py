"""The drawings of shared pages: in every shape, with every mark, and only if there is a curve."""

import math
import re

import pytest

from tapeline.sharing.exhibits.answers import SharedMark, Unit
from tapeline.sharing.exhibits.exhibit import Arrow
from tapeline.sharing.pages import chart
from tapeline.tape.backtest_results.series import Point

DAY = 86_400.0


def trade(time: float, side: str) -> Arrow:
    return Arrow(time, side)


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
    for svg in drawn(curve(1.0, 2.0, 3.0, 4.0), marks=marks, arrows=trades).svgs:
        assert svg.count('class="version"') == 1
        assert "v2</text>" in svg
        assert svg.count('class="downtime"') == 1
        assert svg.count('class="buy"') == 1
        assert "Buy (2)" in svg
        assert svg.count('class="sell"') == 1


def test_the_name_of_a_version_stays_on_the_left_of_the_axis() -> None:
    marks = [
        SharedMark(kind="version", time=3 * DAY - 3600 * hours, until=None, version=version)
        for hours, version in ((40, 1), (1, 2), (0, 3))
    ]
    for svg in drawn(curve(1.0, 2.0, 3.0, 4.0), marks=marks).svgs:
        right = float(re.findall(r'data-frame="[\d.]+ ([\d.]+)', svg)[0])
        found = re.findall(r'class="mark" x="([\d.]+)"[^>]*?( text-anchor="end")?>(v\d)', svg)
        assert [name for *_, name in found] == ["v1", "v2"], "the third has no room"
        for x, end, name in found:
            assert float(x) + (0 if end else 8 * len(name)) <= right


def test_an_arrow_points_at_the_line_where_it_is_drawn() -> None:
    for svg in drawn(curve(0.0, 0.0, 100.0), arrows=[trade(1.5 * DAY, "buy")]).svgs:
        line = re.findall(r"([\d.]+),([\d.]+)", svg.split("<polyline")[1].split("/>")[0])
        (_, low), (_, high) = ((float(x), float(y)) for x, y in line[-2:])
        tip = float(re.findall(r'class="buy" points="[\d.]+,([\d.]+)', svg)[0])
        assert tip - 6 == pytest.approx((low + high) / 2, abs=0.2)


def test_a_series_that_is_not_a_curve_is_not_drawn() -> None:
    for items in ([], curve(1.0), curve(None, None), curve(1.0, math.nan), [Point(1.0, 1.0)] * 2):
        assert chart.draw(items, "money", title="", kind="curve") is None
    assert chart.draw(curve(-1e308, 1e308), "money", title="", kind="curve") is None


def test_a_flat_curve_and_a_rebased_one_have_an_axis() -> None:
    for flat in ((5.0, 5.0), (1.0, 1.0000000000000002), (0.0, 5e-324), (-1e-310, 1e-310)):
        assert "<polyline" in drawn(curve(*flat)).svgs[0]
    percent = chart.draw(curve(100.0, 112.5), "percent", title="", kind="curve")
    fallen = chart.draw(curve(0.0, -0.125), "percent", title="", kind="drawdown")
    assert percent is not None
    assert fallen is not None
    assert percent.last.endswith("%")
    assert "\N{MINUS SIGN}10 %" in fallen.svgs[0]


@pytest.mark.parametrize(
    ("unit", "kind", "last", "text"),
    [
        ("money", "curve", 14.0123, "14.01"),
        ("money", "curve", -9_876.54, "\N{MINUS SIGN}9,876.54"),
        ("money", "curve", 123_456.7, "123,456.70"),
        ("money", "curve", 0.0, "0.00"),
        ("money", "curve", 5e-324, "0.00"),
        ("percent", "curve", 63.894, "63.89 %"),
        ("percent", "curve", 0.0004, "0.00 %"),
        ("percent", "drawdown", -0.361149, "\N{MINUS SIGN}36.11 %"),
    ],
)
def test_the_tag_at_the_end_is_not_rounded_further_than_the_figures(
    unit: Unit, kind: chart.Kind, last: float, text: str
) -> None:
    found = chart.draw(curve(1_000.0, -3.0, last), unit, title="Curve", kind=kind)
    assert found is not None
    for svg in found.svgs:
        assert re.findall(r'class="now"[^>]*>([^<]*)<', svg) == [text]


def test_an_axis_fits_its_values_and_writes_them_in_one_unit() -> None:
    def ticks(*values: float) -> list[str]:
        return re.findall(
            r'class="tick" x="[^"]*" y="[^"]*">([^<]*)<', drawn(curve(*values)).svgs[2]
        )

    account = ticks(100_000.0, 95_000.0, 108_000.0)
    assert account[0] == "95,000"
    assert "0" not in account
    assert set(ticks(0.0, -12_000.0, -3_000.0)) <= {
        "0", "\N{MINUS SIGN}5,000", "\N{MINUS SIGN}10,000", "\N{MINUS SIGN}15,000",
    }  # fmt: skip
