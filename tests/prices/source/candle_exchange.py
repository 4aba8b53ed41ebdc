"""An exchange of our own that lists markets and has candles as Binance does, for the real ccxt.

It also misbehaves on demand, as exchanges do.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.client.exchange import MARKET

MILLISECONDS = {"1m": 60_000, "1h": 3_600_000, "1d": 86_400_000}
PAGE = 500
Answer = tuple[int, Any]


def price(symbol: str, start: int) -> float:
    """The close of any candle that begins then."""
    return {"BTC": 50_000.0, "EUR": 1.1}.get(symbol[:3], 100.0) * (1 + start // 60_000 % 7 / 100)


def candle(symbol: str, start: int, length: int) -> list[Any]:
    close = price(symbol, start + length - 60_000)
    opened = price(symbol, start)
    high, low = max(opened, close) * 1.001, min(opened, close) * 0.999
    return [start, str(opened), str(high), str(low), str(close), "12.5", start + length - 1]


class CandleExchange:
    def __init__(self) -> None:
        self.symbols = {"BTCUSDT": ("BTC", "USDT"), "ETHUSDT": ("ETH", "USDT")}
        self.since: dict[str, int] = {}
        """Milliseconds, of a market that was listed later."""
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.hangs = Event()
        """Whoever is made to wait waits for this."""
        self.instead: Callable[[str, dict[str, str]], Answer | None] = lambda _path, _said: None
        """What it answers instead of the truth, if anything."""

    def answer(self, path: str, said: dict[str, str]) -> Answer:
        self.asked.append((path, said))
        other = self.instead(path, said)
        if other is not None:
            return other
        if path.endswith("/exchangeInfo"):
            return 200, {"timezone": "UTC", "serverTime": 0, "symbols": self._listed(path)}
        if path == "/api/v3/klines":
            return 200, self.candles(said["symbol"], said["interval"], int(said["startTime"]))
        return 404, {"code": -1, "msg": f"there is no {path}"}

    def candles(self, symbol: str, interval: str, since: int) -> list[list[Any]]:
        length, now = MILLISECONDS[interval], int(time.time() * 1000)
        first = -(-max(since, self.since.get(symbol, 0)) // length) * length
        starts = range(first, min(now, first + PAGE * length), length)
        if self.since.get(symbol, 0) > since + PAGE * length:
            return []  # as exchanges do that look at one page from there on
        return [candle(symbol, start, length) for start in starts]

    def markets_asked(self) -> list[str]:
        return [said["symbol"] for path, said in self.asked if path.endswith("/klines")]

    def _listed(self, path: str) -> list[dict[str, Any]]:
        if path != "/api/v3/exchangeInfo":
            return []  # contracts
        return [
            {**MARKET, "symbol": name, "baseAsset": base, "quoteAsset": quote}
            for name, (base, quote) in self.symbols.items()
        ]


@contextmanager
def open_exchange() -> Iterator[tuple[CandleExchange, str]]:
    """The exchange and its address."""
    exchange = CandleExchange()

    class Counter(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            where = urlsplit(self.path)
            status, value = exchange.answer(where.path, dict(parse_qsl(where.query)))
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Counter) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield exchange, f"http://127.0.0.1:{server.server_port}"
        finally:
            exchange.hangs.set()
            server.shutdown()
