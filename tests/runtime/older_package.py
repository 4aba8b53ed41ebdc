"""The older platform's own package, in an environment of its own."""

import os
import subprocess
import sys
from pathlib import Path

PYTHON = "3.8"
# Its indicator library has wheels for few machines, and a source archive that lacks a file, so it
# does not build. `newtulipy` is the same module under an older name, and does.
OVERRIDE = "newnewtulipy ; sys_platform == 'nowhere'\n"
BUILD = "cython<3\nsetuptools<70\n"
# Of the years in which that version was current: what came later is not what such models run on.
BESIDE = [
    *("newtulipy==0.4.6", "numpy==1.24.4", "pandas==2.0.3", "bokeh==3.1.1"),
    "pandas-market-calendars==4.3.1",
]


def installed(folder: Path, version: str) -> Path:
    """The Python of an environment with that version of `blankly`."""
    (folder / "override.txt").write_text(OVERRIDE)
    (folder / "build.txt").write_text(BUILD)
    uv = [sys.executable, "-m", "uv"]
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    here = [str(path) for path in sorted(root.glob(f"{PYTHON}.*/bin/python"))] or [PYTHON]
    found = folder / "environment" / "bin" / "python"
    for command in (
        [*uv, "venv", "--quiet", "--python", here[-1], str(folder / "environment")],
        [
            *uv, "pip", "install", "--quiet", "--python", str(found),
            "--override", str(folder / "override.txt"),
            "--build-constraints", str(folder / "build.txt"), f"blankly=={version}", *BESIDE,
        ],
    ):  # fmt: skip
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
    return found
