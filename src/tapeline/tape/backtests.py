"""Backtests as they stand: the header of the result, the status, and the lists behind them."""

from typing import Any

import msgspec
from sqlalchemy import Connection, Row, select

from tapeline.errors import NoSuchBacktest
from tapeline.store.tape_tables import backtests

# What the chain needs of a header and no reader does.
_UNSHOWN = {"digests"}
_STATUS = ("successful", "status_summary", "status_details", "time_elapsed")


def listed(
    connection: Connection, tape: int, *, before: int | None, limit: int
) -> tuple[list[dict[str, Any]], int | None]:
    """The newest first, by arrival, and the number to go on from."""
    query = select(backtests).where(backtests.c.tape == tape).order_by(backtests.c.no.desc())
    if before is not None:
        query = query.where(backtests.c.no < before)
    rows = connection.execute(query.limit(limit)).all()
    return [shown(row) for row in rows], rows[-1].no if len(rows) == limit else None


def find(connection: Connection, tape: int, backtest_id: str) -> Row[*tuple[Any, ...]]:
    row = connection.execute(
        select(backtests).where(backtests.c.tape == tape, backtests.c.id == backtest_id)
    ).first()
    if row is None:
        raise NoSuchBacktest
    return row


def header(row: Row[*tuple[Any, ...]]) -> dict[str, Any]:
    """The result's header; empty until a result arrived."""
    return {} if row.result is None else msgspec.json.decode(row.result, type=dict[str, Any])


def shown(row: Row[*tuple[Any, ...]]) -> dict[str, Any]:
    result = header(row)
    status = None if row.status is None else msgspec.json.decode(row.status, type=dict[str, Any])
    words = {key: (status or {}).get(key) for key in ("description", "label")}
    counts = {key: result.get(key, {}).get("count", 0) for key in ("account_values", "trades")}
    return {
        **{key: value for key, value in result.items() if key not in _UNSHOWN | counts.keys()},
        **words,
        "backtest_id": row.id,
        "created_at": row.created_at,
        "status": status and {key: status.get(key) for key in _STATUS},
        "metrics": {"computed": {}, "custom": result.get("metrics", {})},
        "counts": counts,
    }
