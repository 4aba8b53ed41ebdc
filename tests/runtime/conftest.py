"""Backtests as the platform starts them, in plain processes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tapeline.settings import Settings
from tests.conftest import Person, Service
from tests.pushing import Model, pushing
from tests.waiting import A_PROGRAM

ROOT = Path(__file__).parents[2]
RUNTIME, CLIENT = ROOT / "runtime", ROOT / "client" / "src"


def oldest() -> list[Path]:
    """The oldest Python we support, where there is one, and ours."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return [*sorted(root.glob("3.7.*/bin/python")), Path(sys.executable)]


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str
    status: dict[str, Any] | None
    result: dict[str, Any] | None


Backtest = Callable[..., Ended]


@pytest.fixture(params=oldest(), ids=lambda path: path.parts[-3])
def python(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    return sqlite_settings


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


@pytest.fixture
def backtest(python: Path, tmp_path: Path) -> Backtest:
    """Run a script's text as a backtest with these arguments."""

    def run(script: str, *, function: str = "", arguments: Any = None, **variables: str) -> Ended:
        folder, out = tmp_path / "model", tmp_path / "out"
        for made in (folder, out):
            made.mkdir(exist_ok=True)
        (folder / "bot.py").write_text(script)
        ended = subprocess.run(
            [str(python), str(RUNTIME / "bootstrap.py"), "--out", str(out), "bot.py", function],
            cwd=folder,
            env=environment(arguments) | variables,
            capture_output=True,
            text=True,
            timeout=A_PROGRAM,
            check=False,
        )
        found = {name: _read(out / f"{name}.json") for name in ("status", "result")}
        assert not list(out.glob("*.new"))
        return Ended(ended.returncode, ended.stdout, ended.stderr, **found)

    return run


def environment(arguments: Any) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "PYTHONPATH": f"{RUNTIME}{os.pathsep}{CLIENT}",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TAPELINE_BACKTEST_ID": "the-run",
        "TAPELINE_BACKTEST_ARGS": json.dumps({} if arguments is None else arguments),
        "BACKTESTING": "1",
    }


def _read(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text())
    return found
