"""What it costs to check a long record: in a reader's browser, and with `tapeline verify`.

`python -m bench.checking [--events N]`: a million unless told otherwise, in commits of 200 events,
one in ten an order. Memory is the most that the browser's process for the page has held.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import httpx
from playwright.sync_api import Page

from bench.parts import browsing, plain_tape, service

ORDERS_EVERY = 10  # events
SLOW = 600_000.0  # milliseconds
UNKNOWN_SIGNER = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    events: int = parser.parse_args().events
    with tempfile.TemporaryDirectory() as folder:
        data, record = Path(folder) / "data", Path(folder) / "record.ndjson"
        with service.running(data) as first:
            model, token = first.model, first.token
        plain_tape.fill(data, model, events, orders_every=ORDERS_EVERY)
        with service.started(data) as (port, _):
            _measure(f"http://127.0.0.1:{port}", record, (model, token))


def _measure(address: str, record: Path, of: tuple[str, str]) -> None:
    model, token = of
    account = {"TAPELINE_URL": address, "TAPELINE_TOKEN": token}
    _tapeline(["export", model, "--output", str(record)], account)
    print(f"The record has {record.stat().st_size / 1e6:,.0f} MB.")
    made = httpx.post(
        f"{address}/api/models/{model}/shares", json={}, headers={"token": token}
    ).raise_for_status()
    verify = ["verify", str(record)]
    before = _of_children()
    took = _timed(lambda: _tapeline(verify, {}, UNKNOWN_SIGNER))
    _row("`tapeline verify`", took, Used(_of_children() - before, 0))
    with browsing.browser() as page:
        took = _timed(lambda: _check_file(page, address, record))
        _row("the browser, a file", took, _of_pages())
    link = f"/checker.html#record=/api/shared/{made.json()['token']}/record"
    with browsing.browser() as page:
        took = _timed(lambda: _check(page, address + link))
        _row("the browser, from a link", took, _of_pages())


def _check_file(page: Page, address: str, record: Path) -> None:
    page.goto(f"{address}/checker.html")
    page.get_by_label("Record", exact=True).set_input_files(record)
    page.get_by_role("button", name="Check this record").click()
    _finished(page)


def _check(page: Page, link: str) -> None:
    page.goto(link)
    _finished(page)


def _finished(page: Page) -> None:
    page.wait_for_selector(f"#verdict[data-status='{UNKNOWN_SIGNER}']", timeout=SLOW)


class Used(NamedTuple):
    processor: float
    """Seconds, which a busy machine hardly changes."""
    memory: int
    """The most bytes at a time; zero if nobody looked."""


def _row(what: str, took: float, used: Used) -> None:
    held = f"{used.memory / 1e6:,.0f} MB" if used.memory else "-"
    print(f"| {what} | {took:.1f} s | {used.processor:.1f} s | {held} |")


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _of_pages() -> Used:
    """By the largest process that draws pages, among those that descend from this one."""
    found = [Used(0, 0)]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_page = b"--type=renderer" in (process / "cmdline").read_bytes()
            if is_page and _is_ours(process.name):
                found.append(_used(process))
        except OSError:
            continue  # it has just ended
    return max(found, key=lambda one: one.memory)


def _used(process: Path) -> Used:
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    lines = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    return Used(seconds, int(lines["VmHWM"].split()[0]) * 1024)


def _is_ours(pid: str) -> bool:
    while pid not in {"0", "1"}:
        if int(pid) == os.getpid():
            return True
        pid = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[1]
    return False


def _tapeline(arguments: list[str], variables: dict[str, str], status: int = 0) -> None:
    command = [sys.executable, "-m", "tapeline", *arguments]
    ended = subprocess.run(
        command, check=False, env={**os.environ, **variables}, stdout=subprocess.DEVNULL
    )
    if ended.returncode != status:
        raise SystemExit(f"`tapeline {arguments[0]}` ended with {ended.returncode}")


def _timed(act: Callable[[], None]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
