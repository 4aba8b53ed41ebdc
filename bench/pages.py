"""What pages cost in a browser when there is much to show: beside the same pages with little.

A model with a million orders and as many lines, one with a thousand, a backtest with a million
account values, price charts of a million bars, a project with 200 models.
`python -m bench.pages [--rows N] [--data DIR]`: a named folder is filled once and used again.
`--prices` measures the price charts alone, in a store of their own.
"""

import argparse
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec
import numpy as np
from playwright.sync_api import Page

from bench.parts import browsing, long_history, price_pages, service

FEW = 1_000
FLEET = 200
TURNS = 5
FRAMES = 900  # fifteen seconds at 60 a second
STEP = 200  # pixels a frame: a screenful every twentieth of a second
BACKTEST = "long"
ACCOUNT = {"email": "bench@example.com", "password": "correct horse battery"}
KNOWN = "bench.json"  # what was filled before, beside the store

CHART = "figure canvas"
ORDER = "[role=region][aria-label=Orders] [role=row] time"
LINE = "[role=log] time"


class Filled(msgspec.Struct):
    project: str
    few: str
    many: str
    rows: int
    priced: price_pages.Priced


class Row(NamedTuple):
    what: str
    few: float | None
    many: float
    unit: str
    wanted: float | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--prices", action="store_true")
    asked = parser.parse_args()
    with _folder(asked.data) as data:
        filled = _priced(data, asked.rows) if asked.prices else _filled(data, asked.rows)
        with service.started(data) as (port, _), browsing.browser() as page:
            address = f"http://127.0.0.1:{port}"
            browsing.sign_in(page, address, ACCOUNT["email"], ACCOUNT["password"])
            measured = _prices if asked.prices else _measured
            _print(list(measured(page, address, filled)), filled.rows)


@contextmanager
def _folder(named: Path | None) -> Iterator[Path]:
    if named is not None:
        yield named
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "data"


def _filled(data: Path, rows: int) -> Filled:
    known = data / KNOWN
    if known.exists():
        return msgspec.json.decode(known.read_bytes(), type=Filled)
    with service.running(data) as first, httpx.Client(base_url=first.address) as client:
        client.headers["token"] = first.token
        wanted = {"projectId": first.project, "type": "strategy"}
        models = [
            client.post("/model/create-model", json=wanted | {"name": f"model {number}"})
            for number in range(FLEET - 3)
        ]
        priced = price_pages.filled(client, first, FEW, rows)
        filled = Filled(first.project, models[0].json()["modelId"], first.model, rows, priced)
        _push_result(client, first, rows)
        client.get(f"/api/models/{first.model}/backtests/{BACKTEST}/periods", timeout=900)
    long_history.fill(data, filled.few, FEW)
    long_history.fill(data, filled.many, rows)
    known.write_bytes(msgspec.json.encode(filled))
    return filled


def _priced(data: Path, rows: int) -> Filled:
    with service.running(data) as first, httpx.Client(base_url=first.address) as client:
        priced = price_pages.filled(client, first, FEW, rows)
    return Filled(first.project, first.model, first.model, rows, priced)


def _push_result(client: httpx.Client, first: service.Service, values: int) -> None:
    times = long_history.START + 60 * np.arange(float(values))
    worth = 10_000 * np.exp(np.cumsum(np.random.default_rng(1).normal(0, 0.0005, values)))
    body = {
        "backtest_id": BACKTEST, "symbols": ["BTC-USD"], "quote_asset": "USD",
        "start_time": float(times[0]), "stop_time": float(times[-1]), "trades": [],
        "account_values": [
            {"time": moment, "value": value}
            for moment, value in zip(times.tolist(), worth.round(4).tolist(), strict=True)
        ],
    }  # fmt: skip
    headers = {**first.headers, "content-type": "application/json"}
    content = msgspec.json.encode(body)
    sent = client.post("/v1/backtest/result", content=content, headers=headers, timeout=900)
    sent.raise_for_status()


def _measured(page: Page, address: str, filled: Filled) -> Iterator[Row]:
    home, few, many = (
        f"{address}/{filled.project}" + rest for rest in ("", f"/{filled.few}", f"/{filled.many}")
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    opened = _median(lambda: browsing.shown(page, home, "tbody tr time, tbody tr a"))
    yield Row("script of the first page, packed", None, browsing.scripts(page) / 1000, "kB", 200)
    yield Row(f"a list of {FLEET} models is shown", None, opened, "s")
    page.wait_for_timeout(1_000)
    asked.clear()
    browsing.shown(page, home, "tbody tr a")
    page.wait_for_timeout(1_000)
    calls = [url for url in asked if "/api/" in url]
    yield Row("requests of the list, curves in sight included", None, len(calls), "")
    both = (few, many)
    yield _pair(
        "live page: chart, orders and log are shown",
        lambda at: _median(lambda: browsing.shown(page, f"{at}/overview", CHART, ORDER, LINE)),
        both,
        "s",
        1.5,
    )
    opened = _median(lambda: browsing.shown(page, f"{many}/{BACKTEST}/backtest", CHART))
    yield Row("backtest page: chart is shown", None, opened, "s", 1.5)
    yield Row("live chart: a closer look has its detail", None, _zoomed(page, many), "s")
    yield from _prices(page, address, filled)
    yield _pair(
        "orders page is shown",
        lambda at: _median(lambda: browsing.shown(page, f"{at}/orders", ORDER)),
        both,
        "s",
    )
    for what, path, row, step in (
        ("orders", "orders", ORDER, STEP),
        ("log", "logs", LINE, -STEP),
    ):
        yield from _scrolls(page, both, what, path, row, step)
    still = browsing.scrolled(page, browsing.plain(page, 2 * FEW), STEP, FRAMES)
    yield Row("a plain page: time between frames, p95", None, 1000 * still.p95, "ms")
    yield Row("a plain page: work in a frame", None, 1000 * still.work, "ms")
    yield Row("log: a rare line is found", None, _searched(page, many), "s")
    yield Row("log: a jump to the middle", None, _jumped(page, many, filled.rows), "s")


def _prices(page: Page, address: str, filled: Filled) -> Iterator[Row]:
    """Of a live model and of a backtest: how soon they are there, and how smoothly they move."""
    both = tuple(f"{address}/{filled.project}/{one}" for one in filled.priced)
    for what, path in (
        ("price chart", "prices"),
        ("price chart of a backtest", f"{price_pages.BACKTEST}/backtest"),
    ):
        pages = [f"{one}/{path}" for one in both]
        opened = [_median(partial(price_pages.opened, page, one)) for one in pages]
        yield Row(f"{what} is shown", opened[0], opened[1], "s", 1)
        few, many = (price_pages.panned(page, one) for one in pages)
        yield Row(f"{what}: frames that came late", 100 * few.late, 100 * many.late, "%", 2)
        work = 1000 * few.work, 1000 * many.work
        yield Row(f"{what}: work of the page in a frame", *work, "ms", 16.7)


def _pair(
    what: str,
    measure: Callable[[str], float],
    both: tuple[str, str],
    unit: str,
    wanted: float | None = None,
) -> Row:
    few, many = (measure(one) for one in both)
    return Row(what, few, many, unit, wanted)


def _median(act: Callable[[], float]) -> float:
    return statistics.median(act() for _ in range(TURNS))


def _zoomed(page: Page, model: str) -> float:
    """From the key to the drawn detail, the pause included in which somebody may zoom on."""
    took = []
    for _ in range(TURNS):
        browsing.shown(page, f"{model}/overview", CHART)
        chart = page.get_by_role("group", name=re.compile("^Profit and loss"))
        chart.focus()
        page.wait_for_timeout(500)
        started = time.perf_counter()
        with page.expect_response(re.compile(r"/pnl\?.*from=")) as answered:
            page.keyboard.press("+")
            page.keyboard.press("+")
        answered.value.finished()
        page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
        took.append(time.perf_counter() - started)
    return statistics.median(took)


def _scrolls(
    page: Page, both: tuple[str, str], what: str, path: str, row: str, step: int
) -> Iterator[Row]:
    box = "[role=log]" if what == "log" else "[role=region][aria-label=Orders]"
    found: list[browsing.Scrolled] = []
    grown = 0.0
    for at in both:
        browsing.shown(page, f"{at}/{path}", row)
        page.wait_for_timeout(1_000)
        before = browsing.heap(page)
        found.append(browsing.scrolled(page, box, step, FRAMES))
        grown = browsing.heap(page) - before
    few, many = found
    yield _frames(f"{what}: time between frames, p95", few, many)
    yield Row(f"{what}: work of the page in a frame", 1000 * few.work, 1000 * many.work, "ms", 16.7)
    yield Row(f"{what}: frames that came late", 100 * few.late, 100 * many.late, "%")
    rows = many.pixels // (36 if what == "orders" else 20)
    yield Row(f"{what}: rows scrolled through in {FRAMES} frames", None, rows, "")
    yield Row(f"{what}: memory more after that", None, grown, "MB")


def _frames(what: str, few: browsing.Scrolled, many: browsing.Scrolled) -> Row:
    return Row(what, 1000 * few.p95, 1000 * many.p95, "ms", 17)


def _searched(page: Page, model: str) -> float:
    browsing.shown(page, f"{model}/logs", LINE)
    started = time.perf_counter()
    page.get_by_label("Search the log").fill(long_history.RARE)
    page.get_by_role("log").get_by_text(long_history.RARE).wait_for()
    return time.perf_counter() - started


def _jumped(page: Page, model: str, rows: int) -> float:
    browsing.shown(page, f"{model}/logs", LINE)
    moment = long_history.START + long_history.EVERY * (rows // 2)
    text = datetime.fromtimestamp(moment).strftime("%Y-%m-%dT%H:%M:%S")  # noqa: DTZ006 - as the browser
    started = time.perf_counter()
    page.get_by_label("Jump to").fill(text)
    page.get_by_role("log").get_by_text(f"tick {rows // 2}:").wait_for()
    return time.perf_counter() - started


def _print(rows: list[Row], many: int) -> None:
    print(f"| what | {FEW:,} rows | {many:,} rows | beside | wanted | reached |")
    print("|---" * 6 + "|")
    for what, few, much, unit, wanted in rows:
        beside = "" if not few else f"{much / few:.2f}"
        reached = "" if wanted is None else "yes" if much <= wanted else "not yet"
        goal = "" if wanted is None else f"{_formatted(wanted, unit)}"
        cells = (
            what,
            "" if few is None else _formatted(few, unit),
            _formatted(much, unit),
            beside,
            goal,
        )
        print(f"| {' | '.join(cells)} | {reached} |")


def _formatted(value: float, unit: str) -> str:
    digits = {"s": 2, "ms": 1, "%": 1}.get(unit, 0)
    return f"{value:,.{digits}f} {unit}".strip()


if __name__ == "__main__":
    main()
