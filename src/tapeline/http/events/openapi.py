"""The events API in the OpenAPI document: its addresses, keys and answers."""

from typing import Any

from tapeline.accounts.keys import KeyLacksRight
from tapeline.errors import (
    IdempotencyKeyReused,
    Invalid,
    NoSuchModel,
    Problem,
    StoreUnavailable,
    TooLarge,
    TooManyAttempts,
    UnknownEncoding,
    WrongKey,
)
from tapeline.http.events.api import BATCH
from tapeline.http.prices.pushed import MOST_BARS, MOST_CHUNKS, MOST_SERIES
from tapeline.http.wire.errors import status_of
from tapeline.tape.batches import MOST as EVENTS
from tapeline.tape.events import kinds
from tapeline.tape.events.account_bodies import CASH_TYPES, INSTRUMENTS, POSITIONS
from tapeline.tape.events.kinds import BY_PATH, Kind
from tapeline.tape.events.price_bodies import INTERVALS, MOST, PRICES

ENCODINGS = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
PROBLEMS: tuple[type[Problem], ...] = (
    Invalid, WrongKey, KeyLacksRight, NoSuchModel, IdempotencyKeyReused, TooLarge,
    UnknownEncoding, TooManyAttempts, StoreUnavailable,
)  # fmt: skip

TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
NUMBERS = {"anyOf": [NUMBER, {"type": "string", "pattern": r"^[-+0-9.eE]+$"}]}
OBJECT, LIST = {"type": "object"}, {"type": "array"}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


_ORDER = {
    "symbol": TEXT, "exchange": TEXT, "id": TEXT,
    "side": {"type": "string", "description": "buy or sell, in any case"},
    "size": NUMBERS, "funds": NUMBERS, "annotation": _or_null(TEXT),
    "multiplier": NUMBERS, "instrument": {"type": "string", "enum": list(INSTRUMENTS)},
    "inverse": FLAG, "fee": NUMBERS, "fee_currency": TEXT,
}  # fmt: skip
_BAR = {
    "symbol": TEXT,
    "interval": {
        "anyOf": [{"type": "string", "enum": list(INTERVALS)}, NUMBER],
        "description": f"{', '.join(INTERVALS)}, or seconds",
    },
}  # fmt: skip
_COLUMN = {"type": "array", "items": NUMBER, "minItems": 1, "maxItems": MOST}
_LINE = {"line": TEXT, "type": TEXT}

# Each body's optional keys, required keys and purpose.
KEYS: dict[Kind, tuple[dict[str, Any], tuple[str, ...], str]] = {
    kinds.LIFECYCLE: (
        {
            "message": _or_null(TEXT),
            "start_at": _or_null(NUMBERS),
            "end_at": _or_null(NUMBERS),
            "running": _or_null(FLAG),
        },
        (),
        "Update the model's status; null resets a key.",
    ),
    kinds.USED_SYMBOL: ({"symbol": TEXT}, ("symbol",), "Add a symbol to the model."),
    kinds.USED_EXCHANGE: ({"exchange": TEXT}, ("exchange",), "Add an exchange to the model."),
    kinds.EVENT: (
        {
            "type": TEXT,
            "args": _or_null(OBJECT),
            "response": _or_null(OBJECT),
            "annotation": _or_null(TEXT),
        },
        ("type",),
        "A generic event, for the event log.",
    ),
    kinds.SPOT_MARKET: (
        _ORDER,
        ("symbol", "exchange", "id", "side"),
        "A market order, by exactly one of size and funds.",
    ),
    kinds.SPOT_LIMIT: (
        {**_ORDER, "price": NUMBERS},
        ("symbol", "exchange", "id", "side", "price"),
        "A limit order.",
    ),
    kinds.SPOT_STOP: (
        {**_ORDER, "price": NUMBERS, "active": NUMBERS},
        ("symbol", "exchange", "id", "side", "price", "active"),
        "A stop order.",
    ),
    kinds.UPDATE_TRADE: ({"id": TEXT}, ("id",), "Update an order: any other keys."),
    kinds.UPDATE_ANNOTATION: (
        {"id": TEXT, "annotation": _or_null(TEXT)},
        ("id", "annotation"),
        "Set or replace an order's annotation; null removes it.",
    ),
    kinds.SCREENER_RESULT: (
        {"result": OBJECT},
        ("result",),
        "A screener's result: per symbol a flat object with the same keys.",
    ),
    kinds.LOG: (_LINE, ("line",), "A line of the live log."),
    kinds.SET_PNL: (
        {"values": {"anyOf": [LIST, TEXT]}},
        ("values",),
        "Replace the profit and loss series by the model's own.",
    ),
    kinds.SET_CUSTOM_METRIC: (
        {"metrics": {"anyOf": [OBJECT, TEXT]}},
        ("metrics",),
        "Set metrics of the model's own, merged by name.",
    ),
    kinds.AUTO_PNL: ({"enabled": FLAG}, ("enabled",), "Whether profit and loss is computed."),
    kinds.MARK_PRICE: (
        {"symbol": TEXT, "price": NUMBERS},
        ("symbol", "price"),
        "A symbol's price, for what is held and for orders without one.",
    ),
    kinds.CASH: (
        {
            "type": {"type": "string", "enum": list(CASH_TYPES)},
            "amount": NUMBERS,
            "currency": TEXT,
            "symbol": TEXT,
            "id": TEXT,
            "annotation": _or_null(TEXT),
        },
        ("type", "amount"),
        "Money that is no order: what the account gained, negative for what it paid.",
    ),
    kinds.POSITION: (
        {
            "symbol": TEXT,
            "size": NUMBERS,
            "average_price": NUMBERS,
            "quote": TEXT,
            "multiplier": NUMBERS,
            "instrument": {"type": "string", "enum": list(INSTRUMENTS)},
        },
        ("symbol", "size"),
        "What was held before the first order, negative for a short position; later: a check.",
    ),
    kinds.ACCOUNT_SETTINGS: (
        {"positions": {"type": "string", "enum": list(POSITIONS)}, "capital": _or_null(OBJECT)},
        (),
        "A change of `positions` or `capital` by the model's owner, through the view API.",
    ),
    kinds.ACCOUNT_VALUE: (
        {"value": NUMBERS, "currency": TEXT},
        ("value",),
        "What the exchange says that the account is worth.",
    ),
    kinds.STATEMENT: (
        {"stated": TEXT, "halt": TEXT, "run": _or_null(TEXT), "why": TEXT, "how": TEXT},
        ("stated",),
        "Stated by the server itself: that the model was halted, and how that ended.",
    ),
    kinds.BAR: (
        {**_BAR, **dict.fromkeys(PRICES, NUMBERS), "volume": _or_null(NUMBERS)},
        ("symbol", "interval", *PRICES),
        "A bar of a symbol's prices, for charts; the `time` header is its start.",
    ),
    kinds.BARS: (
        {**_BAR, **dict.fromkeys(("time", *PRICES, "volume"), _COLUMN)},
        ("symbol", "interval", "time", *PRICES),
        f"Up to {MOST:,} bars of one symbol and interval, as columns.",
    ),
    kinds.INDICATOR: (
        {
            "name": TEXT,
            "value": _or_null(NUMBERS),
            "symbol": TEXT,
            "pane": {"type": "string", "description": "price, or the name of another pane"},
        },
        ("name", "value"),
        "A point of a line over or under the price chart; null is a gap.",
    ),
    kinds.BACKTEST_LOG: (
        {**_LINE, "backtest_id": TEXT},
        ("line", "backtest_id"),
        "A line of a backtest's log.",
    ),
    kinds.BACKTEST_STATUS: (
        {
            "backtest_id": TEXT,
            "successful": FLAG,
            "status_summary": TEXT,
            "status_details": TEXT,
            "time_elapsed": _or_null(NUMBERS),
            "description": TEXT,
            "label": TEXT,
        },
        ("backtest_id", "successful"),
        "How a backtest ended.",
    ),
    kinds.BACKTEST_RESULT: (
        {
            "backtest_id": TEXT,
            "symbols": {"type": "array", "items": TEXT},
            "quote_asset": TEXT,
            "start_time": {"anyOf": [NUMBER, TEXT]},
            "stop_time": {"anyOf": [NUMBER, TEXT]},
            "account_values": {"type": "array", "items": OBJECT},
            "trades": {"type": "array", "items": OBJECT},
            "metrics": _or_null(OBJECT),
            "indicators": _or_null(OBJECT),
        },
        (
            "backtest_id", "symbols", "quote_asset", "start_time", "stop_time",
            "account_values", "trades",
        ),
        "A backtest's result; a second one replaces the first.",
    ),
}  # fmt: skip

_BATCH_ITEM = {
    "type": "object",
    "properties": {"path": TEXT, "time": _or_null({"anyOf": [NUMBER, TEXT]}), "body": OBJECT},
    "required": ["path", "body"],
}


def paths(error: Any) -> dict[str, dict[str, Any]]:
    found = {path: {"post": _operation(path, kind, error)} for path, kind in BY_PATH.items()}
    found[BATCH] = {"post": _batch(error)}
    return found


def _operation(path: str, kind: Kind, error: Any) -> dict[str, Any]:
    properties, required, sentence = KEYS[kind]
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {
        "operationId": path.strip("/").replace("/", "_").replace("-", "_"),
        "summary": sentence,
        "parameters": _headers(),
        "requestBody": {
            "required": bool(required),
            "content": {encoding: {"schema": schema} for encoding in ENCODINGS},
        },
        "responses": _responses(error),
        "security": [{"api_key": [], "api_pass": [], "model_id": []}],
    }


def _batch(error: Any) -> dict[str, Any]:
    content = {
        "application/json": {"schema": {"type": "array", "items": _BATCH_ITEM}},
        "application/x-ndjson": {"schema": TEXT},
    }
    return {
        **_operation("/v1/batch", kinds.LOG, error),
        "summary": "Many events in one request: all of them are stored, or none.",
        "description": f"At most {EVENTS:,} events. Of bars and indicators at most"
        f" {MOST_BARS:,}, of {MOST_SERIES:,} series, in {MOST_CHUNKS:,} chunks.",
        "requestBody": {"required": True, "content": content},
    }


def _headers() -> list[dict[str, Any]]:
    def header(name: str, sentence: str) -> dict[str, Any]:
        return {"name": name, "in": "header", "schema": TEXT, "description": sentence}

    return [
        header("time", "Epoch seconds, or any text that JavaScript's Date.parse() accepts."),
        header("Idempotency-Key", "The same key stores the same events once."),
    ]


def _responses(error: Any) -> dict[str, Any]:
    success = {"type": "object", "properties": {"status": {"const": "success"}}}
    responses = {"200": _response("The event is durably stored.", success)}
    for problem in PROBLEMS:
        responses[str(status_of(problem))] = _response(f"Code: {problem.code()}", error)
    return responses


def _response(description: str, schema: Any) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}
