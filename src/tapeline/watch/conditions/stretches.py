"""Previews: from a line of values, or from moments, to the stretches in which a rule held.

numpy is imported at the first use, to keep start-up fast.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from tapeline.watch.conditions.condition import Past, Stretch
from tapeline.watch.conditions.judging import slack

if TYPE_CHECKING:
    from tapeline.results.metrics.account import Flags, Floats

MOST = 500  # stretches that are told, the newest


def of_line(past: Past, times: "Floats", values: "Floats", holds: "Flags") -> list[Stretch]:
    """A value holds from its moment to that of the next; the last one until now. Of each stretch
    the value with which it began."""
    import numpy as np  # noqa: PLC0415

    if not len(times):
        return []
    # What held before the window began, holds in it from its first moment on.
    first = max(0, int(np.searchsorted(times, past.since, side="right")) - 1)
    times, values, holds = np.maximum(times[first:], past.since), values[first:], holds[first:]
    inside = times <= past.now
    times, values, holds = times[inside], values[inside], holds[inside]
    changed = np.flatnonzero(np.diff(holds.astype("i1"), prepend=0))
    found = []
    for number, place in enumerate(changed):
        if holds[place]:
            later = changed[number + 1] if number + 1 < len(changed) else None
            ended = None if later is None else float(times[later])
            value = float(values[place])
            found.append(Stretch(began_at=float(times[place]), ended_at=ended, value=value))
    return found[-MOST:]


def of_moments(past: Past, moments: Iterable[float], lasting: float) -> list[Stretch]:
    """Each moment holds for so long; those that touch are one."""
    found: list[tuple[float, float]] = []
    for moment in sorted(moments):
        if moment + lasting <= past.since or moment > past.now:
            continue
        if found and moment <= found[-1][1]:
            found[-1] = found[-1][0], moment + lasting
        else:
            found.append((max(moment, past.since), moment + lasting))
    return [
        Stretch(began_at=began, ended_at=None if ended > past.now else ended)
        for began, ended in found[-MOST:]
    ]


def of_windows(
    past: Past, moments: Sequence[float], window: float, judged: Callable[[int, int], float | None]
) -> list[Stretch]:
    """Of a figure about what happened within a window. `moments` rise; `judged` takes the first and
    the place after the last of those within. It can change when a moment enters, and when it
    leaves."""
    import numpy as np  # noqa: PLC0415

    if not moments or past.asked.limit is None:
        return []
    leaving = [moment + window for moment in moments]
    times = np.unique(np.array([*moments, *leaving]))
    ends = np.searchsorted(moments, times, side="right")
    starts = np.searchsorted(leaving, times, side="right")
    values = np.array(
        [
            np.nan if (value := judged(int(start), int(end))) is None else value
            for start, end in zip(starts, ends, strict=True)
        ]
    )
    with np.errstate(invalid="ignore"):
        return of_line(past, times, values, values > past.asked.limit + slack(past.asked.limit))
