"""The JSON of a rule: what is taken, what is refused with which words, and that it comes back."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeline.watch.conditions import all_conditions, durations
from tapeline.watch.facts import all_facts
from tapeline.watch.rules import hours, rule
from tapeline.watch.rules.invalid import InvalidRule

PLAIN = {"name": "Down", "when": "not-running"}


def test_a_short_rule_has_its_defaults_written_out() -> None:
    read = rule.read(PLAIN, "model")
    assert read.written() == PLAIN | {"severity": "warning", "do": ["tell"]}


@pytest.mark.parametrize(
    "more",
    [
        {"for": "90s"},
        {"for": 0.5},
        {"when": {"condition": "crashed", "within": "5m"}},
        {"when": {"condition": "restarting", "within": "1h"}, "limit": 4.0, "unit": "count"},
        {"severity": "critical"},
        {"do": ["stop", "halt", {"tell": ["mail", "phone"], "after": "15m"}]},
        {"do": [{"tell": "all", "after": "1h"}]},
        {"do": []},
        {"hours": {"calendar": "XNYS"}},
        {
            "hours": {
                "zone": "Europe/Berlin",
                "days": ["mon", "fri"],
                "from": "22:00",
                "to": "06:30",
            }
        },
    ],
)
def test_a_rule_comes_back_as_it_was_written(more: dict[str, Any]) -> None:
    written = rule.read(PLAIN | more, "model").written()
    for key, value in more.items():
        assert written[key] == ("90s" if value == "90s" else value)
    assert rule.read(written, "model").written() == written


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"when": "not-runing"}, "Did you mean not-running?"),
        ({"when": None}, "`when` must be"),
        ({"when": {"condition": "crashed", "wihtin": 1}}, "Did you mean within?"),
        ({"when": {"condition": "not-running", "within": 1}}, "takes no options"),
        ({"when": {"condition": "crashed", "within": "soon"}}, "a length of time"),
        ({"severty": "info"}, "Did you mean severity?"),
        ({"severity": "fatal"}, "Known: critical, info, warning"),
        ({"limit": 3}, "takes no limit"),
        ({"unit": "count"}, "takes no limit"),
        ({"when": "restarting", "limit": "3"}, "must be a number"),
        ({"when": "restarting", "limit": True}, "must be a number"),
        ({"when": "restarting", "limit": float("nan")}, "must be a number"),
        ({"when": "restarting", "unit": "percent"}, "Known: count"),
        ({"name": ""}, "`name` must be a text"),
        ({"name": "a\nb"}, "one line"),
        ({"name": "x" * 101}, "at most 100"),
        ({"for": "soon"}, "`for` must be a length of time"),
        ({"for": -1}, "`for` must be a length of time"),
        ({"for": "400d"}, "`for` must be a length of time"),
        ({"do": "shout"}, "Known: halt, stop, tell"),
        ({"do": [{"stop": 1}]}, "neither a word nor"),
        ({"do": [{"tell": []}]}, "list of names"),
        ({"do": [{"tell": ["a"], "after": "x"}]}, "`after`"),
        ({"do": ["stop", "stop"]}, "more than once"),
        ({"hours": "always"}, "must be an object"),
        ({"hours": {"zone": "Mars/Olympus"}}, "not a time zone"),
        ({"hours": {"days": ["monday"]}}, "Did you mean mon?"),
        ({"hours": {"from": "9"}}, "a time of day"),
        ({"hours": {"from": "25:00"}}, "a time of day"),
        ({"hours": {"from": "24:00"}}, "before 24:00"),
    ],
)
def test_what_is_wrong_is_named(more: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidRule) as refused:
        rule.read(PLAIN | more, "model")
    assert words in refused.value.message


def test_a_rule_is_an_object() -> None:
    with pytest.raises(InvalidRule):
        rule.read(["not-running"], "model")


@given(st.floats(min_value=0, max_value=durations.LONGEST))
def test_a_duration_comes_back_as_it_was_written(seconds: float) -> None:
    assert durations.read(durations.written(seconds)) == seconds


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0.4 s"), (5, "5 s"), (725, "12 min 5 s"), (3_605, "1 h"), (100_800, "1 d 4 h")],
)
def test_a_duration_in_words(seconds: float, words: str) -> None:
    assert durations.in_words(seconds) == words


@given(
    days=st.sets(st.sampled_from(hours.DAYS), min_size=1),
    start=st.integers(0, 1439),
    end=st.integers(0, 1440),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
    now=st.integers(1_700_000_000, 1_800_000_000),
)
def test_the_hours_say_when_they_change(
    days: set[str], start: int, end: int, zone: str, now: int
) -> None:
    made = hours.Hours(zone, tuple(days), start, end)
    window = made.at(now)
    if window.until is None:
        assert len(days) == 7
        return
    assert window.until > now
    assert made.at(window.until).is_open is not window.is_open
    assert made.at((now + window.until) / 2).is_open is window.is_open
    if window.since is not None:
        assert window.since <= now


def test_hours_that_pass_midnight_count_on_the_morning_after() -> None:
    night = hours.read({"zone": "Europe/Berlin", "days": ["fri"], "from": "22:00", "to": "06:00"})
    berlin = ZoneInfo("Europe/Berlin")
    assert night.at(datetime(2026, 11, 14, 5, 59, tzinfo=berlin).timestamp()).is_open  # a Saturday
    assert not night.at(datetime(2026, 11, 14, 6, tzinfo=berlin).timestamp()).is_open
    assert not night.at(datetime(2026, 11, 13, 5, tzinfo=UTC).timestamp()).is_open


def test_an_exchange_is_open_within_its_sessions() -> None:
    sessions = [(100.0, 200.0), (300.0, 400.0)]
    assert hours.of_sessions(sessions, 50.0) == hours.Window(False, None, 100.0)
    assert hours.of_sessions(sessions, 100.0) == hours.Window(True, 100.0, 200.0)
    assert hours.of_sessions(sessions, 200.0) == hours.Window(False, 200.0, 300.0)
    assert hours.of_sessions(sessions, 399.0) == hours.Window(True, 300.0, 400.0)
    assert hours.of_sessions(sessions, 400.0) == hours.Window(False, 400.0, None)


def test_conditions_ask_only_for_facts_that_there_are() -> None:
    assert len(all_conditions.BY_NAME) == len(all_conditions.CONDITIONS)
    for one in all_conditions.CONDITIONS:
        assert set(one.needs) <= set(all_facts.BY_NAME), one.name
        assert one.help.endswith(".")


@pytest.mark.parametrize(
    ("when", "limit"), [("drawdown", -5), ("drawdown", 0), ("loss-of-day", -1), ("open-orders", -1)]
)
def test_a_limit_that_is_always_reached_is_refused(when: str, limit: float) -> None:
    """Traders write a fall as -5 %: a rule that stops the model would stop it at once."""
    with pytest.raises(InvalidRule, match="`limit` must"):
        rule.read({"name": "n", "when": when, "limit": limit}, "model")


@pytest.mark.parametrize(("when", "limit"), [("account-below", -5), ("open-orders", 0)])
def test_a_limit_that_can_be_kept_is_taken(when: str, limit: float) -> None:
    assert rule.read({"name": "n", "when": when, "limit": limit}, "model").limit == limit
