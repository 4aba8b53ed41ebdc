"""What bars and indicators may carry. They are for charts: they are stored beside the tape.

One bar is read as columns of one, so that a bar and ten thousand of them are the same from here on.
"""

import math
from array import array
from contextlib import suppress
from typing import Any

import msgspec

from tapeline.accounts import plain_names
from tapeline.errors import Invalid, MissingField, TooLarge
from tapeline.tape.events.values import Values, number, text

UNITS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60}
INTERVALS = {"1m": 60, "5m": 300, "15m": 900, "1h": 3_600, "4h": 14_400, "1d": 86_400}
LONGEST = 31 * 86_400
MOST = 10_000
"""Bars in one request."""
LARGEST = 1e30
"""Of any number here: sums of so many stay finite."""
BYTES = 2_000_000
"""Of a body with the most bars, each number with all its digits."""
PRICES = ("open", "high", "low", "close")
EARLIEST = -5e9  # before that, a number is not in seconds
AHEAD = 60.0  # seconds that a sender's clock may be ahead of ours
HOUR, DAY = 3_600, 86_400.0
PANE = "price"


def bar(values: Values, _lenient: bool) -> dict[str, Any]:
    kept = _named(values)
    kept |= {key: [_number(_required(values, key), key)] for key in PRICES}
    if values.get("volume") not in (None, ""):
        kept["volume"] = [_number(values["volume"], "volume")]
    _check(kept, lambda _: "")
    return kept


def bars(values: Values, _lenient: bool) -> dict[str, Any]:
    kept = _named(values)
    names = ["time", *PRICES]
    if values.get("volume") not in (None, ""):
        names.append("volume")
    for key in names:
        kept[key] = _column(_required(values, key), key)
    count = len(kept["time"])
    if not count:
        raise Invalid("`time` is empty: send at least one bar.", field="time")
    for key in names:
        if len(kept[key]) != count:
            raise Invalid(
                f"`{key}` has {len(kept[key]):,} values and `time` has {count:,}: all columns must"
                " have the same length.",
                field=key,
            )
    kept["time"] = array("d", map(_in_seconds, kept["time"]))
    _check(kept, lambda index: f"Bar {index}: ")
    return kept


def indicator(values: Values, _lenient: bool) -> dict[str, Any]:
    if "value" not in values:
        raise MissingField("`value` is required; null is a gap in the line.", field="value")
    said = values["value"]
    kept: dict[str, Any] = {
        "name": _visible(values, "name"),
        "value": None if said in (None, "", "null") else _number(said, "value"),
        "symbol": "",
        "pane": PANE,
    }
    for key in ("symbol", "pane"):
        if values.get(key) not in (None, ""):
            kept[key] = _visible(values, key)
    return kept


def dated(fields: dict[str, Any], at: float, received_at: float, kept_days: int) -> dict[str, Any]:
    """The same with the time of each; raises for bars that are yet to come, or too old to keep.

    `at` is what the request says: the start of a bar. Without it, it is when the request was
    received, and the bar is the one that is under way."""
    interval: int | None = fields.get("interval")
    if "time" not in fields:
        if interval is not None and at == received_at:
            at = at // interval * interval
        fields = {**fields, "time": [at]}
    first, last = min(fields["time"]), max(fields["time"])
    if last > received_at + AHEAD:
        raise Invalid(
            f"`time` is {last - received_at:,.0f} seconds ahead of this server's clock: a bar is"
            " sent when it has begun.",
            field="time",
        )
    if first < EARLIEST:
        raise Invalid("`time` is before 1811: send epoch seconds.", field="time")
    oldest = received_at - kept_days * DAY
    if kept_days and first < oldest and (interval is None or interval < HOUR):
        raise Invalid(
            f"`time` is {(received_at - first) / DAY:,.0f} days ago, and this server keeps"
            f" indicators and bars under an hour for {kept_days:,} days (`bars_days`). Send newer"
            " ones, or bars of `1h` or more.",
            field="time",
        )
    return fields


def interval_of(value: Any) -> int:
    """Seconds: of a name, or of a number of them."""
    if isinstance(value, str) and value in INTERVALS:
        return INTERVALS[value]
    try:
        seconds = number(value, "interval")
    except Invalid:
        seconds = 0.0
    if not (1 <= seconds <= LONGEST and seconds == int(seconds)):
        raise Invalid(
            f"`interval` must be one of {', '.join(INTERVALS)}, or whole seconds from 1 to"
            f" {LONGEST:,}.",
            field="interval",
        )
    return int(seconds)


def name_of(interval: int) -> str:
    """An interval as people write it: in the largest unit that it is a whole number of."""
    for letter, seconds in UNITS.items():
        if interval % seconds == 0:
            return f"{interval // seconds}{letter}"
    return f"{interval}s"


def _named(values: Values) -> dict[str, Any]:
    return {
        "symbol": _visible(values, "symbol"),
        "interval": interval_of(_required(values, "interval")),
    }


def _check(kept: dict[str, Any], where: Any) -> None:
    """The first bar whose numbers contradict each other is named."""
    columns = [kept[key] for key in PRICES]
    for index, (opened, high, low, close) in enumerate(zip(*columns, strict=True)):
        if low <= opened <= high and low <= close <= high:
            continue
        said = {"open": opened, "close": close, "high": high}
        for key, other in said.items():
            if low > other:
                words = f"`low` ({low:g}) is above `{key}` ({other:g})."
                raise Invalid(where(index) + words, field="low")
        key = "open" if opened > high else "close"
        words = f"`high` ({high:g}) is below `{key}` ({said[key]:g})."
        raise Invalid(where(index) + words, field="high")
    for index, volume in enumerate(kept.get("volume", ())):
        if volume < 0:
            raise Invalid(f"{where(index)}`volume` must not be negative.", field="volume")


def _column(value: Any, key: str) -> "array[float]":
    """A list; in a form its values one after the other, or the list as JSON. In an array it takes
    no more memory than in the body: a batch may have many of them."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise Invalid(f"`{key}` is not valid JSON: {error}.", field=key) from None
    elif isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        raise Invalid(f"`{key}` must be a list of numbers.", field=key)
    if len(value) > MOST:
        raise TooLarge(
            f"`{key}` has {len(value):,} values; a request has at most {MOST:,} bars. Send them in"
            " several requests.",
            field=key,
        )
    if {one.__class__ for one in value} <= {float, int}:  # as JSON has them, nearly always
        with suppress(OverflowError):
            found = array("d", value)
            if not found or (min(found) >= -LARGEST and max(found) <= LARGEST):
                return found
    if key == "volume":
        value = [
            math.nan if one is None else _number(one, f"{key}[{n}]") for n, one in enumerate(value)
        ]
    else:
        value = [_number(one, f"{key}[{n}]") for n, one in enumerate(value)]
    return array("d", value)


def _number(value: Any, key: str) -> float:
    found = number(value, key)
    if not -LARGEST <= found <= LARGEST:
        raise Invalid(f"`{key}` must be between {-LARGEST:g} and {LARGEST:g}.", field=key)
    return found


def _in_seconds(time: float) -> float:
    """As the `time` header: a larger number was counted in milliseconds or finer."""
    while abs(time) > -EARLIEST:
        time /= 1_000
    return time


def _visible(values: Values, key: str) -> str:
    """A name as people can read it: bars of a symbol that looks like another would mislead."""
    found = text(values, key)
    plain_names.require(found, key)
    if not found.isprintable() or found != found.strip():
        raise Invalid(
            f"`{key}` must have printable characters only, and no space at its ends.", field=key
        )
    return found


def _required(values: Values, key: str) -> Any:
    if values.get(key) in (None, ""):
        raise MissingField(f"`{key}` is required.", field=key)
    return values[key]
