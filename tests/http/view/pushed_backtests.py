"""Backtests that a model pushed, and what is read of them."""

import time
from typing import Any

from sqlalchemy import Connection, func, select

from tapeline.tape import cleanup
from tests.conftest import Service, run
from tests.pushing import RESULT, Model
from tests.results.metrics.series import every_day, walk

PATH = "/v1/backtest/result"


def sweep(model: Model) -> None:
    run(cleanup.clean_up(model.service.store))
    run(cleanup.clean_up_discards(model.service.store, time.time()))


def result(backtest_id: str = "b1", *, count: int = 400, seed: int = 1, **more: Any) -> Any:
    """A year of days and a few trades."""
    times, values = every_day(count), walk(count, seed=seed)
    trades = [
        {"symbol": "BTC-USD", "side": side, "time": times[place], "size": 1, "price": price}
        for place, side, price in ((1, "buy", 100), (5, "sell", 130), (9, "buy", 50))
    ]
    points = [{"time": t, "value": v} for t, v in zip(times.tolist(), values.tolist(), strict=True)]
    return RESULT | {
        "backtest_id": backtest_id,
        "start_time": times[0],
        "stop_time": times[-1],
        "account_values": points,
        "trades": trades,
        **more,
    }


def computed(model: Model, backtest_id: str = "b1") -> dict[str, dict[str, Any]]:
    shown = model.get(f"/backtests/{backtest_id}")
    assert shown["metrics"]["computing"] is False
    found: dict[str, dict[str, Any]] = shown["metrics"]["computed"]
    return found


def rows_in(service: Service, *tables: Any) -> dict[str, int]:
    def count(connection: Connection) -> dict[str, int]:
        counting = {table.name: select(func.count()).select_from(table) for table in tables}
        return {name: connection.scalar(query) or 0 for name, query in counting.items()}

    return service.store.read_now(count)
