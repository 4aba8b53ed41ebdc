"""Days of prices. Apart from arrays of them: a server starts without numpy."""

DAY = 86_400.0

Closes = dict[int, tuple[float, float]]
"""By day since 1970: when the last price of it was known, and that price."""


def day_of(time: float) -> int:
    return int(time // DAY)
