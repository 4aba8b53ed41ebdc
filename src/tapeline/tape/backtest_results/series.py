"""Long series cut down to what a chart can show, extremes kept.

numpy and tsdownsample are imported when the first series is asked for: start-up stays light.
"""

import math
import struct
from collections.abc import Sequence
from typing import Any

import msgspec

FEWEST = 3  # the fewest points the downsampler can make; with less it panics


class Point(msgspec.Struct):
    time: float
    value: float | None


def points(content: bytes) -> list[Point]:
    """One stored piece of a series: all its times, then all its values."""
    doubles = struct.unpack(f"<{len(content) // 8}d", content)
    half = len(doubles) // 2
    return [_point(*one) for one in zip(doubles[:half], doubles[half:], strict=True)]


def sampled(contents: Sequence[bytes], points: int) -> list[Point]:
    """At most `points` of a series that is stored as pieces of times and values, both doubles."""
    if not contents:
        return []
    import numpy as np  # noqa: PLC0415

    pieces = [np.frombuffer(content, dtype="<f8").reshape(2, -1) for content in contents]
    return thinned(
        np.concatenate([piece[0] for piece in pieces]),
        np.concatenate([piece[1] for piece in pieces]),
        points,
    )


def thinned(times: Any, values: Any, points: int) -> list[Point]:
    """At most `points` of two rows of doubles: the first, the last, the highest and the lowest."""
    if len(times) > points:
        kept = _kept(values, points)
        times, values = times[kept], values[kept]
    return [_point(*one) for one in zip(times.tolist(), values.tolist(), strict=True)]


def _point(time: float, value: float) -> Point:
    return Point(time, None if math.isnan(value) else value)


def _kept(values: Any, points: int) -> Any:
    import numpy as np  # noqa: PLC0415
    from tsdownsample import NaNMinMaxLTTBDownsampler  # noqa: PLC0415

    ends = [0, len(values) - 1]
    if points < FEWEST + 2:
        return np.array(ends)
    chosen = NaNMinMaxLTTBDownsampler().downsample(  # type: ignore[no-untyped-call]
        np.ascontiguousarray(values), n_out=points - 2
    )
    # It keeps the shape; that it keeps the extremes is likely and not certain.
    there = np.flatnonzero(~np.isnan(values))
    extremes = [there[values[there].argmin()], there[values[there].argmax()]] if len(there) else []
    return np.union1d(chosen.astype("i8"), np.array(extremes, dtype="i8"))
