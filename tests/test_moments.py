"""A model may send any time: whatever it is, a page, a file or a terminal can show it."""

import re
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tapeline.cli.terminal import screen
from tapeline.moments import EARLIEST, LATEST, from_wall, moment, wall, written
from tapeline.results.charts.ticks import time_ticks

SOURCES = Path(__file__).parents[1] / "src" / "tapeline"
ZONES = [UTC, *map(ZoneInfo, ("Asia/Tokyo", "America/New_York", "Pacific/Kiritimati"))]
EDGES = [EARLIEST, EARLIEST + 1, -2e9, 0.0, LATEST - 86_400, LATEST - 1, LATEST - 1e-3]
OUTSIDE = [EARLIEST - 1, LATEST, 8.64e12, -1e15, 1e300, float("inf"), float("nan")]


@pytest.mark.parametrize("zone", [*ZONES, None])
def test_every_moment_of_the_calendar_can_be_written_in_every_zone(zone: ZoneInfo | None) -> None:
    for one in EDGES:
        found = moment(one, zone)
        assert found is not None
        assert abs(found.timestamp() - one) < 1
    for one in OUTSIDE:
        assert moment(one, zone) is None
        assert written(one, "%Y", zone) == str(one)


def test_a_date_that_a_zone_lacks_is_written_in_utc() -> None:
    end = moment(LATEST - 1, ZoneInfo("Asia/Tokyo"))
    assert end == datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert end.tzinfo is UTC


@pytest.mark.parametrize("zone", ZONES)
def test_clocks_and_axes_reach_the_ends_of_the_calendar(zone: ZoneInfo) -> None:
    for one in (-2e9, 0.0, 1.7e9):
        assert from_wall(wall(one, zone), zone) == one
    for one in (EARLIEST, LATEST - 1):
        assert abs(wall(one, zone) - one) < 86_400
    for start, end in ((EARLIEST, LATEST - 1), (EARLIEST, EARLIEST + 60), (LATEST - 60, LATEST)):
        assert len(time_ticks(start, end, 6, zone)) <= 7


def test_a_terminal_shows_any_time_that_a_model_sent() -> None:
    for one in EDGES + OUTSIDE:
        assert screen.moment(one)
        assert screen.short_moment(one)
        assert screen.day(one)


def test_no_other_module_converts_to_a_zone() -> None:
    """Outside of this one, dates are made in UTC, of the server's own clock."""
    foreign = re.compile(r"fromtimestamp\((?!.*\bUTC\))|astimezone\(")
    found = [
        str(file.relative_to(SOURCES))
        for file in SOURCES.rglob("*.py")
        if foreign.search(file.read_text())
    ]
    assert found == ["moments.py"]
