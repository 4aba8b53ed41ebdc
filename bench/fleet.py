"""What idle live models cost, and how soon a server that restarts has found all of them again.

`python -m bench.fleet [--models N] [--seconds N]`. Memory is proportional set size, so what many
processes share counts once; beside it are bare interpreters that run the same script.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from bench.parts import fleet
from bench.parts.fleet import Server
from tapeline.runs.shim import tree
from tests.archives import zipped

BARE = 20
SETTLING = 15.0  # seconds after the last start, for bytecode and first samples
# It waits as models do, for nothing; and says one line when it is poked.
MODEL = """
import signal
signal.signal(signal.SIGUSR1, lambda *_: print("poked", flush=True))
print("up", flush=True)
while True:
    signal.pause()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    with fleet.server() as server:
        started = time.monotonic()
        shims = _deploy(server, options.models)
        deploying = time.monotonic() - started
        time.sleep(SETTLING)
        memory, bare = _memory(server, shims)
        shares = _processor(server, shims, options.seconds)
        took = _restart(server, shims)
    each = {name: sum(one.values()) / len(shims) for name, one in memory.items()}
    beyond = sum(each.values()) - bare
    print(f"| {options.models} idle live models | wanted | measured |")
    print("|---|---|---|")
    print(f"| memory of each beyond a bare interpreter | 8 MB | {beyond:.1f} MB |")
    print(f"| processor of all, server included, {options.seconds:.0f} s | 5 % of a core "
          f"| {100 * sum(shares.values()):.1f} % |")  # fmt: skip
    for name, seconds in took.items():
        print(f"| {name} | {'5 s' if 'all' in name else ''} | {seconds:.2f} s |")
    print(f"| deploying them, one client | | {deploying:.0f} s |")
    print("\n| memory of one | PSS |")
    print("|---|---|")
    for name, size in each.items():
        print(f"| {name} | {size:.2f} MB |")
    print(f"| beside: a bare interpreter with the same script | {bare:.2f} MB |")
    print("\n| processor | share of a core |")
    print("|---|---|")
    for name, share in shares.items():
        print(f"| {name} | {100 * share:.2f} % |")


def _deploy(server: Server, count: int) -> list[int]:
    """The processes of their shims."""
    archive = zipped({"main.py": MODEL})
    deployed = [
        server.upload("/model/deploy", server.make_model(f"m{n}"), archive) for n in range(count)
    ]
    fleet.wait_for(lambda: len(_offsets(server)) == count, every=0.2)
    fleet.wait_for(lambda: _count_lines(server, "up") == count, every=0.2)
    files = [server.data / "runs" / one["runId"] / "shim.json" for one in deployed]
    return [json.loads(file.read_text())["pid"] for file in files]


def _offsets(server: Server) -> dict[str, int]:
    """How far each journal was read, of those that run."""
    return dict(server.rows("select id, journal from runs where state = 'running'"))


def _count_lines(server: Server, text: str) -> int:
    """How many journals hold a line."""
    files = (server.data / "runs").glob("*/journal/*")
    return sum(f" {text}\n" in file.read_text() for file in files)


# Memory


def _memory(server: Server, shims: list[int]) -> tuple[dict[str, dict[int, float]], float]:
    """Megabytes by what a process is and whose; and of a bare interpreter beside them."""
    found: dict[str, dict[int, float]] = {}
    python = next((server.data / "environments/made").glob("*/bin/python"))
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "main.py"
        script.write_text(MODEL)
        bare = [subprocess.Popen([python, script], stdout=subprocess.DEVNULL) for _ in range(BARE)]
        try:
            time.sleep(2)
            alone = statistics.mean(_pss(one.pid) for one in bare)
            for shim in shims:
                for pid in tree.descendants(shim):
                    of_kind = found.setdefault(_kind(pid, shim), {})
                    of_kind[shim] = of_kind.get(shim, 0.0) + _pss(pid)
        finally:
            for one in bare:
                one.kill()
                one.wait()
    return found, alone


def _pss(pid: int) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1000
    raise SystemExit(f"process {pid} has no memory")


def _kind(pid: int, shim: int) -> str:
    if pid == shim:
        return "shim"
    name = Path(f"/proc/{pid}/comm").read_text().strip()
    return {"bwrap": "bubblewrap, both", "slirp4netns": "slirp4netns"}.get(name, "the model")


# Processor


def _processor(server: Server, shims: list[int], seconds: float) -> dict[str, float]:
    """Cores, by what a process is."""
    pids = {pid: _kind(pid, shim) for shim in shims for pid in tree.descendants(shim)}
    own = dict.fromkeys(tree.descendants(server.pid), "the server")
    whose = own | pids  # shims are children of a child of the server until it ends
    before = {pid: _ran(pid) for pid in whose}
    time.sleep(seconds)
    shares: dict[str, float] = {}
    for pid, name in whose.items():
        shares[name] = shares.get(name, 0.0) + (_ran(pid) - before[pid]) / seconds
    return shares


def _ran(pid: int) -> float:
    """Seconds on a processor, all threads together, more exactly than by ticks."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


# Restart


def _restart(server: Server, shims: list[int]) -> dict[str, float]:
    """While the server is away every model says a line: it has found a model again when that line
    is on the tape."""
    models = [_model(shim) for shim in shims]
    before = _offsets(server)
    asked = time.monotonic()
    server.end(signal.SIGTERM)
    ended = time.monotonic()
    _poke(models)
    fleet.wait_for(lambda: _count_lines(server, "poked") >= len(models), every=0.1)
    began = time.monotonic()
    server.start()
    ready = time.monotonic()
    fleet.wait_for(lambda: _are_read(server, before), every=0.02)
    found = time.monotonic()
    if any(not tree.started(pid) for pid in models):
        raise SystemExit("a model did not survive")
    server.enter()
    return {
        "SIGTERM and start, until all are found": (ended - asked) + (found - began),
        "of that: the end": ended - asked,
        "of that: until it answers": ready - began,
        "of that: until the last is found": found - ready,
    }


def _are_read(server: Server, before: dict[str, int]) -> bool:
    now = _offsets(server)
    return now.keys() == before.keys() and all(now[one] > before[one] for one in now)


def _model(shim: int) -> int:
    return next(pid for pid in tree.descendants(shim) if _kind(pid, shim) == "the model")


def _poke(models: Iterable[int]) -> None:
    for pid in models:
        os.kill(pid, signal.SIGUSR1)


if __name__ == "__main__":
    main()
