"""Every kind of event as a method: checks what is cheap to check and hands the body on."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Iterable, Mapping

from tapeline_client import checks
from tapeline_client.errors import InvalidEvent
from tapeline_client.prices import PriceEvents

_UNSET: Any = object()
Number = Any
"""An int, a float, a Decimal or a numpy scalar."""
Id = Any
"""A string, or a value with a string form: a number, a UUID."""
Side = Any
"""`buy` or `sell`, in any case, or a member of an enumeration with these values."""
Time = Any
"""Epoch seconds, a datetime, or a text that JavaScript's `Date.parse()` reads."""


class Events(PriceEvents):
    """The events that a client can report. `time` is when it happened; by default, now."""

    @abstractmethod
    def _push(self, path: str, body: Mapping[str, Any], at: Time = None) -> None: ...

    @abstractmethod
    def _push_line(self, line: str, kind: str, at: Time, backtest: str | None = None) -> None: ...

    @abstractmethod
    def _backtest(self, given: str | None) -> str: ...

    # The model

    def lifecycle(
        self,
        *,
        message: str | None = _UNSET,
        start_at: Time = _UNSET,
        end_at: Time = _UNSET,
        running: bool | None = _UNSET,
        time: Time = None,
    ) -> None:
        """The model's status. A key that is left out stays as it is; None resets it."""
        given = {"message": message, "start_at": start_at, "end_at": end_at, "running": running}
        body = {key: value for key, value in given.items() if value is not _UNSET}
        for key in ("start_at", "end_at"):
            if body.get(key) is not None:
                body[key] = checks.moment(body[key], key)
        self._push("/v1/model/lifecycle", body, time)

    def used_symbol(self, symbol: str, *, time: Time = None) -> None:
        """The model trades this symbol."""
        self._push("/v1/model/used-symbol", {"symbol": checks.text(symbol, "symbol")}, time)

    def used_exchange(self, exchange: str, *, time: Time = None) -> None:
        """The model trades on this exchange."""
        self._push("/v1/model/used-exchange", {"exchange": checks.text(exchange, "exchange")}, time)

    # Trading

    def event(
        self,
        type: str,
        args: Mapping[str, Any] | None = None,
        response: Mapping[str, Any] | None = None,
        annotation: str | None = None,
        *,
        time: Time = None,
    ) -> None:
        """Anything worth noting: typically a call, its arguments and its result."""
        body = {"type": checks.text(type, "type"), "args": args, "response": response}
        for key in ("args", "response"):
            if body[key] is not None and not isinstance(body[key], Mapping):
                raise InvalidEvent(f"`{key}` must be a dictionary, not {body[key]!r:.100}.")
        self._push("/v1/live/event", {**body, "annotation": annotation}, time)

    def market_order(
        self,
        symbol: str,
        side: Side,
        size: Number = None,
        funds: Number = None,
        *,
        id: Id,
        exchange: str,
        annotation: str | None = None,
        time: Time = None,
        **more: Any,
    ) -> None:
        """A market order, by exactly one of size (base asset) and funds (quote currency). `more`
        may have `executionPrice`, `fee`, `fee_currency`, `multiplier`, `instrument`, or anything
        else."""
        body = _order(symbol, side, size, funds, id, exchange, annotation, more)
        self._push("/v1/live/spot-market", body, time)

    def limit_order(
        self,
        symbol: str,
        side: Side,
        size: Number = None,
        funds: Number = None,
        *,
        price: Number,
        id: Id,
        exchange: str,
        annotation: str | None = None,
        time: Time = None,
        **more: Any,
    ) -> None:
        """A limit order."""
        body = _order(symbol, side, size, funds, id, exchange, annotation, more)
        body["price"] = checks.positive(price, "price")
        self._push("/v1/live/spot-limit", body, time)

    def stop_order(
        self,
        symbol: str,
        side: Side,
        size: Number = None,
        funds: Number = None,
        *,
        price: Number,
        active: Number,
        id: Id,
        exchange: str,
        annotation: str | None = None,
        time: Time = None,
        **more: Any,
    ) -> None:
        """A stop order: `active` is the price at which it becomes a limit order at `price`."""
        body = _order(symbol, side, size, funds, id, exchange, annotation, more)
        body["price"] = checks.positive(price, "price")
        body["active"] = checks.positive(active, "active")
        self._push("/v1/live/spot-stop", body, time)

    def update_trade(self, id: Id, *, time: Time = None, **keys: Any) -> None:
        """Update an order: `executionPrice`, `executionTime`, `filled_size`, `fee`, `status`,
        or any other key. It may be sent before its order."""
        if not keys:
            raise InvalidEvent("`update_trade` needs at least one key besides `id`.")
        for key in ("executionTime", "executed_time", "canceled_time"):
            if key in keys and keys[key] is not None:
                keys[key] = checks.moment(keys[key], key)
        self._push("/v1/live/update-trade", {**keys, "id": checks.text(id, "id")}, time)

    def update_annotation(self, id: Id, annotation: str | None, *, time: Time = None) -> None:
        """Why an order was made; None removes it."""
        body = {"id": checks.text(id, "id"), "annotation": annotation or None}
        self._push("/v1/live/update-annotation", body, time)

    def screener_result(
        self, result: Mapping[str, Mapping[str, Any]], *, time: Time = None
    ) -> None:
        """Per symbol a flat dictionary of values, each with the same keys."""
        if not result:
            raise InvalidEvent("`result` must name at least one symbol.")
        for symbol, row in result.items():
            if not isinstance(row, Mapping):
                raise InvalidEvent(f"`result[{symbol!r}]` must be a dictionary of values.")
        self._push("/v1/live/screener-result", {"result": result}, time)

    def log(self, line: str, type: str = "stdout", *, time: Time = None) -> None:
        """A line of the log: the backtest's own in a backtest, the live one elsewhere."""
        self._push_line(str(line) or " ", str(type), time)

    def set_pnl(self, values: Iterable[Any], *, time: Time = None) -> None:
        """The model's own profit and loss, instead of the computed one: pairs of time and value,
        or dictionaries with both."""
        body = {"values": [checks.point(value, index) for index, value in enumerate(values)]}
        self._push("/v1/live/set-pnl", body, time)

    def set_custom_metric(
        self,
        name: str,
        value: Any,
        display_name: str | None = None,
        type: str = "number",
        *,
        time: Time = None,
    ) -> None:
        """A custom metric of the model, shown next to the computed ones."""
        metric = {"value": value, "display_name": display_name or name, "type": type}
        body = {"metrics": {checks.text(name, "name"): metric}}
        self._push("/v1/live/set-custom-metric", body, time)

    def auto_pnl(self, enabled: bool, *, time: Time = None) -> None:
        """Whether profit and loss is computed from the orders."""
        self._push("/v1/live/auto-pnl", {"enabled": bool(enabled)}, time)

    def mark_price(self, symbol: str, price: Number, *, time: Time = None) -> None:
        """The price of a symbol, for the profit and loss of open positions."""
        body = {"symbol": checks.text(symbol, "symbol"), "price": checks.positive(price, "price")}
        self._push("/v1/live/mark-price", body, time)

    # The account

    def cash(
        self,
        type: str,
        amount: Number,
        *,
        currency: str | None = None,
        symbol: str | None = None,
        id: Id = None,
        annotation: str | None = None,
        time: Time = None,
    ) -> None:
        """Money that is no order: `deposit`, `withdrawal`, `funding`, `dividend`, `interest`,
        `rebate`, `fee`, `tax` or `adjustment`. `amount` is what the account gained, negative for
        what it paid. With an `id`, the same again counts once."""
        kind, gained = checks.word(type, "type", checks.CASH_TYPES), checks.number(amount, "amount")
        if (kind == "withdrawal" and gained >= 0) or (kind == "deposit" and gained <= 0):
            raise InvalidEvent("A deposit must be positive, a withdrawal negative.")
        body = {"type": kind, "amount": gained}
        _add(body, currency=currency, symbol=symbol, id=id, annotation=annotation)
        self._push("/v1/live/cash", body, time)

    def position(
        self,
        symbol: str,
        size: Number,
        average_price: Number = None,
        *,
        quote: str | None = None,
        multiplier: Number = None,
        instrument: str | None = None,
        time: Time = None,
    ) -> None:
        """What is held of a symbol, negative for a short position: before its first order what it
        begins with, later a check of the books."""
        held = checks.number(size, "size")
        body: dict[str, Any] = {"symbol": checks.text(symbol, "symbol"), "size": held}
        if held or average_price is not None:
            body["average_price"] = checks.positive(average_price, "average_price")
        if multiplier is not None:
            body["multiplier"] = checks.positive(multiplier, "multiplier")
        if instrument is not None:
            body["instrument"] = checks.word(instrument, "instrument", checks.INSTRUMENTS)
        _add(body, quote=quote)
        self._push("/v1/live/position", body, time)

    def account_value(
        self, value: Number, *, currency: str | None = None, time: Time = None
    ) -> None:
        """What the exchange says that the account is worth, shown next to the computed value."""
        body: dict[str, Any] = {"value": checks.number(value, "value")}
        _add(body, currency=currency)
        self._push("/v1/live/account-value", body, time)

    # Backtests

    def backtest_result(
        self,
        result: Mapping[str, Any] | None = None,
        *,
        backtest_id: str | None = None,
        time: Time = None,
        **keys: Any,
    ) -> None:
        """A backtest's result, as one dictionary, as keywords, or as both."""
        body = {"account_values": [], "trades": [], **(result or {}), **keys}
        body["backtest_id"] = self._backtest(backtest_id or body.get("backtest_id"))
        for key in ("symbols", "quote_asset", "start_time", "stop_time"):
            if body.get(key) is None:
                raise InvalidEvent(f"A backtest's result needs `{key}`.")
        self._push("/v1/backtest/result", body, time)

    def backtest_status(
        self,
        successful: bool,
        status_summary: str = "",
        status_details: str = "",
        time_elapsed: float | None = None,
        *,
        description: str | None = None,
        label: str | None = None,
        backtest_id: str | None = None,
        time: Time = None,
    ) -> None:
        """How a backtest ended; `description` says what was tried, `label` is its short name."""
        body = {
            "backtest_id": self._backtest(backtest_id),
            "successful": bool(successful),
            "status_summary": status_summary,
            "status_details": status_details,
            "time_elapsed": time_elapsed,
        }
        words = {"description": description, "label": label}
        body.update({key: text for key, text in words.items() if text is not None})
        self._push("/v1/backtest/status", body, time)

    def backtest_log(
        self,
        line: str,
        type: str = "stdout",
        *,
        backtest_id: str | None = None,
        time: Time = None,
    ) -> None:
        """A line of one backtest's log."""
        self._push_line(str(line) or " ", str(type), time, self._backtest(backtest_id))


def _order(
    symbol: str,
    side: Side,
    size: Number,
    funds: Number,
    id: Id,
    exchange: str,
    annotation: str | None,
    more: dict[str, Any],
) -> dict[str, Any]:
    body = more  # a dictionary of this call alone
    body["symbol"] = checks.text(symbol, "symbol")
    body["exchange"] = checks.text(exchange, "exchange")
    body["id"] = checks.text(id, "id")
    body["side"] = checks.SIDES.get(side) or checks.side(side)
    if size is not None and funds is None:
        body["size"] = checks.positive(size, "size")
    elif funds is not None and size is None:
        body["funds"] = checks.positive(funds, "funds")
    else:
        raise InvalidEvent("An order needs exactly one of `size` and `funds`.")
    if body.get("multiplier") is not None:
        body["multiplier"] = checks.positive(body["multiplier"], "multiplier")
    if body.get("instrument") is not None:
        body["instrument"] = checks.word(body["instrument"], "instrument", checks.INSTRUMENTS)
    if annotation is not None:
        body["annotation"] = annotation
    return body


def _add(body: dict[str, Any], **optional: Any) -> None:
    for name, value in optional.items():
        if value is not None:
            body[name] = checks.text(value, name)
