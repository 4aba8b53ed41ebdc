"""How long a model waits for its packages: our installation beside uv by hand, in one run.

By hand means `uv venv` and `uv pip install` with an empty cache, no sandbox, no lock and no
bytecode; the first import then compiles. Needs a package index.
"""

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tapeline.runs.environments import interpreters
from tapeline.runs.environments.cache import Environment, Environments, Wanted
from tapeline.runs.environments.install_boxes import Installer, uv_program
from tapeline.runs.environments.interpreters import Interpreter
from tapeline.settings import search_path
from tests.runs.sandbox.boxes import install, run_inside

ROUNDS = 3
PACKAGES = ["numpy", "pandas"]
RUNTIME = Path(__file__).parents[1] / "runtime"


def main() -> None:
    found = interpreters.discover(memory=None, extra=[], path=search_path(), home=Path.home())
    python = found.get("3.11") or found.interpreters[0]
    taken: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            for what, seconds in [*by_hand(Path(folder), python), *ours(Path(folder), python)]:
                taken.setdefault(what, []).append(seconds)
    middle = {what: statistics.median(times) for what, times in taken.items()}
    beside = middle["by hand"]
    print(f"{', '.join(PACKAGES)} on Python {python.release}\n")
    print("| what | measured | beside by hand |")
    print("|---|---|---|")
    for what, seconds in middle.items():
        shown = f"{seconds:.2f} s" if seconds >= 0.01 else f"{seconds * 1000:.2f} ms"
        print(f"| {what} | {shown} | {seconds / beside:.2f} |")


def by_hand(folder: Path, python: Interpreter) -> list[tuple[str, float]]:
    made, cache = folder / "by-hand", folder / "cache"
    environment = {**os.environ, "UV_CACHE_DIR": str(cache)}

    def uv(*arguments: str) -> None:
        subprocess.run([uv_program(), *arguments], check=True, env=environment, capture_output=True)

    def make() -> None:
        uv("venv", "--clear", "--no-python-downloads", "--python", python.path, str(made))
        uv("pip", "install", "--python", str(made / "bin/python"), *PACKAGES)

    program = [str(made / "bin/python"), "-c", "import " + ", ".join(PACKAGES)]
    bare = _timed(make)
    first = _timed(lambda: subprocess.run(program, check=True))
    return [
        ("by hand", bare),
        ("by hand, until the first import is done", bare + first),
    ]


def ours(folder: Path, python: Interpreter) -> list[tuple[str, float]]:
    model = folder / "model"
    model.mkdir()
    file = model / "requirements.txt"
    file.write_text("".join(f"{name}\n" for name in PACKAGES))
    bare = Environments(folder / "bare", installer=Installer(runtime=RUNTIME))
    bare.start()
    request = bare.wanted(python, file, model, archive="", project="")
    without = _timed(lambda: install(bare, request, bytecode=False))
    environments = Environments(folder / "ours", installer=Installer(runtime=RUNTIME))
    environments.start()
    wanted = environments.wanted(python, file, model, archive="", project="")
    made: list[Environment] = []
    cold = _timed(lambda: made.append(_install(environments, wanted)))
    environment = made[0]
    program = [environment.python, "-c", "import " + ", ".join(PACKAGES)]
    first = _timed(lambda: run_inside(environment, wanted, *program))
    found = _timed(lambda: environments.find(wanted))
    exact = environments.wanted(python, file, model, environment.lock, archive="", project="")
    (folder / f"ours/made/{environment.key}.json").unlink()
    locked = _timed(lambda: _install(environments, exact))
    file.write_text(file.read_text() + "six\n")
    warm = _timed(
        lambda: _install(
            environments, environments.wanted(python, file, model, archive="", project="")
        )
    )
    return [
        ("ours: sandboxed and locked, bytecode left for later", without),
        ("ours: with bytecode", cold),
        ("ours, until the first import is done", cold + first),
        ("ours, the same again with one more package", warm),
        ("ours, from the lock", locked),
        ("ours, found again", found),
    ]


def _install(environments: Environments, wanted: Wanted) -> Environment:
    environment, output = install(environments, wanted)
    if environment is None:
        raise SystemExit(output)
    return environment


def _timed(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
