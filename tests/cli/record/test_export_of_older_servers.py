"""An export knows its end, whatever version of records the server writes."""

import pytest

from tapeline.cli.record.export import is_ended

FILE = b'{"event":{}}\n{"file":{"digest":"00"}}\n'
EVENT = b'{"event":{}}\n{"checkpoint":{"seq":7}}\n'


@pytest.mark.parametrize(
    ("version", "events", "end", "whole"),
    [
        (3, 7, FILE, True),
        (3, 7, FILE[:-1], False),
        (3, 7, EVENT, False),
        (3, 0, b'{"seq":0}\n', False),
        (2, 7, EVENT, True),
        (2, 8, EVENT, False),
        (2, 7, EVENT[:-3], False),
        (1, 0, b'{"seq":0}\n', True),
    ],
)
def test_a_record_is_whole_when_its_last_line_says_so(
    version: int, events: int, end: bytes, whole: bool
) -> None:
    assert is_ended(version, events, end) is whole
