"""Worlds that differ in what a link hides, and nothing else: under that link they look the same."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from tests.http.sharing.scene import DAY, START
from tests.pushing import Model

FACTOR = (
    4.0  # a power of two: scaled numbers are exact, so sums of them are the same to the last bit
)
PRICES = (3141.59, 3377.31, 2718.28, 2987.65, 3456.78, 2601.17)
SIZES = (7.654321, 3.219876, 2.345678, 1.357913)
FUNDS, FEES, BASE = 98_765.4321, (0.987654, 11.223344), 765_432.11
RAW_FEES = (0.00412378, 0.0167313, 0.00293117)
"""Paid in the base asset or in a third currency: quantities, as sizes are."""
THIRD_PRICE = 611.753
VALUES = [54_321.98 + 37.37 * n - 411.19 * (n % 5 == 4) for n in range(40)]


@dataclass(frozen=True)
class World:
    symbols: tuple[str, str] = ("ZQXA-KWD", "ZQXB-KWD")
    third: str = "ZQXC"
    """A currency that some fees are paid in."""
    exchange: str = "qexchange"
    price: float = 1.0
    size: float = 1.0
    word: str = "sentinel"
    funded: bool = False
    """Whether it has a capital of its own, and money that came and went."""

    @property
    def quote(self) -> str:
        return self.symbols[0].partition("-")[2]

    @property
    def money(self) -> float:
        return self.price * self.size

    @property
    def prices(self) -> list[float]:
        return [one * self.price for one in PRICES]

    @property
    def sizes(self) -> list[float]:
        return [one * self.size for one in SIZES]

    @property
    def raw_fees(self) -> list[float]:
        return [one * self.size for one in RAW_FEES]

    @property
    def third_price(self) -> float:
        return THIRD_PRICE * self.price

    @property
    def base(self) -> float:
        return BASE * self.money

    @property
    def backtest_id(self) -> str:
        return f"b-{self.word}"


def that_must_look_the_same(choices: dict[str, Any], *, funded: bool = False) -> World:
    """The plain world with everything changed that these choices hide."""
    no_money = choices.get("percent_only") or choices.get("hide_sizes")
    no_symbols = choices.get("hide_symbols")
    price = FACTOR if no_symbols else 1.0
    return World(
        symbols=("GNUA-XAF", "GNUB-XAF") if no_symbols else World.symbols,
        third="GNUC" if no_symbols else World.third,
        exchange="gexchange" if no_symbols else World.exchange,
        price=price,
        size=(FACTOR if no_money else 1.0) / price,
        word="other",
        funded=funded,
    )


def live(model: Model, world: World) -> None:
    """Every kind of event, each with more in it than a link may show."""
    word, money = world.word, world.money
    (first, second), prices, sizes = world.symbols, world.prices, world.sizes
    order = {
        "exchange": world.exchange, "side": "buy", "secret": word, "notional": 1234.5 * money,
        "filled_qty": sizes[3], "account": {"id": word, "price": prices[5]},
    }  # fmt: skip

    def push(path: str, body: dict[str, Any], days: float = 0) -> None:
        model.push(path, body, headers={"time": str(START + days * DAY)})

    push("/v1/model/used-symbol", {"symbol": first})
    push("/v1/model/used-exchange", {"exchange": world.exchange})
    push("/v1/model/lifecycle", {"running": True, "message": word})
    push("/v1/live/log", {"line": f"{word} {first} {sizes[0]}", "type": "stdout"})
    push(
        "/v1/live/spot-market",
        order | {"id": f"{word}-1", "symbol": first, "size": sizes[0], "fee": FEES[0] * money,
                 "executionPrice": prices[0]},
        days=0,
    )  # fmt: skip
    push(
        "/v1/live/spot-limit",
        order | {"id": f"{word}-2", "symbol": second, "size": sizes[1], "price": prices[2]},
        days=1,
    )
    push(
        "/v1/live/update-trade",
        {"id": f"{word}-2", "filled_size": sizes[2], "filled_avg_price": prices[5],
         "fee": FEES[1] * money, "status": word, "remark": word},
        days=1.5,
    )  # fmt: skip
    push(
        "/v1/live/spot-market",
        order | {"id": f"{word}-3", "symbol": second, "funds": FUNDS * money,
                 "executionPrice": prices[3]},
        days=2,
    )  # fmt: skip
    push(
        "/v1/live/spot-stop",
        order | {"id": f"{word}-4", "symbol": first, "size": sizes[3], "price": prices[0],
                 "active": prices[1], "side": "sell"},
        days=2.5,
    )  # fmt: skip
    push("/v1/live/update-annotation", {"id": f"{word}-1", "annotation": f"{word} {first}"})
    push("/v1/live/event", {"type": word, "args": {"symbol": first}, "response": {"p": prices[0]}})
    push("/v1/live/screener-result", {"result": {first: {word: prices[1]}}})
    push("/v1/live/mark-price", {"symbol": first, "price": prices[4]}, days=3)
    push(
        "/v1/live/spot-market",
        order | {"id": f"{word}-5", "symbol": first, "side": "sell", "size": sizes[2],
                 "executionPrice": prices[1]},
        days=4,
    )  # fmt: skip
    push("/v1/live/set-custom-metric", {"metrics": {word: {"value": 112_233.44 * money}}})
    _fees(world, order, push)
    _account(world, push)


def _fees(world: World, order: dict[str, Any], push: Callable[..., None]) -> None:
    """Fees in the base asset and in a third currency, which may be named before or after."""
    first, word = world.symbols[0], world.word
    base, fees = first.partition("-")[0], world.raw_fees
    rate = {"symbol": f"{world.third}-{world.quote}", "price": world.third_price}
    push("/v1/live/mark-price", rate, days=4.1)
    order = order | {"symbol": first, "size": world.sizes[1], "executionPrice": world.prices[0]}
    said: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
        ({"fee": fees[0], "fee_currency": base}, {}),
        ({"fee": fees[1]}, {"fee_currency": world.third}),
        ({"fee_currency": world.third}, {"fees": fees[2]}),
    )
    for n, (posted, updated) in enumerate(said, 6):
        push("/v1/live/spot-market", order | posted | {"id": f"{word}-{n}"}, days=4 + n / 10)
        if updated:
            push("/v1/live/update-trade", {"id": f"{word}-{n}", **updated}, days=4 + n / 10)
    # No price is known: this fee is not converted, and must not be shown as it was reported.
    unpriced = {key: value for key, value in order.items() if key != "executionPrice"}
    paid = {"fee": fees[0], "fee_currency": f"{world.third}D", "id": f"{word}-9"}
    symbol = f"{world.third}D-{world.quote}"
    push("/v1/live/spot-market", unpriced | paid | {"symbol": symbol}, days=4.9)


CASH = (-12.3456, 35.9127, 8.71234)
FLOWS = (43_210.98, 7_654.32, -2_109.87)
VALUE = 47_047.47


def _account(world: World, push: Callable[..., None]) -> None:
    """Everything about an account that is no order."""
    first, second = world.symbols
    word, money = world.word, world.money
    cash = {"currency": world.quote, "annotation": f"{word} {first}"}

    def pay(kind: str, amount: float, days: float, **more: Any) -> None:
        body = {"type": kind, "amount": amount * money, "id": f"{word}-{kind}-{days}", **cash}
        push("/v1/live/cash", body | more, days=days)

    pay("funding", CASH[0], 3.25, symbol=first)
    pay("rebate", CASH[1], 3.5, symbol=second)
    pay("interest", CASH[2], 3.6, currency=world.third)
    for days, size in ((-1.0, world.sizes[1]), (4.5, -world.sizes[3])):
        body = {"symbol": first, "size": size, "average_price": world.prices[5]}
        push("/v1/live/position", body | {"quote": world.quote}, days=days)
    push("/v1/live/account-value", {"value": VALUE * money, "currency": world.quote}, days=4)
    held = {"value": world.raw_fees[1], "currency": world.third}
    push("/v1/live/account-value", held, days=4)
    if world.funded:
        pay("deposit", FLOWS[0], -2)
        pay("deposit", FLOWS[1], 2.75)
        pay("withdrawal", FLOWS[2], 3.75)
        pay("withdrawal", -world.raw_fees[0] / money, 3.8, currency=world.third)


def backtest(model: Model, world: World) -> None:
    money, prices, sizes = world.money, world.prices, world.sizes
    values = [{"time": START + n * DAY, "value": one * money} for n, one in enumerate(VALUES)]
    trades = [
        {
            "symbol": world.symbols[n % 2], "side": "buy" if n % 4 < 2 else "sell",
            "time": START + n * DAY, "price": prices[n % 4], "size": sizes[n % 2],
            "fee": FEES[n % 2] * money, "annotation": world.word, "extra": sizes[3],
        }
        for n in range(8)
    ]  # fmt: skip
    lines = [{"time": START, "value": prices[4]}]
    said = {"line": world.word, "backtest_id": world.backtest_id}
    model.push("/v1/backtest/log", said, headers={"time": str(START)})
    model.push(
        "/v1/backtest/result",
        {
            "backtest_id": world.backtest_id, "symbols": list(world.symbols),
            "quote_asset": world.symbols[0].partition("-")[2], "start_time": START,
            "stop_time": START + 40 * DAY, "account_values": values, "trades": trades,
            "metrics": {world.word: {"value": 445_566.77 * money, "type": "number"}},
            "indicators": {world.word: {"display_name": world.word, "type": "number",
                                        "values": lines}},
        },
    )  # fmt: skip
    model.push(
        "/v1/backtest/status",
        {"backtest_id": world.backtest_id, "successful": True, "status_summary": world.word,
         "status_details": f"{world.symbols[0]} {prices[0]}"},
    )  # fmt: skip


def report(model: Model, world: World) -> None:
    live(model, world)
    backtest(model, world)
    model.get("/tape/seals")  # signs where the tape stands


# What differs between any two links: their token and model, hashes, and when something arrived.
_OURS = re.compile(
    r'"(?:received_at|late_by|as_of|first_signed_at|last_signed_at|model_id|digest|link|blind'
    r'|checkpoint|file)":(?:"[^"]*"|\{[^}]*\}|[^,}]+)'
    r'|"o[0-9a-f]{16}"|"[0-9a-f]{64}"|"[A-Za-z0-9+/]{22}=="'
    r"|(?<![\d,])[\d,]+ (?:s|min|h|d) (?:late|after)|\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\dZ)?"
)
# Of trades.csv: `late_by` and `received_at`, before the last three columns.
_ARRIVAL = re.compile(r'(?m),[^,\n]*,[^,\n]*(?=,[^,\n]*,[^,\n]*,(?:"[^"\n]*"|[^,\n]*)$)')
_HEADERS = ("content-type", "content-disposition", "x-robots-tag", "cache-control")


def told(answer: httpx.Response, token: str) -> object:
    """What an answer tells, without what differs between any two links."""
    said = [answer.status_code, *(answer.headers.get(name) for name in _HEADERS)]
    if answer.headers["content-type"] == "image/png":
        return [*said, answer.content]
    text = answer.text.replace(token, "…")
    if answer.headers["content-type"].startswith("text/csv"):
        text = _ARRIVAL.sub("", text)
    return [*said, *_OURS.sub("…", text).splitlines()]
