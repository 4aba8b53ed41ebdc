"""The server's own zone: how far its clocks were ahead of UTC when they showed a given time.

The zone data is the machine's. Another release of it, or one that keeps more history from before
1970, knows other changes of the clocks than node's; with the same data the answers are the same.
"""

import time

# Local time of any place, also of the days before zones, is less than this away from UTC.
_FARTHEST = 16 * 3_600_000


def local_offset(local: int) -> int:
    """Milliseconds ahead of UTC, for a local time in milliseconds as if it were UTC.

    A time that clocks skipped or showed twice is read with the offset from before the change, as
    JavaScript does. Counting back with the larger of the two offsets decides exactly that.
    """
    larger = max(_offset_at(local - _FARTHEST), _offset_at(local + _FARTHEST))
    return _offset_at(local - larger)


def _offset_at(instant: int) -> int:
    return time.localtime(instant // 1000).tm_gmtoff * 1000
