"""Cron expressions in UTC: what is taken, what is refused, and the next tick."""

from datetime import UTC, datetime

import pytest

from tapeline.errors import Invalid
from tapeline.runs.supervision import schedule


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("expression", "moment", "following"),
    [
        ("* * * * *", "2026-01-01T00:00:00", "2026-01-01T00:01:00"),
        ("* * * * *", "2026-01-01T00:00:59.9", "2026-01-01T00:01:00"),
        ("30 14 * * 1-5", "2026-01-02T14:30:00", "2026-01-05T14:30:00"),
        ("30 14 * * MON-FRI", "2026-01-02T14:29:59", "2026-01-02T14:30:00"),
        ("*/15 * * * *", "2026-01-01T00:59:00", "2026-01-01T01:00:00"),
        ("0 0 29 2 *", "2026-01-01T00:00:00", "2028-02-29T00:00:00"),
        # The hours that summer time skips and doubles elsewhere are ordinary ones here.
        ("30 2 * * *", "2026-03-28T12:00:00", "2026-03-29T02:30:00"),
        ("30 1 * * *", "2026-10-25T01:30:00", "2026-10-26T01:30:00"),
        ("@hourly", "2026-01-01T00:00:00", "2026-01-01T01:00:00"),
        ("@daily", "2026-01-01T00:00:00", "2026-01-02T00:00:00"),
        ("@weekly", "2026-01-01T00:00:00", "2026-01-04T00:00:00"),
        ("@monthly", "2026-01-01T00:00:00", "2026-02-01T00:00:00"),
        ("@yearly", "2026-01-01T00:00:00", "2027-01-01T00:00:00"),
        ("@Daily", "2026-01-01T00:00:00", "2026-01-02T00:00:00"),
    ],
)
def test_the_next_tick_comes_after_the_moment(expression: str, moment: str, following: str) -> None:
    assert schedule.checked(expression) == expression
    assert schedule.next_after(expression, at(moment)) == at(following)


def test_ticks_follow_each_other_without_a_gap_through_a_year() -> None:
    moment = at("2026-01-01T00:00:00")
    for _ in range(24 * 365):
        following = schedule.next_after("0 * * * *", moment)
        assert following == moment + 3600
        moment = following


def test_spaces_are_tidied() -> None:
    assert schedule.checked("  0   9 * *\t1 ") == "0 9 * * 1"


@pytest.mark.parametrize(
    "text",
    ["", "x", "* * * *", "* * * * * *", "60 * * * *", "0 0 30 2 *", "@reboot", "@every 5m",
     "* " * 500, "0 0 * * 8", "-1 * * * *", "*/0 * * * *", "9" * 5000 + " * * * *"],
)  # fmt: skip
def test_what_is_no_expression_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        schedule.checked(text)
    assert refused.value.field == "schedule"
    assert "30 14 * * 1-5" in refused.value.message
    assert len(refused.value.message) < 700
