"""Many short backtests: how much queue, server and tape add to starting as many sandboxes.

Beside it, in turn, bare pools of as many workers as there are slots, which start the same script
with the same bootstrap in the same environment: by bubblewrap alone, and by our shim with all that
belongs to it (a user of its own, a network, control groups).
`python -m bench.backtests [--count N] [--rounds N]`
"""

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.parts import fleet
from bench.parts.fleet import Server
from tapeline.runs.engines import run_box, runtime_files, shims, unpacking
from tapeline.runs.sandbox import bubblewrap, ownership, seccomp
from tapeline.runs.sandbox.box import Box, Launch, Policy
from tests.archives import zipped

SLOTS = os.cpu_count() or 1
PLAN = "small"  # one core each, as a process of a bare pool has
MODEL = """
def backtest(**args):
    print("trading")
    return {"symbols": ["BTC-USD"], "backtest_id": "x", "account_values": [], "trades": []}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    took: dict[str, list[float]] = {}
    with fleet.server() as server, tempfile.TemporaryDirectory() as folder:
        model = server.make_model()
        archive = zipped({"main.py": MODEL})
        server.upload("/model/upload", model, archive, plan=PLAN)
        _ours(server, model, SLOTS)
        pools = {
            "bare pool: bubblewrap alone": _alone,
            "bare pool: our whole sandbox": _with_shim,
        }
        for _ in range(options.rounds):
            for name, run in pools.items():
                took.setdefault(name, []).append(
                    _pool(run, server.data, Path(folder), options.count)
                )
            took.setdefault("ours", []).append(_ours(server, model, options.count))
    middle = {name: statistics.median(times) for name, times in took.items()}
    print(f"| {options.count} backtests, {SLOTS} at once | median | each | ours beside |")
    print("|---|---|---|---|")
    for name, seconds in middle.items():
        print(f"| {name} | {seconds:.2f} s | {1000 * seconds / options.count:.0f} ms "
              f"| {middle['ours'] / seconds:.2f} |")  # fmt: skip


def _ours(server: Server, model: str, count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        server.call("POST", "/model/backtest-uploaded-model", {"modelId": model, "plan": PLAN})
    fleet.wait_for(lambda: not server.rows("select id from runs where ended_at is null limit 1"))
    took = time.perf_counter() - started
    if failed := server.rows("select reason from runs where state != 'exited'"):
        raise SystemExit(f"a backtest failed: {failed}")
    return took


def _pool(run: Callable[[Path, Path, int], int], data: Path, folder: Path, count: int) -> float:
    context = multiprocessing.get_context("fork")
    with context.Pool(SLOTS) as pool:
        pool.starmap(run, [(data, folder, n) for n in range(SLOTS)])
        started = time.perf_counter()
        codes = pool.starmap(run, [(data, folder, n) for n in range(count)], chunksize=1)
        took = time.perf_counter() - started
    if any(codes):
        raise SystemExit(f"a bare backtest failed: {codes}")
    return took


def _alone(data: Path, folder: Path, _number: int) -> int:
    with tempfile.TemporaryDirectory(dir=folder) as work:
        planned = bubblewrap.plan(_box(data, Path(work), None), "bwrap", shims.MOST_FILES)
        pid = os.fork()
        if pid == 0:
            numbers = planned.numbers
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            for name in ("status", "lock"):
                os.dup2(1, numbers[name])
            _hold(numbers["arguments"], ("\0".join(planned.arguments) + "\0").encode())
            _hold(numbers["seccomp"], seccomp.program())
            for number, text in planned.files:
                _hold(number, text.encode())
            os.execve(planned.program, planned.argv, {})
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _hold(number: int, content: bytes) -> None:
    descriptor = os.memfd_create("bench")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.dup2(descriptor, number)


def _with_shim(data: Path, folder: Path, number: int) -> int:
    uid = ownership.FIRST_UID - 1 - number if os.geteuid() == 0 else None
    runs = folder / "runs"
    with tempfile.TemporaryDirectory(dir=folder) as work:
        name = Path(work).name
        lock = runs / "locks" / name
        shims.launch(
            Launch(
                name=name,
                folder=work,
                lock=str(lock),
                runs=str(runs),
                box=_box(data, Path(work), uid),
                masked=[],
                policy=Policy(restart=False),
            )
        )
        while shims.is_held(lock):
            time.sleep(0.002)
        return int(b'"outcome":"exited"' not in next(Path(work, "journal").iterdir()).read_bytes())


def _box(data: Path, work: Path, uid: int | None) -> Box:
    """As run_box composes it, with the environment that the server has made."""
    environment = next(one for one in (data / "environments/made").iterdir() if one.is_dir())
    inside = f"/environments/{environment.name}"
    unpacking.copy(next((data / "versions").iterdir()), work / "work", uid)
    for name in ("out", "state"):
        unpacking.writable(work / name, uid)
    return Box(
        argv=[f"{inside}/bin/python", "/runtime/bootstrap.py", "main.py", ""],
        cwd="/model",
        env={
            **run_box.PLAIN,
            "PYTHONPATH": runtime_files.INSIDE,
            "TAPELINE_BACKTEST_ID": "x",
            "TAPELINE_BACKTEST_ARGS": "{}",
        },
        readonly=[(str(environment), inside), *fleet.python().binds(), *runtime_files.mounts()],
        writable=[
            (str(work / "work"), run_box.MODEL),
            (str(work / "out"), run_box.OUT),
            (str(work / "state"), run_box.STATE),
        ],
        tmp_mb=512,
        network="open",
        events_port=8700,
        memory_mb=1024,
        cpu_milli=1000,
        pids=256,
        disk_mb=1000,
        uid=uid,
    )


if __name__ == "__main__":
    main()
