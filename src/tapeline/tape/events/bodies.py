"""What the body of each kind of event may hold.

A reader takes the decoded body and whether it came as a form, and returns the body that goes on the
tape.
"""

from contextlib import suppress
from typing import Any

import msgspec

from tapeline.errors import Invalid, MissingField
from tapeline.tape.events import account_bodies
from tapeline.tape.events.values import (
    Values,
    dictionary,
    flag,
    is_reset,
    number,
    optional_text,
    positive,
    text,
)

SIDES = ("buy", "sell")
NUMBERS_OF_UPDATES = {
    "executionPrice", "executed_price", "filled_avg_price", "executionTime", "executed_time",
    "filled_size", "fee", "fees", "size", "funds", "price", "active", "canceled_time",
    "multiplier",
}  # fmt: skip


def lifecycle(values: Values, lenient: bool) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key in ("message", "start_at", "end_at", "running"):
        if key not in values:
            continue
        value = values[key]
        if is_reset(value, lenient=lenient):
            kept[key] = None
        elif key == "message":
            kept[key] = optional_text(values, key)
        elif key == "running":
            kept[key] = flag(value, key, lenient=lenient)
        else:
            kept[key] = number(value, key)
    return kept


def used_symbol(values: Values, _lenient: bool) -> dict[str, Any]:
    return {"symbol": text(values, "symbol")}


def used_exchange(values: Values, _lenient: bool) -> dict[str, Any]:
    return {"exchange": text(values, "exchange")}


def generic(values: Values, lenient: bool) -> dict[str, Any]:
    return {
        "type": text(values, "type"),
        "args": dictionary(values, "args", lenient=lenient),
        "response": dictionary(values, "response", lenient=lenient),
        "annotation": optional_text(values, "annotation"),
    }


def market_order(values: Values, lenient: bool) -> dict[str, Any]:
    order = {**_with_numbers(values), **account_bodies.contract(values, lenient)}
    for key in ("symbol", "exchange", "id"):
        order[key] = text(values, key)
    order["side"] = _side(values)
    given = [key for key in ("size", "funds") if values.get(key) not in (None, "")]
    if len(given) != 1:
        if given:
            raise Invalid("`size` cannot be sent together with `funds`.", field="funds")
        raise MissingField("`size` or `funds` is required.", field="size")
    order.pop("funds" if given == ["size"] else "size", None)
    order[given[0]] = positive(values[given[0]], given[0])
    if "annotation" in values:
        order["annotation"] = optional_text(values, "annotation")
    return order


def limit_order(values: Values, lenient: bool) -> dict[str, Any]:
    order = market_order(values, lenient)
    order["price"] = _required_number(values, "price")
    if "activate" in order:
        # An older client sends its stop orders this way.
        order["active"] = order.pop("activate")
    if order.get("active") in (None, ""):
        order.pop("active", None)
    else:
        order["active"] = positive(order["active"], "active")
    return order


def stop_order(values: Values, lenient: bool) -> dict[str, Any]:
    order = limit_order(values, lenient)
    if "active" not in order:
        raise MissingField("`active` is required.", field="active")
    return order


def update_trade(values: Values, _lenient: bool) -> dict[str, Any]:
    update = _with_numbers(values)
    update["id"] = text(values, "id")
    if len(update) < 2:
        raise MissingField("Send at least one key besides `id`.", field="id")
    return update


def update_annotation(values: Values, _lenient: bool) -> dict[str, Any]:
    if "annotation" not in values or values["annotation"] == "":
        raise MissingField("`annotation` is required; null removes it.", field="annotation")
    return {"id": text(values, "id"), "annotation": optional_text(values, "annotation")}


def screener_result(values: Values, lenient: bool) -> dict[str, Any]:
    result = dictionary(values, "result", lenient=lenient)
    if result is None:
        raise MissingField("`result` is required.", field="result")
    if not result:
        raise Invalid("`result` must name at least one symbol.", field="result")
    if not isinstance(values["result"], dict):
        return {"result": result}  # a form: the names are all that arrived
    expected: set[str] | None = None
    for symbol, row in result.items():
        if not isinstance(row, dict):
            raise Invalid(f"`result.{symbol}` must be an object of values.", field="result")
        for key, value in row.items():
            if isinstance(value, dict | list):
                raise Invalid(
                    f"`result.{symbol}.{key}` is nested; values must be plain.", field="result"
                )
        expected = expected if expected is not None else set(row)
        if odd := expected ^ set(row):
            raise Invalid(
                f"All symbols need the same keys; `{symbol}` differs in `{min(odd)}`.",
                field="result",
            )
    return {"result": result}


def cut(line: str, most: int) -> str:
    """So many bytes of a line, and how many more there were."""
    if len(line) * 4 <= most or len(line.encode()) <= most:
        return line
    kept = line.encode()[:most].decode("utf-8", "ignore")
    return f"{kept} … [cut: {len(line.encode()) - most:,} bytes more]"


def log(values: Values, _lenient: bool) -> dict[str, Any]:
    return {"line": text(values, "line"), "type": _log_type(values)}


def backtest_log(values: Values, lenient: bool) -> dict[str, Any]:
    return {**log(values, lenient), "backtest_id": text(values, "backtest_id")}


def backtest_status(values: Values, lenient: bool) -> dict[str, Any]:
    if values.get("successful") in (None, ""):
        raise MissingField("`successful` is required.", field="successful")
    elapsed = values.get("time_elapsed")
    status = {
        "backtest_id": text(values, "backtest_id"),
        "successful": flag(values["successful"], "successful", lenient=lenient),
        "status_summary": optional_text(values, "status_summary") or "",
        "status_details": optional_text(values, "status_details") or "",
        "time_elapsed": number(elapsed, "time_elapsed") if elapsed not in (None, "") else None,
    }
    for key in ("description", "label"):
        if values.get(key) is not None:
            status[key] = optional_text(values, key)
    return status


def backtest_result_header(values: Values, _lenient: bool) -> dict[str, Any]:
    """The header that `preparing` made of a result; it was checked there, piece by piece."""
    return dict(values)


def set_pnl(values: Values, _lenient: bool) -> dict[str, Any]:
    points = _json_if_text(values, "values")
    if not isinstance(points, list):
        raise Invalid("`values` must be a list of {time, value}.", field="values")
    return {"values": [_point(point, index) for index, point in enumerate(points)]}


def set_custom_metric(values: Values, _lenient: bool) -> dict[str, Any]:
    metrics = _json_if_text(values, "metrics")
    if not isinstance(metrics, dict):
        raise Invalid("`metrics` must be an object keyed by name.", field="metrics")
    for name, metric in metrics.items():
        if not isinstance(metric, dict) or "value" not in metric:
            raise Invalid(f"`metrics.{name}` must be an object with a `value`.", field="metrics")
    return {"metrics": metrics}


def auto_pnl(values: Values, lenient: bool) -> dict[str, Any]:
    if values.get("enabled") in (None, ""):
        raise MissingField("`enabled` is required.", field="enabled")
    return {"enabled": flag(values["enabled"], "enabled", lenient=lenient)}


def mark_price(values: Values, _lenient: bool) -> dict[str, Any]:
    return {"symbol": text(values, "symbol"), "price": _required_number(values, "price")}


def _side(values: Values) -> str:
    side = text(values, "side").lower()
    if side not in SIDES:
        raise Invalid(f"`side` must be buy or sell, not {values['side']!r}.", field="side")
    return side


def _required_number(values: Values, key: str) -> float:
    if values.get(key) in (None, ""):
        raise MissingField(f"`{key}` is required.", field=key)
    return positive(values[key], key)


def _with_numbers(values: Values) -> dict[str, Any]:
    """Known keys as numbers where their texts are numbers; other values stay as they are."""
    kept = dict(values)
    for key in NUMBERS_OF_UPDATES & kept.keys():
        if isinstance(kept[key], str):
            with suppress(Invalid):
                kept[key] = number(kept[key], key)
    return kept


def _log_type(values: Values) -> str:
    return optional_text(values, "type") or "stdout"


def _json_if_text(values: Values, key: str) -> Any:
    value = values.get(key)
    if value in (None, ""):
        raise MissingField(f"`{key}` is required.", field=key)
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Invalid(f"`{key}` is not valid JSON: {error}.", field=key) from None


def _point(point: Any, index: int) -> dict[str, float]:
    if not isinstance(point, dict) or not {"time", "value"} <= point.keys():
        raise Invalid(f"`values[{index}]` needs `time` and `value`.", field="values")
    return {
        "time": number(point["time"], f"values[{index}].time"),
        "value": number(point["value"], f"values[{index}].value"),
    }
