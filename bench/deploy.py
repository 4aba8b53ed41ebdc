"""How soon a deployed model speaks: from its upload's first byte to its first line on the tape.

Beside it, in turn: the same script started by hand, and for a cold deploy `uv venv` and
`uv pip install` by hand with an empty cache. `python -m bench.deploy [--rounds N] [--cold N]`
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from bench.parts import fleet
from bench.parts.fleet import Server
from tapeline.runs.environments.install_boxes import uv_program
from tapeline.runs.environments.interpreters import Interpreter
from tests.archives import zipped

PACKAGES = ("numpy", "pandas")
MODEL = "print('first line', flush=True)\nimport time\ntime.sleep(600)\n"
IMPORTING = f"import {', '.join(PACKAGES)}\n{MODEL}"
SPEAKING_FIRST = f"print('first line', flush=True)\nimport {', '.join(PACKAGES)}\n" + (
    "print('imported', flush=True)\nimport time\ntime.sleep(600)\n"
)
ALLOWANCE = 0.5  # seconds that a warm deploy may add to a start by hand

PLAN = "medium"  # two cores: a start by hand is not throttled to a part of one either

Times = defaultdict[str, list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cold", type=int, default=3)
    options = parser.parse_args()
    python = fleet.python()
    warm, steps = _warm(python, options.rounds)
    cold = _cold(python, options.cold)
    print(f"Python {python.release}; warm: median of {options.rounds}; cold: of {options.cold}\n")
    _print_warm(warm)
    _print_steps(steps)
    if options.cold:
        _print_cold(cold)


def _warm(python: Interpreter, rounds: int) -> tuple[Times, Times]:
    """By what is deployed, and the steps of the plain one."""
    took, steps = Times(list), Times(list)
    packages = "".join(f"{one}\n" for one in PACKAGES)
    scripts = {"": zipped({"main.py": MODEL}), "importing": _with_packages(IMPORTING)}
    with tempfile.TemporaryDirectory() as folder, fleet.server() as server:
        by_hand = _environment(Path(folder), python, packages.split())
        for turn in range(rounds + 1):
            for name, archive in scripts.items():
                script = Path(folder) / f"main{name}.py"
                script.write_text(IMPORTING if name else MODEL)
                alone = _start_by_hand(by_hand, script)
                deployed = _deploy(server, archive)
                if turn:  # the first one makes the environment
                    took[f"{name} by hand"].append(alone)
                    took[name].append(deployed["all"])
                    if not name:
                        for step, seconds in deployed.items():
                            steps[step].append(seconds)
    return took, steps


def _cold(python: Interpreter, rounds: int) -> Times:
    took = Times(list)
    archive = _with_packages(SPEAKING_FIRST)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            made = _environment(Path(folder), python, list(PACKAGES))
            took["by hand"].append(time.perf_counter() - started)
            script = Path(folder) / "main.py"
            script.write_text(IMPORTING)
            took["import by hand"].append(_start_by_hand(made, script))
        with fleet.server() as server:
            deployed = _deploy(server, archive, "imported")
            took["ours"].append(deployed["all"])
            took["ours, imported"].append(deployed["imported"])
    return took


def _with_packages(script: str) -> bytes:
    listed = "".join(f"{one}\n" for one in PACKAGES)
    return zipped({"main.py": script, "requirements.txt": listed}, requirements="requirements.txt")


def _environment(folder: Path, python: Interpreter, packages: list[str]) -> Path:
    """A Python with packages, made by hand with a cache that is empty."""
    made = folder / "by-hand"
    environment = {**os.environ, "UV_CACHE_DIR": str(folder / "cache")}
    venv = ["venv", "--no-python-downloads", "--python", python.path, str(made)]
    install = ["pip", "install", "--python", str(made / "bin/python"), *packages]
    for arguments in (venv, install):
        subprocess.run([uv_program(), *arguments], check=True, env=environment, capture_output=True)
    return made / "bin/python"


def _start_by_hand(python: Path, script: Path) -> float:
    started = time.perf_counter()
    with subprocess.Popen([python, script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        took = time.perf_counter() - started
        process.kill()
    return took


def _deploy(server: Server, archive: bytes, last: str = "") -> dict[str, float]:
    """Seconds of the whole, and of its steps, by the machine's one clock."""
    model = server.make_model()
    with server.stream(model) as stream:
        started = time.time()
        deployed = server.upload("/model/deploy", model, archive, plan=PLAN)
        answered = time.time()
        seen = stream.wait_for(b"first line")
        took = {"all": seen - started}
        if last:
            took[last] = stream.wait_for(last.encode()) - started
    run = server.run(deployed)
    line = next(one for one in server.logs(model, "limit=100") if one["line"] == "first line")
    server.kill(model)
    fleet.wait_for(lambda: server.run(deployed)["ended_at"] is not None)
    return took | {
        "upload checked and stored": deployed["timestamp"] - started,
        "answered": answered - started,
        "sandbox is up": run["started_at"] - deployed["timestamp"],
        "its first line": line["time"] - run["started_at"],
        "on the tape and read from a stream": seen - line["time"],
    }


def _print_warm(took: Times) -> None:
    print("| warm deploy | ours | by hand | beside by hand plus 0.5 s |")
    print("|---|---|---|---|")
    for name, what in (("", "a plain script"), ("importing", f"{' and '.join(PACKAGES)} first")):
        ours = statistics.median(took[name])
        hand = statistics.median(took[f"{name} by hand"])
        print(f"| {what} | {ours:.3f} s | {hand:.3f} s | {ours / (hand + ALLOWANCE):.2f} |")
    print()


def _print_steps(steps: Times) -> None:
    print("| step of the plain one | median |")
    print("|---|---|")
    for step, seconds in steps.items():
        if step not in {"all", "answered"}:
            print(f"| {step} | {1000 * statistics.median(seconds):.0f} ms |")
    print()


def _print_cold(took: Times) -> None:
    middle = {what: statistics.median(seconds) for what, seconds in took.items()}
    hand = middle["by hand"]
    imported = hand + middle["import by hand"]
    print(f"| cold deploy, {' and '.join(PACKAGES)} | ours | by hand | beside |")
    print("|---|---|---|---|")
    print(f"| to the first line | {middle['ours']:.2f} s | {hand:.2f} s "
          f"| {middle['ours'] / hand:.2f} |")  # fmt: skip
    ours = middle["ours, imported"]
    print(f"| until they are imported | {ours:.2f} s | {imported:.2f} s | {ours / imported:.2f} |")


if __name__ == "__main__":
    main()
