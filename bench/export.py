"""What it costs to take a long tape away: `tapeline export` and `tapeline backup`, beside a plain
copy of the same bytes.

`python -m bench.export [--events N]`: five million unless told otherwise, in commits of 200 events,
one in 50 an order. Every copy is on the disk, not only in memory, before its time is taken.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

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
        with service.started(data) as (port, pid):
            _measure(data, out, (port, pid), (model, token))


def _measure(data: Path, out: Path, at: tuple[int, int], of: tuple[str, str]) -> None:
    (port, pid), (model, token) = at, of
    record, database = out / "record.ndjson", data / "tapeline.db"
    account = {"TAPELINE_URL": f"http://127.0.0.1:{port}", "TAPELINE_TOKEN": token}
    exporting = ["export", model, "--output", str(record)]
    took = _timed(lambda: _tapeline(exporting, account), pid)
    copied = _timed(lambda: _copy(record, out / "copy"))
    _row("`tapeline export`", record, took, copied)
    record.unlink()
    backing_up = ["backup", str(out / "backup"), "--data", str(data)]
    took = _timed(lambda: _tapeline(backing_up, {}), pid)
    copied = _timed(lambda: _copy(database, out / "copy"))
    _row("`tapeline backup`, with a check of every tape", database, took, copied)


class Took(NamedTuple):
    seconds: float
    processor: float
    """Seconds of the command and of the server together, which a busy machine hardly changes."""


def _row(what: str, file: Path, took: Took, copied: Took) -> None:
    size = file.stat().st_size / 1e6
    print(
        f"| {what} | {size:,.0f} MB | {took.seconds:.1f} s | {took.processor:.1f} s"
        f" | {copied.seconds:.1f} s | {took.seconds / copied.seconds:.1f} |"
    )


def _tapeline(arguments: list[str], variables: dict[str, str]) -> None:
    command = [sys.executable, "-m", "tapeline", *arguments]
    subprocess.run(command, check=True, env={**os.environ, **variables}, stdout=subprocess.DEVNULL)


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as read, target.open("wb") as written:
        shutil.copyfileobj(read, written, 1 << 20)
        os.fsync(written.fileno())
    target.unlink()


def _timed(act: Callable[[], None], server: int | None = None) -> Took:
    time.sleep(PAUSE)
    started, before = time.perf_counter(), _processor(server)
    act()
    return Took(time.perf_counter() - started, _processor(server) - before)


def _processor(server: int | None) -> float:
    """Of our children that ended, and of the server."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = ended.ru_utime + ended.ru_stime
    if server is not None:
        fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
        used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used


if __name__ == "__main__":
    main()
