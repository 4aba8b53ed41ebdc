"""Our Date.parse() and node's own agree, text by text, in several zones.

The bound of this promise is the zone data. Other names than these five can differ where the data
does: Debian's keeps history before 1970 that node's merges away, a newer release knows new rules.
With node's release (2025c) under both, of all 597 names only Eire and WET differ: node takes such
short names for mistaken when the C library counts their standard time otherwise.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tapeline.tape.dates.parse import date_parse
from tests.tape.dates.date_texts import ZONES, changes_of_clocks, corpus, local_times
from tests.tape.dates.node import dates_by_node

Answers = dict[str, list[tuple[str, float | None]]]

EDGES = [
    *("", " ", "\0", "2020-01-01\0T", "T", "Z", "()", "(", ")", "+", "Jan", "12", "1 2 3 4", "--5"),
    # the limits of time
    *("+275760-09-13T00:00:00Z", "+275760-09-13T00:00:00.001Z", "+275760-09-13T00:00:00"),
    *("-271821-04-20T00:00:00Z", "-271821-04-19T23:59:59.999Z", "-271821-04-20T00:00:00"),
    *("Sep 13 275760", "Sep 14 275760", "Sep 12 275760 20:00 GMT-4", "+275760-09-12T23:00:00"),
    *("-271821-04-19", "-271821-04-20", "-271821-04-20T05:00", "+999999-01-01T00:00"),
    *("0000-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999-23:59"),
    *("-000000", "-000000-01-01", "-000000 5", "+000000-01-01", "+000000", "1/1/999999999"),
    # the calendar
    *("2023-02-30", "2023-02-30T00:00:00Z", "Feb 30 2023", "2/31/2024", "2023-02-32"),
    *("1900-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "-000001-02-29T00:00:00Z", "Feb 29 1900"),
    # midnight at the end of the day, noon, and what is not a time
    *("2020-06-01T24:00:00", "2020-06-01T24:00:00.000Z", "2020-06-01T24:00:00.001Z"),
    *("2020-06-01T24:00:01Z", "9999-12-31T24:00:00Z", "1 Jan 2020 24:00", "1 Jan 2020 24:01"),
    *("2020-06-01T23:59:60Z", "Jan 1 20 0:00 PM", "Jan 1 20 12:00 AM", "Jan 1 20 13:00 PM"),
    # fractions are cut, and V8 miscounts the digits after many zeros
    *("2020-01-01T00:00:00.9999Z", "1969-12-31T23:59:59.9999Z", "1/1/20 1:2.5", "1/1/20 1:2:3.9"),
    *("2020-01-01T00:00:00.00123456789123Z", "1 Jan 2020 10:20:30.0000000001234"),
    # years of two digits
    *("1/1/0", "1/1/49", "1/1/50", "1/1/99", "1/1/100", "Jan 1 49", "49 Jan 1", "0049-1-1"),
    # offsets, also absurd ones that wrap around in V8's 32 bits
    *("Jan 5 2020 10:00 +999999999:", "Jan 5 2020 10:00 +500000:", "Jan 5 2020 10:00 +600000:"),
    *("Jan 5 2020 GMT+", "Jan 5 2020 GMT-8", "Jan 5 2020 GMT-12345", "Jan 5 2020 +5"),
    *("2020-01-01T00:00:00+01:60", "2020-01-01T00:00:00+24:00", "2020-01-01T00:00:00-23:59"),
    # letters and spaces that are not what they seem
    *("Mar\u20285 2020", "\u017fep 5 2020", "J\u00c1N 5 2020", "1 Jan 2020\u0085", "5 Jan\u212a 1"),
]


@contextmanager
def local_zone(zone: str) -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = zone
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ")
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()


@pytest.fixture(scope="module")
def by_node() -> Answers:
    asked = [
        (zone, EDGES + changes_of_clocks() + corpus(seed, 4000) + local_times(seed, 1000))
        for seed, zone in enumerate(ZONES)
    ]
    answers = dates_by_node(asked)
    return {
        zone: list(zip(texts, answer, strict=True))
        for (zone, texts), answer in zip(asked, answers, strict=True)
    }


@pytest.mark.parametrize("zone", ZONES)
def test_node_reads_every_text_the_same(by_node: Answers, zone: str) -> None:
    with local_zone(zone):
        ours = [(text, date_parse(text)) for text, _ in by_node[zone]]
    different = [
        f"{text!r}: node {theirs}, we {our}"
        for (text, theirs), (_, our) in zip(by_node[zone], ours, strict=True)
        if theirs != our
    ]
    assert not different, "\n".join(different[:20])


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
def test_node_reads_a_hundred_thousand_more_texts_the_same(zone: str) -> None:
    texts = corpus(1_000 + ZONES.index(zone), 100_000)
    (answers,) = dates_by_node([(zone, texts)])
    with local_zone(zone):
        different = [
            text for text, theirs in zip(texts, answers, strict=True) if date_parse(text) != theirs
        ]
    assert not different, different[:20]


def test_the_comparison_is_worth_its_name(by_node: Answers) -> None:
    for pairs in by_node.values():
        read = sum(answer is not None for _, answer in pairs)
        assert 0.3 < read / len(pairs) < 0.8
    assert len({tuple(answer for _, answer in pairs) for pairs in by_node.values()}) == len(ZONES)


@pytest.mark.parametrize(
    ("zone", "text", "utc"),
    [
        ("Europe/Berlin", "2025-03-30T02:30", "2025-03-30T01:30Z"),
        ("Europe/Berlin", "2025-10-26T02:30", "2025-10-26T00:30Z"),
        ("America/New_York", "2025-03-09T02:30", "2025-03-09T07:30Z"),
        ("America/New_York", "2025-11-02T01:30", "2025-11-02T05:30Z"),
        ("Australia/Lord_Howe", "2025-10-05T02:15", "2025-10-04T15:45Z"),
        ("Australia/Lord_Howe", "2025-04-06T01:45", "2025-04-05T14:45Z"),
    ],
)
def test_skipped_and_doubled_times_count_as_before_the_change(
    zone: str, text: str, utc: str
) -> None:
    with local_zone(zone):
        assert date_parse(text) == date_parse(utc)


def test_a_day_is_utc_and_a_time_of_day_is_local() -> None:
    with local_zone("Asia/Kolkata"):
        assert date_parse("1970-01-01") == 0
        assert date_parse("1970-01-01T05:30") == 0
        assert date_parse("1/1/1970 5:30") == 0
