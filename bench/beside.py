"""What appending and bookkeeping cost in this version beside an earlier one.

`git worktree add /tmp/before COMMIT`, then `python -m bench.beside /tmp/before`. The two take turns
in short rounds and are measured in processor time, so that a busy machine is busy for both.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import IO

import msgspec

HERE = Path(__file__).resolve().parents[1]
COSTS = HERE / "bench" / "parts" / "costs.py"
WARM_UP = 3  # rounds that do not count

Took = list[dict[str, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="a checkout of the earlier version")
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    workers = [_started(options.before.resolve()), _started(HERE)]
    took: tuple[Took, Took] = ([], [])
    try:
        for number in range(options.rounds + WARM_UP):
            for worker, found in zip(workers, took, strict=True):
                one = _round(worker)
                if number >= WARM_UP:
                    found.append(one)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    _print(*took)


def _started(checkout: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    return subprocess.Popen(
        [sys.executable, str(COSTS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=checkout,
    )


def _round(worker: subprocess.Popen[str]) -> dict[str, float]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    _say(worker.stdin)
    return msgspec.json.decode(worker.stdout.readline(), type=dict[str, float])


def _say(stdin: IO[str]) -> None:
    stdin.write("\n")
    stdin.flush()


def _print(before: Took, after: Took) -> None:
    print("| processor time | before | after | after beside before |\n|---|---|---|---|")
    for what in after[0]:
        old, new = ([one[what] for one in some] for some in (before, after))
        beside = median(b / a for a, b in zip(old, new, strict=True))
        print(f"| {what} | {min(old):,.1f} µs | {min(new):,.1f} µs | {beside:.2f} |")


if __name__ == "__main__":
    main()
