"""How soon `tapeline up` answers, and what it holds when idle. Prints a table for docs/.

The bare interpreter and its libraries stand beside it: machines differ, ratios less.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import psutil

ROUNDS = 7
IDLE_SECONDS = 3
LIBRARIES = "import starlette.applications, uvicorn, sqlalchemy, msgspec, jinja2, typer, jwt"


def main() -> None:
    bare = _best(lambda: _finish([sys.executable, "-c", "pass"]))
    libraries = _best(lambda: _finish([sys.executable, "-c", LIBRARIES]))
    command = _best(lambda: _finish([sys.executable, "-m", "tapeline", "version"]))
    with tempfile.TemporaryDirectory() as folder:
        first = _best(lambda: _start(Path(tempfile.mkdtemp(dir=folder)))[0])
        data = Path(folder) / "again"
        _start(data)
        starts = [_start(data) for _ in range(ROUNDS)]
    again = min(seconds for seconds, _ in starts)
    memory = max(megabytes for _, megabytes in starts)
    print("| what | measured | beside the bare interpreter |")
    print("|---|---|---|")
    for what, seconds in (
        ("`python -c pass`", bare),
        ("importing the libraries of the service alone", libraries),
        ("a command, `tapeline version`", command),
        ("first `tapeline up` to its first answer (makes keys, migrates)", first),
        ("later `tapeline up` to its first answer", again),
    ):
        print(f"| {what} | {seconds:.2f} s | {seconds / bare:.0f} times |")
    print(f"| memory of the idle service | {memory:.0f} MB | |")


def _best(measure: Callable[[], float]) -> float:
    return min(measure() for _ in range(ROUNDS))


def _finish(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def _start(data: Path) -> tuple[float, float]:
    """Seconds from the command to the first answer, and megabytes once it is idle."""
    port = _free_port()
    command = [sys.executable, "-m", "tapeline", "up", "--data", str(data), "--port", str(port)]
    environment = {**os.environ, "TAPELINE_LOG_LEVEL": "warning"}
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as process:
        try:
            while not _answers(port):
                if process.poll() is not None:
                    raise SystemExit(f"tapeline up ended with {process.returncode}")
                time.sleep(0.005)
            seconds = time.perf_counter() - started
            time.sleep(IDLE_SECONDS)
            return seconds, psutil.Process(process.pid).memory_info().rss / 1e6
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/time", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


if __name__ == "__main__":
    main()
