"""Series that tests are made of, and quantstats beside them as the judge."""

from typing import Any

import numpy as np
import pandas as pd
import quantstats.stats

from tapeline.results.metrics import all_metrics
from tapeline.results.metrics.account import Account, ordered
from tapeline.results.metrics.metric import Subject
from tapeline.results.metrics.report_fields import Measured

qs: Any = quantstats.stats  # much of it is untyped

DAY = 86_400.0
MONDAY = 1_609_718_400.0  # 2021-01-04


def weekdays(count: int, start: float = MONDAY) -> "np.typing.NDArray[np.float64]":
    days = start + DAY * np.arange(2.0 * count)
    weekday = (days // DAY).astype(int) % 7  # of 1970-01-01, a Thursday
    return np.asarray(days[(weekday != 2) & (weekday != 3)][:count])


def every_day(count: int, start: float = MONDAY) -> "np.typing.NDArray[np.float64]":
    return start + DAY * np.arange(float(count))


def walk(
    count: int, *, seed: int = 1, drift: float = 0.0005, spread: float = 0.01
) -> "np.typing.NDArray[np.float64]":
    steps = np.random.default_rng(seed).normal(drift, spread, count - 1)
    return np.append([10_000.0], 10_000.0 * np.cumprod(1 + steps))


def subject(times: Any, values: Any, *, is_money: bool = False) -> Subject:
    return Subject(Account(ordered(times, values), is_money=is_money))


def computed(times: Any, values: Any, *, is_money: bool = False) -> dict[str, Measured]:
    return all_metrics.compute(subject(times, values, is_money=is_money))


def frame(times: Any, values: Any) -> "pd.Series[float]":
    """As people hand it to quantstats: the last value of each UTC day, as a change in percent."""
    index = pd.to_datetime(np.asarray(times) * 1e9, unit="ns")
    closes = pd.Series(np.asarray(values, dtype=float), index=index).resample("D").last().dropna()
    found: pd.Series[float] = closes.pct_change(fill_method=None).dropna()
    return found
