"""What the server and the process that asks an exchange say to each other, one JSON per line."""

import msgspec

MINUTE, HOUR, DAY = 60, 3_600, 86_400
TIMEFRAMES = {MINUTE: "1m", HOUR: "1h", DAY: "1d"}
"""The intervals that are asked for. Others are made from them."""

Row = list[float | None]
"""Start in milliseconds, open, high, low, close, volume; checked by those who receive it."""


class Wanted(msgspec.Struct, frozen=True):
    market: str
    since: dict[int, float]
    """Of each interval that is due, the start of the first bar to ask for."""


class Order(msgspec.Struct, frozen=True):
    exchange: str
    url: str
    """Of a server to ask instead of the exchange's own; empty: none."""
    parent: int
    seconds: float
    """What is not asked for by then has to wait for the next time."""
    wanted: list[Wanted]
    patience: float = 20.0
    """Seconds for each answer."""


class Listing(msgspec.Struct, tag="listing"):
    """Markets that are wanted and listed. The others are not."""

    names: dict[str, str]


class Candles(msgspec.Struct, tag="candles"):
    market: str
    interval: int
    rows: list[Row]


class Refused(msgspec.Struct, tag="refused"):
    """No answer, or a wrong one, about one market."""

    market: str
    why: str


class Asked(msgspec.Struct, tag="asked"):
    """Everything that was wanted of a market was asked for."""

    market: str


class Away(msgspec.Struct, tag="away"):
    """No answer about anything. Nothing follows."""

    why: str


Said = Listing | Candles | Refused | Asked | Away
