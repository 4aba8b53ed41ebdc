"""The same sandbox without root: its tests again, as nobody, where this machine can do that."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

from tests.runs.sandbox.bare import (
    NOBODY,
    OPEN_TUN,
    ROOT,
    SYSTEM_PYTHON,
    needs_nobody,
    on_machine,
)


@pytest.fixture
def home() -> Iterator[Path]:
    """Not in pytest's own folder, where nobody may not go."""
    folder = Path(tempfile.mkdtemp(prefix="nobody-"))
    os.chown(folder, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.heavy
@needs_nobody
@pytest.mark.parametrize(
    "chosen",
    [
        "hostile or polite or memory or forking",
        "not hostile and not polite and not memory and not forking and not processor",
    ],
    ids=["walls", "rest"],
)
def test_the_sandbox_holds_without_root(home: Path, chosen: str) -> None:
    libraries = Path(numpy.__file__).parent.parent
    within = ("sandbox/test_bubblewrap", "sandbox/test_belonging", "test_locks", "test_shim")
    tests = [f"tests/runs/{one}.py" for one in within]
    variables = {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"{ROOT}/src:{ROOT}:{libraries}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = on_machine(
        OPEN_TUN,
        home,
        *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
        *("env", "-i", *(f"{name}={value}" for name, value in variables.items())),
        *(
            SYSTEM_PYTHON,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-m",
            "not heavy and not needs",
        ),
        *(f"--basetemp={home}/tests", "-k", chosen, *tests),
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-1000:]
