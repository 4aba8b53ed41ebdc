"""Makes models written with the `blankly` package report by themselves, unchanged.

The package looks for a module of this name and calls its `Reporter`. Nothing here may break the
model: whatever goes wrong is told once on standard error.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
import time
from typing import Any, Callable, Mapping, TypeVar, cast

import tapeline_client as tapeline

F = TypeVar("F", bound=Callable[..., Any])
_told: set[str] = set()


def _safe(method: F) -> F:
    """A model trades on, whatever becomes of its report."""

    @functools.wraps(method)
    def safe(*args: Any, **keys: Any) -> Any:
        try:
            return method(*args, **keys)
        except Exception as error:
            _tell(f"{method.__name__} was not reported: {type(error).__name__}: {error}")
            return None

    return cast(F, safe)


def _tell(sentence: str) -> None:
    if sentence not in _told:
        _told.add(sentence)
        sys.stderr.write(f"tapeline: {sentence}\n")


class TapelineReporter:
    """What the package calls. In a backtest, and while a model backtests itself, nothing that
    looks like trading is reported: it did not happen."""

    def __init__(self) -> None:
        self.is_backtest = os.environ.get("BACKTESTING") == "1"
        self._strategy: Any = None
        self._live_variables: dict[int, Any] = {}
        self._backtesting = 0
        self._has_result = False

    @property
    def _trades(self) -> bool:
        return not self.is_backtest and not self._backtesting

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
            tapeline.market_order(**_order(exchange_out, exchange_type))

    @_safe
    def log_limit_order(self, exchange_out: Mapping[str, Any], exchange_type: str = "") -> None:
        if self._trades:
            tapeline.limit_order(**_order(exchange_out, exchange_type))

    @_safe
    def update_order(self, exchange_out: Mapping[str, Any], exchange_type: str = "") -> None:
        if self._trades:
            keys = {str(key): value for key, value in exchange_out.items()}
            tapeline.update_trade(keys.pop("id"), **keys)

    @_safe
    def annotate_order(self, order_id: Any, annotation: str) -> None:
        if self._trades:
            tapeline.update_annotation(order_id, annotation)

    @_safe
    def export_screener(self, screener: Any) -> None:
        """Its result comes by itself."""

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
        self._watch(strategy)
        if self._strategy is not None:
            return
        self._strategy = strategy
        if not self.is_backtest:
            return
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
        """Of the first strategy that was exported. Its errors are the model's and are raised."""
        arguments = json.loads(os.environ.get("TAPELINE_BACKTEST_ARGS") or "{}")
        if self._has_result and not arguments:
            return  # the script ran one by itself, and nobody asked for another
        self._strategy.backtest(**arguments)

    def _backtest_later(self) -> None:
        """Without the bootstrap: once the script has ended, in a thread Python waits for."""
        while threading.main_thread().is_alive():
            time.sleep(0.05)
        self.backtest()

    def _watch(self, strategy: Any) -> None:
        """Know when it backtests itself, and let it open no window: nobody would see it."""
        inner = strategy.backtest

        @functools.wraps(inner)
        def backtest(*args: Any, **keys: Any) -> Any:
            keys["GUI_output"] = False
            self._backtesting += 1
            try:
                return inner(*args, **keys)
            finally:
                self._backtesting -= 1

        strategy.backtest = backtest


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
