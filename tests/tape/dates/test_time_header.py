"""The `time` header: numbers are epoch seconds, everything else is JavaScript's business."""

import math
import re
import time

import pytest

from tapeline.errors import Invalid
from tapeline.tape.dates.time_header import read_time
from tests.tape.dates.date_texts import corpus
from tests.tape.dates.node import dates_by_node
from tests.tape.dates.test_parse import local_zone

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("0", 0), ("1735689600", 1735689600), ("1735689600.125", 1735689600.125), ("2020", 2020)),
        *((" 12\t", 12), ("\xa012\ufeff", 12), ("+5", 5), ("-5.5", -5.5), (".5", 0.5), ("5.", 5)),
        *(("1e3", 1000), ("1.5E+3", 1500), ("2e-1", 0.2), ("1e-400", 0), ("007", 7)),
    ],
)
def test_a_number_is_epoch_seconds(text: str, seconds: float) -> None:
    assert read_time(text) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("5000000000", 5e9), ("5000000001", 5000000.001), ("-5000000001", -5000000.001)),
        *(("1735689600123", 1735689600.123), ("-1735689600123", -1735689600.123)),
        *(("1735689600123456", 1735689600.123456), ("1735689600123456789", 1735689600.1234567)),
        *(("1e300", 1e9), ("1.7356896e12", 1735689600)),
    ],
)
def test_a_large_number_was_counted_in_smaller_units(text: str, seconds: float) -> None:
    assert read_time(text) == pytest.approx(seconds, abs=1e-6)


def test_milliseconds_lose_nothing() -> None:
    assert read_time("1735689600123") == 1735689600.123


def test_zero_has_no_sign() -> None:
    assert math.copysign(1, read_time("-0")) == 1


def test_a_date_is_read() -> None:
    assert read_time("2025-01-01T00:00:00.250Z") == 1735689600.25
    assert read_time("Wed, 01 Jan 2025 00:00:00 GMT") == 1735689600
    assert read_time("Tue Dec 31 2024 19:00:00 GMT-0500 (Eastern Standard Time)") == 1735689600


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "now", "yesterday", "2025-13-01", "2025-01-01T25:00:00Z", "\0", "+"),
        *("nan", "NaN", "inf", "-Infinity", "1e999", "-1e999", "0x10", "1e", "e5", "1_000"),
        *("\u0661\u0662", "\uff11\uff12"),  # digits to Python, but not to JavaScript
    ],
)
def test_what_is_neither_is_refused_kindly(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_time(text)
    assert refused.value.field == "time"
    assert f'"{text}"' in refused.value.message
    for example in re.findall(r"like (\S+?)\.?(?= or|$)", refused.value.message):
        assert read_time(example) >= 1735689600


def test_a_long_text_is_cut_in_the_answer() -> None:
    with pytest.raises(Invalid) as refused:
        read_time("x" * 100_000)
    assert f'"{"x" * 100}…"' in refused.value.message


@pytest.mark.parametrize("part", ["1", "0", "(", ")", "()", "1:", "Jan", " ", "1 ", "+", "é", "٣"])
def test_a_long_text_costs_little(part: str) -> None:
    started = time.process_time()
    with pytest.raises(Invalid):
        read_time(part * 50_000 + "x")
    assert time.process_time() - started < 5


def test_the_answer_can_always_be_sent() -> None:
    with pytest.raises(Invalid) as refused:
        read_time("\ud800 soon")
    assert refused.value.message.encode()


def test_all_but_numbers_are_read_as_node_reads_them() -> None:
    texts = [text for text in corpus(seed=99, size=3000) if not NUMBER.fullmatch(text)]
    [answers] = dates_by_node([("Europe/Berlin", texts)])
    with local_zone("Europe/Berlin"):
        for text, milliseconds in zip(texts, answers, strict=True):
            if milliseconds is not None:
                assert read_time(text) == milliseconds / 1000
            else:
                with pytest.raises(Invalid):
                    read_time(text)
