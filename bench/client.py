"""What a call of the client costs the trading loop: server there, slow, gone. Prints a table.

Each row is a process of its own. A plain request for each event stands beside it.
`python -m bench.client [--calls N]`
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.parts import service
from bench.parts.service import Service, free_port
from tests.client.road import Road

ROOT = Path(__file__).parents[1]
SLOW = 0.5  # seconds an answer takes on the slow road
WANTED = (10e-6, 100e-6)  # median, p99


@dataclass(frozen=True)
class Row:
    where: str
    kind: str
    pause: float
    url: str
    calls: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    calls = parser.parse_args().calls
    with (
        tempfile.TemporaryDirectory() as name,
        service.running(Path(name) / "data") as ours,
        Road(ours.address) as slow,
    ):
        slow.delay = SLOW
        gone = f"http://127.0.0.1:{free_port()}"
        places = {"reachable": ours.address, f"slow ({SLOW} s)": slow.url, "gone": gone}
        rows = [
            Row(where, kind, pause, url, calls if not pause else calls // 10)
            for where, url in places.items()
            for kind in ("log", "order")
            for pause in (0.0, 0.001)
        ]
        rows.append(Row("reachable", "request", 0.0, ours.address, min(calls, 2_000)))
        measured = [(row, _measure(row, ours, Path(name))) for row in rows]
    _print(measured)


def _measure(row: Row, ours: Service, folder: Path) -> list[float]:
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'client' / 'src'}",
        "TAPELINE_URL": row.url,
        "TAPELINE_MODEL_ID": ours.model,
        "TAPELINE_API_KEY": ours.headers["api_key"],
        "TAPELINE_API_PASS": ours.headers["api_pass"],
        "TAPELINE_STATE_DIR": tempfile.mkdtemp(dir=folder),
    }
    command = [sys.executable, "-m", "bench.parts.calls", row.kind, str(row.pause), str(row.calls)]
    ended = subprocess.run(
        command, env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    taken: list[float] = json.loads(ended.stdout)
    return taken


def _print(measured: list[tuple[Row, list[float]]]) -> None:
    print("| server | call | pace | median | p99 | p99.9 | longest |")
    print("|---|---|---|---|---|---|---|")
    for row, taken in measured:
        pace = "one a millisecond" if row.pause else "back to back"
        name = "a plain request" if row.kind == "request" else f"`{row.kind}`"
        figures = [taken[int(len(taken) * share)] for share in (0.5, 0.99, 0.999)]
        shown = " | ".join(f"{one * 1e6:,.1f} µs" for one in [*figures, taken[-1]])
        print(f"| {row.where} | {name} | {pace} | {shown} |")
    tight = [taken for row, taken in measured if not row.pause and row.kind != "request"]
    for share, wanted in zip((0.5, 0.99), WANTED, strict=True):
        worst = max(taken[int(len(taken) * share)] for taken in tight)
        reached = "reached" if worst <= wanted else "not reached"
        compared = f"{worst * 1e6:.1f} µs at worst, {wanted * 1e6:.0f} wanted"
        print(f"\np{share * 100:g}, back to back: {compared}: {reached}")


if __name__ == "__main__":
    main()
