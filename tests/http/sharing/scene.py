"""A live model and a backtest full of words and numbers that nobody would write by chance."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import httpx
import msgspec
import pytest

from tapeline.http.core.endpoint import Access
from tapeline.http.routes import ROUTES
from tests.pushing import Model

DAY = 86_400
START = 1_700_000_000
SYMBOLS = ("ZQXA-KWD", "ZQXB-KWD")
EXCHANGE = "qexchange"
SIZES = (7.654321, 3.219876, 98765.4321)
FEES = (0.987654, 11.223344)
PRICES = (3141.59, 3377.31, 2718.28, 2987.65, 3456.78)
BASE = 765_432.11
FREE = (
    "free-sentinel", "account-sentinel", "status-sentinel", "event-sentinel", "screen-sentinel",
)  # fmt: skip
TEXTS = (
    "log-sentinel", "note-sentinel", "life-sentinel", "id-sentinel", "metric-sentinel",
    "btlog-sentinel", "btnote-sentinel", "btmetric-sentinel",
)  # fmt: skip
NEVER = ("indicator-sentinel", "description-sentinel", "btextra-sentinel", "secret-base")
VALUES = [54_321.98 + 37.37 * n - 411.19 * (n % 5 == 4) for n in range(40)]
RESULT: dict[str, Any] = {
    "backtest_id": "b-sentinel",
    "symbols": list(SYMBOLS),
    "quote_asset": "KWD",
    "start_time": START,
    "stop_time": START + 40 * DAY,
    "account_values": [
        {"time": START + n * DAY, "value": value} for n, value in enumerate(VALUES)
    ],
    "trades": [
        {
            "symbol": SYMBOLS[n % 2],
            "side": "buy" if n % 4 < 2 else "sell",
            "time": START + n * DAY,
            "price": PRICES[n % 4],
            "size": SIZES[n % 2],
            "fee": FEES[n % 2],
            "annotation": "btnote-sentinel",
            "extra": "btextra-sentinel",
        }
        for n in range(8)
    ],
    "metrics": {"btmetric-sentinel": {"value": 445566.77, "type": "number"}},
    "indicators": {
        "indicator-sentinel ZQXA-KWD": {
            "display_name": "indicator-sentinel", "type": "number",
            "values": [{"time": START, "value": 1.0}],
        }
    },
}  # fmt: skip
CHOICES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "percent_only": {"percent_only": True},
    "percent_of_base": {"percent_only": True, "base": BASE},
    "hide_symbols": {"hide_symbols": True},
    "hide_sizes": {"hide_sizes": True},
    "hide_logs": {"hide_logs": True},
    "delay": {"delay_hours": 24},
    "all": {
        "percent_only": True, "hide_symbols": True, "hide_sizes": True, "hide_logs": True,
        "base": BASE,
    },
}  # fmt: skip
LINKS = [row for row in ROUTES if row.access is Access.SHARED and row.method == "GET"]


def trade(model: Model) -> None:
    """Orders with everything in them that a link may have to hide."""
    first, second = SYMBOLS
    order = {
        "exchange": EXCHANGE, "side": "buy", "secret": "free-sentinel",
        "account": {"id": "account-sentinel"},
    }  # fmt: skip
    push = model.push
    push("/v1/live/used-symbol", {"symbol": first})
    push("/v1/live/used-exchange", {"exchange": EXCHANGE})
    push("/v1/model/lifecycle", {"running": True, "message": "life-sentinel"})
    push("/v1/live/log", {"line": f"log-sentinel {first} {SIZES[0]}", "type": "stdout"})
    push(
        "/v1/live/spot-market",
        order | {"id": "id-sentinel-1", "symbol": first, "size": SIZES[0],
                 "executionPrice": PRICES[0], "fee": FEES[0]},
        headers={"time": str(START)},
    )  # fmt: skip
    push(
        "/v1/live/spot-limit",
        order | {"id": "id-sentinel-2", "symbol": second, "size": SIZES[1], "price": PRICES[2]},
        headers={"time": str(START + DAY)},
    )
    push(
        "/v1/live/spot-market",
        order | {"id": "id-sentinel-3", "symbol": second, "funds": SIZES[2],
                 "executionPrice": PRICES[3]},
        headers={"time": str(START + 2 * DAY)},
    )  # fmt: skip
    push(
        "/v1/live/update-trade",
        {"id": "id-sentinel-2", "status": "status-sentinel", "fee": FEES[1], "x": "free-sentinel"},
        headers={"time": str(START + 2 * DAY + 1)},
    )
    push("/v1/live/update-annotation", {"id": "id-sentinel-1", "annotation": "note-sentinel"})
    push("/v1/live/event", {"type": "event-sentinel", "what": "event-sentinel"})
    push("/v1/live/screener-result", {"result": {first: {"screen-sentinel": 1}}})
    push(
        "/v1/live/mark-price",
        {"symbol": first, "price": PRICES[4]},
        headers={"time": str(START + 3 * DAY)},
    )
    push(
        "/v1/live/spot-market",
        order | {"id": "id-sentinel-4", "symbol": first, "side": "sell", "size": 2.345678,
                 "executionPrice": PRICES[1]},
        headers={"time": str(START + 4 * DAY)},
    )  # fmt: skip
    push("/v1/live/set-custom-metric", {"metrics": {"metric-sentinel": {"value": 112233.44}}})


def push_on(model: Model, days: float, kind: str, **body: object) -> None:
    """One live event, so many days after the start."""
    model.push(f"/v1/live/{kind}", body, headers={"time": str(START + days * DAY)})


def backtest(model: Model) -> None:
    model.push("/v1/backtest/log", {"line": "btlog-sentinel", "backtest_id": "b-sentinel"})
    model.push("/v1/backtest/result", RESULT)
    model.push(
        "/v1/backtest/status",
        {"backtest_id": "b-sentinel", "successful": True, "label": "label ZQXA-KWD",
         "description": "description-sentinel", "status_summary": "", "status_details": ""},
    )  # fmt: skip


def amounts(model: Model) -> set[float]:
    """Every amount of money that the owner can see."""
    found = {BASE, *VALUES[1:], VALUES[0]}
    pnl = model.get("/pnl")
    report = model.get("/backtests/b-sentinel")["metrics"]["computed"]
    trips = model.get("/backtests/b-sentinel/round-trips")
    found |= set(_numbers({name: pnl[name] for name in ("realized", "unrealized", "fees")}))
    found |= {one["value"] for one in pnl["series"]}
    found |= {one["value"] for one in report.values() if one["type"] == "money"}
    found |= {one["profit"] for one in trips["items"]}
    for one in pnl["positions"]:
        found |= {one[name] for name in ("value", "realized", "unrealized", "fees")}
    return {one for one in found if one is not None and abs(one) > 1}


def sizes(model: Model) -> set[float]:
    """Every size, and every amount of a single trade or position."""
    found = {*SIZES, *FEES}
    for one in model.get("/pnl")["positions"]:
        found |= {one["size"], one["value"], one["fees"]}
    for one in model.items("/orders"):
        if one["fill"]:
            found |= {one["fill"]["size"], one["fill"]["fee"], one["fill"]["realized"]}
    for one in model.items("/backtests/b-sentinel/round-trips"):
        found |= {one["size"], one["fees"], one["profit"]}
    return {one for one in found if one}


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _numbers(one)
    elif isinstance(value, int | float):
        yield float(value)


def spellings(values: set[float]) -> set[str]:
    """How a number could stand in an answer."""
    found: set[str] = set()
    for one in values:
        found |= {repr(one), f"{one:,.2f}", f"{one:,.8g}", f"{one:.2f}"}
        found |= {text.removeprefix("-") for text in set(found)}
    return {text for text in found if len(text) >= 5}


@dataclass(frozen=True)
class Link:
    """A link as a stranger has it."""

    token: str
    client: httpx.Client

    def get(self, path: str = "", **more: Any) -> httpx.Response:
        return self.client.get(f"/api/shared/{self.token}{path}", **more)

    def json(self, path: str = "", **params: Any) -> Any:
        answer = self.get(path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()


def shared(model: Model, client: httpx.Client, **body: Any) -> Link:
    answer = model.owner.post(f"/api/models/{model.id}/shares", json=body)
    assert answer.status_code == 200, answer.text
    return Link(answer.json()["token"], client)


def whole(answer: httpx.Response) -> str:
    """Everything that came over the wire, headers too."""
    headers = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
    return headers + "\n" + answer.content.decode("utf-8", "replace")


def decoded(lines: str) -> list[Any]:
    return [msgspec.json.decode(line) for line in lines.splitlines() if line]


def an_order(order_id: str, symbol: str) -> dict[str, Any]:
    return {
        "id": order_id, "symbol": symbol, "exchange": "e", "side": "buy", "size": 1,
        "executionPrice": 5,
    }  # fmt: skip


def look_back_from(monkeypatch: pytest.MonkeyPatch, moment: float) -> None:
    """For links with a delay it is this moment now."""
    clock = SimpleNamespace(ago=lambda _connection, seconds: moment - seconds)
    monkeypatch.setattr("tapeline.sharing.links.delay.steady", clock)
