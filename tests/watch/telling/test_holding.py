"""Quiet hours and digests, as people write them."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tapeline.errors import Invalid
from tapeline.watch.telling import holding

BERLIN = ZoneInfo("Europe/Berlin")


def at(*moment: int) -> float:
    return datetime(*moment, tzinfo=BERLIN).timestamp()  # type: ignore[misc,arg-type]


def test_quiet_hours_may_pass_midnight() -> None:
    quiet = {"zone": "Europe/Berlin", "from": "22:00", "to": "07:00"}
    assert holding.quiet_until(quiet, at(2026, 5, 4, 23)) == at(2026, 5, 5, 7)
    assert holding.quiet_until(quiet, at(2026, 5, 5, 6, 59)) == at(2026, 5, 5, 7)
    assert holding.quiet_until(quiet, at(2026, 5, 5, 7)) is None
    assert holding.quiet_until(None, at(2026, 5, 5, 3)) is None


def test_digests_have_their_moments_also_when_clocks_change() -> None:
    daily = {"every": "day", "at": "08:00", "zone": "Europe/Berlin"}
    assert holding.next_digest(daily, at(2026, 3, 28, 9)) == at(2026, 3, 29, 8)
    assert holding.next_digest(daily, at(2026, 3, 29, 7, 59)) == at(2026, 3, 29, 8)
    assert holding.next_digest(daily, at(2026, 3, 29, 8)) == at(2026, 3, 30, 8)
    assert holding.next_digest({"every": "hour"}, 3_600.0 * 5 + 1) == 3_600.0 * 6
    assert holding.next_digest(None, 1.0) is None


@pytest.mark.parametrize(
    "value",
    ["hourly", {}, {"every": "week"}, {"every": "day", "at": "25:00"}, {"every": "hour", "x": 1},
     {"every": "day", "zone": "Mars"}, {"every": "day", "at": 8}, []],
)  # fmt: skip
def test_a_digest_that_nobody_could_keep_is_refused(value: Any) -> None:
    with pytest.raises(Invalid) as caught:
        holding.read_digest(value)
    assert caught.value.field == "digest"


@pytest.mark.parametrize(
    "value", ["night", {"from": "x"}, {"zone": "Mars"}, {}, {"days": ["noday"]}, {"until": "07:00"}]
)
def test_quiet_hours_that_are_wrong_or_for_ever_are_refused(value: Any) -> None:
    with pytest.raises(Invalid) as caught:
        holding.read_quiet(value)
    assert (caught.value.field or "").startswith("quiet")
    assert "hours" not in caught.value.message
