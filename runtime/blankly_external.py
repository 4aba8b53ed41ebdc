"""Makes models written with the `blankly` package report to Tapeline, unchanged.

The package looks for a module of this name and calls its `Reporter`. Nothing here may break the
model: every problem is reported once on standard error.
"""

from __future__ import annotations

import functools
import json
import math
import os
import sys
import threading
import time
from typing import Any, Callable, Mapping, TypeVar, cast

import tapeline_client as tapeline
from tapeline_client.adapters import prices

F = TypeVar("F", bound=Callable[..., Any])
_warned: set[str] = set()

# Seconds: a price of the last minute will do for an order; a mark comes when the price changed, a
# second after the last one at the soonest, and every minute when it did not.
FRESH, OFTEN, SELDOM = 60.0, 60.0, 1.0
NEVER = (float("-inf"), 0.0)
# How `Strategy.backtest` takes what is not named, and its two ways to say when.
POSITIONS = ("to", "initial_values", "start_date", "end_date", "settings_path")
PERIOD = {"to", "start_date", "end_date"}
# What exchanges call the same thing, in the package's own order or in `exchange_specific`.
FILLED_SIZES = ("filled_size", "filled_qty", "executedQty", "dealSize", "accFillSz")
FILLED_PRICES = ("filled_avg_price", "avgPrice", "avgPx")
FILLED_VALUES = ("executed_value", "cummulativeQuoteQty", "dealFunds")
FEES = ("fill_fees", "fee")
HISTORY = ("time", "open", "high", "low", "close", "volume")


def _safe(method: F) -> F:
    """A model keeps trading even if reporting fails."""

    @functools.wraps(method)
    def safe(*args: Any, **keys: Any) -> Any:
        try:
            return method(*args, **keys)
        except Exception as error:
            _warn_once(f"{method.__name__} was not reported: {type(error).__name__}: {error}")
            return None

    return cast(F, safe)


def _warn_once(sentence: str) -> None:
    if sentence not in _warned:
        _warned.add(sentence)
        sys.stderr.write(f"tapeline: {sentence}\n")


class TapelineReporter:
    """The object that the package calls. In a backtest, and while a model backtests itself, no
    trading is reported: it did not happen."""

    def __init__(self) -> None:
        self.is_backtest = os.environ.get("BACKTESTING") == "1"
        self._strategy: Any = None
        self._live_variables: dict[int, Any] = {}
        self._has_result = False
        self._prices = Prices()

    @property
    def _trades(self) -> bool:
        return not self.is_backtest

    @_safe
    def export_used_exchange(self, exchange_name: str) -> None:
        if self._trades:
            tapeline.used_exchange(exchange_name)

    @_safe
    def export_used_symbol(self, symbol: str) -> None:
        if self._trades:
            tapeline.used_symbol(symbol)

    @_safe
    def log_market_order(self, exchange_out: Mapping[str, Any], exchange_type: str = "") -> None:
        if self._trades:
            order = _order(exchange_out, exchange_type)
            self._prices.require(order["symbol"])
            tapeline.market_order(**order)

    @_safe
    def log_limit_order(self, exchange_out: Mapping[str, Any], exchange_type: str = "") -> None:
        if self._trades:
            tapeline.limit_order(**_order(exchange_out, exchange_type))

    @_safe
    def update_order(self, exchange_out: Mapping[str, Any], exchange_type: str = "") -> None:
        if self._trades:
            keys = {str(key): value for key, value in exchange_out.items()}
            name = keys.pop("id")
            tapeline.update_trade(name, **{**self._prices.fill_of(name), **keys})

    @_safe
    def annotate_order(self, order_id: Any, annotation: str) -> None:
        if self._trades:
            tapeline.update_annotation(order_id, annotation)

    @_safe
    def export_screener(self, screener: Any) -> None:
        """Its result is reported separately."""

    @_safe
    def export_screener_result(self, screener: Any) -> None:
        rows = _flat_rows(screener.raw_results)
        if rows and not self.is_backtest:
            tapeline.screener_result(rows, time=screener.status.get("stopTime") or time.time())

    @_safe
    def email(self, email: Any = "", *_: Any, **keys: Any) -> None:
        self._message("email", keys.get("email_str") or email)

    @_safe
    def text(self, text: Any = "", *_: Any, **_keys: Any) -> None:
        self._message("text", text)

    def _message(self, kind: str, text: Any) -> None:
        if not self.is_backtest:
            tapeline.event(kind, {"text": text if isinstance(text, str) else repr(text)})

    def export_live_var(self, var: Any, name: str, description: str | None = None) -> None:
        self._live_variables[id(var)] = var
        self._describe(var, name, description)

    @_safe
    def _describe(self, var: Any, name: str, description: str | None) -> None:
        if not self.is_backtest:
            told = {"name": name, "value": var, "description": description}
            tapeline.event("live_var", told)

    def update_live_var(self, var: Any) -> Any:
        return self._live_variables.get(id(var), var)

    # Backtests

    @_safe
    def export_strategy(self, strategy: Any) -> None:
        if not self.is_backtest:
            self._skip_backtests(strategy)
            self._prices.listen(strategy)
            return
        self._backtest_once(strategy)
        if self._strategy is not None:
            return
        self._strategy = strategy
        bootstrap = _bootstrap()
        if bootstrap is not None:
            bootstrap.when_the_script_ended.append(self.backtest)
        else:
            threading.Thread(target=self._backtest_later, name="backtest").start()

    @_safe
    def export_backtest_result(self, platform_result: Mapping[str, Any]) -> None:
        self._has_result = True
        bootstrap = _bootstrap()
        if bootstrap is not None:
            bootstrap.write_result(dict(platform_result))
        else:
            tapeline.backtest_result(platform_result)

    def backtest(self) -> None:
        """Of the first strategy that was exported, unless the script ran one by itself. Its errors
        are the model's and are raised."""
        if not self._has_result:
            self._strategy.backtest()

    def _backtest_later(self) -> None:
        """Without the bootstrap: once the script has ended, in a thread Python waits for."""
        while threading.main_thread().is_alive():
            time.sleep(0.05)
        self.backtest()

    def _skip_backtests(self, strategy: Any) -> None:
        """Live, a script's own call of `backtest` is skipped, as it always was on a platform: the
        next restart would run it again, and its trades are not the model's."""

        def backtest(*_args: Any, **_keys: Any) -> None:
            _warn_once("backtest() was skipped, because the model runs live.")

        strategy.backtest = backtest

    def _backtest_once(self, strategy: Any) -> None:
        """One backtest of a strategy, with the platform's arguments over the script's own. The
        package mixes the trades and values of a second one into the first."""
        inner = strategy.backtest
        results: list[Any] = []

        @functools.wraps(inner)
        def backtest(*args: Any, **keys: Any) -> Any:
            if results:
                _warn_once("only the first backtest of a strategy is run; this one was skipped.")
            else:
                results.append(inner(**_arguments(args, keys)))
            return results[0]

        strategy.backtest = backtest


class Prices:
    """Prices and fills that the package receives but does not report: without them a market order
    would have no price, and a model no profit and loss."""

    def __init__(self) -> None:
        self._marked: dict[str, tuple[float, float]] = {}
        self._orders: dict[str, Mapping[str, Any]] = {}
        self._interface: Any = None
        self._sent = prices.Prices(tapeline)

    def listen(self, strategy: Any) -> None:
        """To the interface of its exchange, which all its calls go through."""
        interface = getattr(strategy, "interface", None)
        self._interface = getattr(interface, "interface", interface)
        if self._interface is not None:
            _tap(self._interface, "get_price", self._heard_price)
            _tap(self._interface, "get_order", self._heard_order)
            _tap(self._interface, "get_product_history", self._heard_history)

    def require(self, symbol: Any) -> None:
        """A price of now, before an order that has none."""
        at, _ = self._marked.get(str(symbol), NEVER)
        if self._interface is not None and time.monotonic() - at > FRESH:
            self._interface.get_price(symbol)

    def fill_of(self, order_id: Any) -> dict[str, Any]:
        """What the exchange said about an order when it was last asked, in the platform's words."""
        order = self._orders.pop(str(order_id), {})
        said = {**_mapping(order.get("exchange_specific")), **order}
        size = _first(said, FILLED_SIZES)
        price = _first(said, FILLED_PRICES)
        value = _first(said, FILLED_VALUES)
        if price is None and size and value is not None:
            price = value / size
        fee = _first(said, FEES)
        found = {"filled_size": size, "executionPrice": price, "fee": fee}
        return {key: one for key, one in found.items() if one is not None} if size and price else {}

    def _heard_price(self, price: Any, symbol: Any, *_: Any, **_keys: Any) -> None:
        now, value = time.monotonic(), _number(price)
        at, last = self._marked.get(str(symbol), NEVER)
        if value and (now - at > OFTEN or (value != last and now - at > SELDOM)):
            self._marked[str(symbol)] = (now, value)
            tapeline.mark_price(str(symbol), value)

    def _heard_history(
        self, table: Any, symbol: Any, _start: Any, _stop: Any, resolution: Any, *_: Any
    ) -> None:
        """The bars of a DataFrame, which every history of the package is made of."""
        columns = [list(table[name]) for name in HISTORY]
        self._sent.bars(symbol, resolution, zip(*columns))

    def _heard_order(self, order: Any, _symbol: Any, order_id: Any, *_: Any, **_keys: Any) -> None:
        self._orders[str(order_id)] = _mapping(order)


def _tap(interface: Any, name: str, hear: Callable[..., None]) -> None:
    """Call `hear` with the answer and the arguments of a method, once for each interface."""
    inner = getattr(interface, name, None)
    if inner is None or getattr(inner, "is_overheard", False):
        return
    hear = _safe(hear)

    @functools.wraps(inner)
    def heard(*args: Any, **keys: Any) -> Any:
        answer = inner(*args, **keys)
        hear(answer, *args, *keys.values())
        return answer

    heard.is_overheard = True  # type: ignore[attr-defined]
    setattr(interface, name, heard)


def _arguments(args: tuple[Any, ...], keys: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the script, overridden by those of the platform."""
    given = json.loads(os.environ.get("TAPELINE_BACKTEST_ARGS") or "{}")
    said = {**dict(zip(POSITIONS, args)), **keys}
    if PERIOD & set(given):  # one way to say when; two of them would contradict each other
        said = {key: value for key, value in said.items() if key not in PERIOD}
    return {**said, **given, "GUI_output": False}


def _mapping(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}


def _first(said: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    return next(
        (one for one in (_number(said.get(name)) for name in names) if one is not None), None
    )


def _number(given: Any) -> float | None:
    try:
        found = float(given)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def _bootstrap() -> Any:
    """The backtest under way in this process, if the platform started it."""
    module = sys.modules.get("tapeline_bootstrap")
    return getattr(module, "current", None)


def _order(given: Mapping[str, Any], exchange_type: str) -> dict[str, Any]:
    order = {str(key): value for key, value in given.items()}
    if not order.get("exchange"):
        order["exchange"] = exchange_type
    return order


def _flat_rows(results: Mapping[Any, Any]) -> dict[str, dict[str, Any]]:
    """Flat rows with the same keys: a nested value gets a dotted key, a missing one is null."""
    rows: dict[str, dict[str, Any]] = {}
    for symbol, row in results.items():
        flat: dict[str, Any] = {}
        _flatten("", row if isinstance(row, Mapping) else {"value": row}, flat)
        rows[str(symbol)] = flat
    names = {name: None for row in rows.values() for name in row}
    return {symbol: {**names, **row} for symbol, row in rows.items()}


def _flatten(prefix: str, row: Mapping[Any, Any], into: dict[str, Any]) -> None:
    for key, value in row.items():
        if isinstance(value, Mapping):
            _flatten(f"{prefix}{key}.", value, into)
        elif isinstance(value, (list, tuple, set)):
            into[f"{prefix}{key}"] = repr(value)
        else:
            into[f"{prefix}{key}"] = value


Reporter = TapelineReporter()
