"""What a trading model imports to report to Tapeline. Never blocks, never loses an event.

    import tapeline_client as tapeline

    tapeline.market_order("BTC-USD", "buy", 0.5, id="42", exchange="kraken")

The functions here use one client that is made when it is first needed, from the environment or from
`tapeline.json`; `Client` makes others. Where nothing is configured they warn once and do nothing,
so that a model also runs without a server.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, Mapping, overload

from tapeline_client import capture as _capture
from tapeline_client.client import AsyncClient, Client
from tapeline_client.errors import ClientClosed, ConfigurationError, InvalidEvent, TapelineError
from tapeline_client.events import Events, Time
from tapeline_client.reporting import Problem, logger
from tapeline_client.version import __version__

__all__ = [
    "AsyncClient", "Client", "ClientClosed", "ConfigurationError", "InvalidEvent", "Problem",
    "TapelineError", "__version__", "account_value", "auto_pnl", "backtest_log",
    "backtest_result", "backtest_status", "bar", "bars", "capture_logging", "capture_output",
    "cash", "close", "configure", "default_client", "event", "flush", "halted", "indicator",
    "lifecycle", "limit_order", "log",
    "mark_price", "market_order", "position", "recorded", "screener_result", "set_custom_metric",
    "set_pnl", "stop_order", "update_annotation", "update_trade", "used_exchange", "used_symbol",
]  # fmt: skip


class _Default(Events):
    """The default client, created when it is first needed."""

    def __init__(self) -> None:
        self.client: Client | None = None
        self._missing = False
        self._lock = threading.RLock()

    def find(self) -> Client | None:
        if self.client is None and not self._missing:
            with self._lock:
                if self.client is None and not self._missing:
                    try:
                        self.client = Client()
                    except ConfigurationError as error:
                        self._missing = True
                        logger.warning("Events are not sent. %s", error)
        return self.client

    def replace(self, client: Client) -> None:
        with self._lock:
            old, self.client, self._missing = self.client, client, False
        if old is not None:
            old.close()

    def _push(self, path: str, body: Mapping[str, Any], at: Time = None) -> None:
        client = self.client or self.find()
        if client is not None:
            client._push(path, body, at)

    def _push_line(self, line: str, kind: str, at: Time, backtest: str | None = None) -> None:
        client = self.client or self.find()
        if client is not None:
            client._push_line(line, kind, at, backtest)

    def _backtest(self, given: str | None) -> str:
        client = self.client or self.find()
        return client._backtest(given) if client is not None else str(given)


_default = _Default()

lifecycle = _default.lifecycle
used_symbol = _default.used_symbol
used_exchange = _default.used_exchange
event = _default.event
market_order = _default.market_order
limit_order = _default.limit_order
stop_order = _default.stop_order
update_trade = _default.update_trade
update_annotation = _default.update_annotation
screener_result = _default.screener_result
log = _default.log
set_pnl = _default.set_pnl
set_custom_metric = _default.set_custom_metric
auto_pnl = _default.auto_pnl
mark_price = _default.mark_price
bar = _default.bar
bars = _default.bars
indicator = _default.indicator
cash = _default.cash
position = _default.position
account_value = _default.account_value
backtest_result = _default.backtest_result
backtest_status = _default.backtest_status
backtest_log = _default.backtest_log


def configure(**options: Any) -> Client:
    """Make the default client with these arguments of `Client`; closes the previous one."""
    client = Client(**options)
    _default.replace(client)
    return client


def default_client() -> Client:
    """The client that these functions use; raises ConfigurationError if nothing is configured."""
    return _default.find() or configure()


def halted() -> bool:
    """Whether the model's project is halted, as the answer to its last event said."""
    return _default.client is not None and _default.client.halted


def flush(timeout: float | None = 10.0) -> bool:
    """Wait until the server has everything; return whether it has."""
    return _default.client is None or _default.client.flush(timeout)


def close(timeout: float | None = 5.0) -> bool:
    """Close the default client; the next event creates another."""
    client, _default.client = _default.client, None
    return client is None or client.close(timeout)


def capture_logging(*args: Any, **options: Any) -> _capture.LogHandler:
    """Send records of the `logging` module: `capture_logging(name=None, level=logging.INFO)`."""
    return _capture.capture_logging(_default, *args, **options)


def capture_output(*, force: bool = False) -> _capture.Captured:
    """Send printed lines, and still print them."""
    return _capture.capture_output(_default, force=force)


@overload
def recorded(function: _capture.F) -> _capture.F: ...


@overload
def recorded(
    *, type: str | None = None, annotation: str | None = None
) -> Callable[[_capture.F], _capture.F]: ...


def recorded(function: Any = None, **options: Any) -> Any:
    """Decorator: every call of a function becomes a generic event."""
    return _capture.recorded(_default, function, **options)
