"""The current state of backtests: the header of the result, the status, and the lists behind
them."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, or_, select

from tapeline.errors import NoSuchBacktest
from tapeline.store.tables.tape import backtests

# Parts of a header that only the chain needs.
_UNSHOWN = {"digests"}
_STATUS = ("successful", "status_summary", "status_details", "time_elapsed")


def is_there() -> ColumnElement[bool]:
    """Not deleted, or brought back by a later result."""
    deleted = backtests.c.deleted_seq
    return or_(deleted.is_(None), backtests.c.result_seq > deleted)


def find(connection: Connection, tape: int, backtest_id: str) -> Row[*tuple[Any, ...]]:
    row = connection.execute(
        select(backtests).where(backtests.c.tape == tape, backtests.c.id == backtest_id, is_there())
    ).first()
    if row is None:
        raise NoSuchBacktest
    return row


def newest(connection: Connection, tape: int, most: int) -> Sequence[Row[*tuple[Any, ...]]]:
    """Backtests with a result, the newest first."""
    query = select(backtests).where(
        backtests.c.tape == tape, backtests.c.upload.is_not(None), is_there()
    )
    return connection.execute(query.order_by(backtests.c.no.desc()).limit(most)).all()


def header(row: Row[*tuple[Any, ...]]) -> dict[str, Any]:
    """The result's header; empty until a result arrived."""
    return {} if row.result is None else msgspec.json.decode(row.result, type=dict[str, Any])


def shown(row: Row[*tuple[Any, ...]]) -> dict[str, Any]:
    result = header(row)
    status = None if row.status is None else msgspec.json.decode(row.status, type=dict[str, Any])
    words = {
        key: said if (said := getattr(row, key)) is not None else (status or {}).get(key)
        for key in ("description", "label")
    }
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
