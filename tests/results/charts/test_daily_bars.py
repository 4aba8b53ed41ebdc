"""The close of a day, from bars of several intervals that cover different parts of it."""

import random
from collections.abc import Callable

import pytest
from sqlalchemy import Connection

from tapeline.prices import retention, series
from tapeline.prices.arrivals import Pushed
from tapeline.prices.columns import NOTHING, Bar
from tapeline.prices.folding import store_now
from tapeline.results.charts.daily_bars import daily_bars
from tapeline.store.store import Store
from tapeline.tape import tapes
from tests.conftest import run
from tests.results.pnl.bookkeeping import Opened

MINUTE, HOUR, DAY = 60, 3_600, 86_400
FIRST, DAYS = 20_000, 6
START = FIRST * DAY
LONG_AFTER = START + 1_000 * DAY

Push = Callable[..., None]


@pytest.fixture
def tape(opened: Opened) -> int:
    store, _ = opened
    return store.write_now(tapes.open_tape, random.randbytes(8).hex())


@pytest.fixture
def push(opened: Opened, tape: int) -> Push:
    """Bars of one interval, by their starts within the days, with their closes."""

    def push(interval: int, closes: dict[int, float], received_at: float = LONG_AFTER) -> None:
        bars: list[Bar] = [
            (float(START + at), price, price, price, price, NOTHING) for at, price in closes.items()
        ]
        some = [Pushed("A", "", interval, "", bars, received_at)]
        run(store_now(opened[0], tape, some))

    return push


def closes(store: Store, tape: int) -> dict[int, float]:
    def read(connection: Connection) -> dict[int, float]:
        every = series.bars_of(connection, tape, "A")
        found = daily_bars(connection, every, FIRST, FIRST + DAYS - 1)
        return dict(zip((found.days - FIRST).tolist(), found.closes.tolist(), strict=True))

    return store.read_now(read)


def spread(first: int, last: int, interval: int, price: float) -> dict[int, float]:
    return dict.fromkeys(range(first, last, interval), price)


def test_the_day_closes_where_its_latest_bar_does(opened: Opened, tape: int, push: Push) -> None:
    """Minutes of noon say nothing about midnight; neither do hours that end before minutes do."""
    push(MINUTE, spread(10 * HOUR, 12 * HOUR, MINUTE, 90.0))
    push(HOUR, spread(0, DAY, HOUR, 100.0))
    push(DAY, {DAY: 101.0})
    push(MINUTE, spread(DAY + 10 * HOUR, DAY + 12 * HOUR, MINUTE, 90.0))
    push(HOUR, spread(2 * DAY, 2 * DAY + 12 * HOUR, HOUR, 102.0))
    push(MINUTE, spread(2 * DAY, 3 * DAY - MINUTE, MINUTE, 92.0))
    push(HOUR, spread(3 * DAY, 4 * DAY, HOUR, 103.0))
    assert closes(opened[0], tape) == {0: 100.0, 1: 101.0, 2: 92.0, 3: 103.0}


def test_a_bar_that_still_grows_has_not_closed_at_its_end(
    opened: Opened, tape: int, push: Push
) -> None:
    """Reported at nine with the whole day's start; the minutes went on until ten."""
    push(DAY, {0: 100.0}, received_at=START + 9 * HOUR)
    push(MINUTE, spread(0, 10 * HOUR, MINUTE, 90.0), received_at=START + 10 * HOUR)
    assert closes(opened[0], tape) == {0: 90.0}
    push(DAY, {0: 110.0}, received_at=START + 11 * HOUR)
    assert closes(opened[0], tape) == {0: 110.0}


def test_what_was_made_of_removed_bars_counts_from_when_it_is_known_of(
    opened: Opened, tape: int, push: Push
) -> None:
    store, _ = opened
    push(MINUTE, spread(10 * HOUR, 12 * HOUR, MINUTE, 90.0))
    push(HOUR, spread(0, DAY, HOUR, 100.0))
    push(MINUTE, spread(DAY, 2 * DAY, MINUTE, 91.0))
    push(HOUR, spread(DAY, DAY + 18 * HOUR, HOUR, 101.0))
    before = closes(store, tape)
    assert run(retention.remove_due(store, lambda _: float(START + 100 * DAY), 1)) > 0
    assert closes(store, tape) == before == {0: 100.0, 1: 91.0}


@pytest.mark.parametrize("seed", range(4))
def test_any_mix_of_intervals_agrees_with_looking_at_every_bar(
    opened: Opened, tape: int, push: Push, seed: int
) -> None:
    """Intervals that divide no hour too: their chunks lie across midnight."""
    choice = random.Random(seed)
    latest: dict[int, tuple[int, int, float]] = {}
    for interval in choice.sample((7, MINUTE, 420, 900, HOUR, 25_200, DAY), 4):
        bars: dict[int, float] = {}
        for day in choice.sample(range(DAYS), DAYS - 1):
            start = -(-day * DAY // interval) * interval
            count = (DAY * (day + 1) - 1 - start) // interval + 1
            last = start + interval * choice.choice((0, count - 1, choice.randrange(count)))
            bars |= {at: choice.uniform(1, 2) for at in (start, last)}
            price, end = bars[last], last + interval
            latest[day] = max(latest.get(day, (0, 0, 0.0)), (end, -interval, price))
        push(interval, bars)
    assert closes(opened[0], tape) == {day: price for day, (_, _, price) in latest.items()}
