"""What it costs to take a long tape away: `tapeline export` and `tapeline backup`, beside a plain
copy of the same bytes.

`python -m bench.export [--events N]`: five million unless told otherwise, in commits of 200 events,
one in 50 an order. Every copy is on the disk, not only in memory, before its time is taken.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.parts import plain_tape, service

PAUSE = 1.0  # seconds for the disk to settle


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=5_000_000)
    events: int = parser.parse_args().events
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "data", Path(folder) / "out"
        out.mkdir()
        with service.running(data) as first:
            model, token = first.model, first.token
        plain_tape.fill(data, model, events)
        with service.started(data) as (port, _):
            _measure(data, out, port, (model, token))


def _measure(data: Path, out: Path, port: int, of: tuple[str, str]) -> None:
    model, token = of
    record, database = out / "record.ndjson", data / "tapeline.db"
    account = {"TAPELINE_URL": f"http://127.0.0.1:{port}", "TAPELINE_TOKEN": token}
    exporting = ["export", model, "--output", str(record)]
    took = _timed(lambda: _tapeline(exporting, account))
    copied = _timed(lambda: _copy(record, out / "copy"))
    _row("`tapeline export`", record, took, copied)
    record.unlink()
    took = _timed(lambda: _tapeline(["backup", str(out / "backup"), "--data", str(data)], {}))
    copied = _timed(lambda: _copy(database, out / "copy"))
    _row("`tapeline backup`, with a check of every tape", database, took, copied)


def _row(what: str, file: Path, took: float, copied: float) -> None:
    size = file.stat().st_size / 1e6
    print(f"| {what} | {size:,.0f} MB | {took:.1f} s | {copied:.1f} s | {took / copied:.1f} |")


def _tapeline(arguments: list[str], variables: dict[str, str]) -> None:
    command = [sys.executable, "-m", "tapeline", *arguments]
    subprocess.run(command, check=True, env={**os.environ, **variables}, stdout=subprocess.DEVNULL)


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as read, target.open("wb") as written:
        shutil.copyfileobj(read, written, 1 << 20)
        os.fsync(written.fileno())
    target.unlink()


def _timed(act: Callable[[], None]) -> float:
    time.sleep(PAUSE)
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
