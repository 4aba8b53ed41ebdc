"""How much processor the demo takes: the server and everything it starts, as a share of one core.

Two runs, a short and a long one; their difference is what the demo costs once it runs.
`python -m bench.demo [--seconds N]`
"""

import argparse
import ctypes
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from bench.parts.service import answers, free_port

SUBREAPER = 36  # prctl(2): what loses its parent below us becomes our child
SHORT = 60.0  # by then the backtests are done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=180.0)
    longer = parser.parse_args().seconds
    if ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0):
        raise SystemExit("this kernel does not let us count orphans")
    short, long = _spent(SHORT), _spent(SHORT + longer)
    share = (long - short) / longer
    print(f"the first {SHORT:.0f} s: {short:.1f} s of processor (start, environments, backtests)")
    print(f"then: {share:.1%} of one core, over {longer:.0f} s")


def _spent(seconds: float) -> float:
    """Of all processes of a demo that lives so long."""
    before = _children()
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = [sys.executable, "-m", "tapeline", "up", "--demo", "--port", str(port)]
        silent = subprocess.DEVNULL
        process = subprocess.Popen(
            [*command, "--data", str(Path(folder) / "data")], stdout=silent, stderr=silent
        )
        try:
            while not answers(f"http://127.0.0.1:{port}/time"):
                time.sleep(0.05)
            time.sleep(seconds)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
        with suppress(ChildProcessError):
            while True:
                os.wait()
    return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
