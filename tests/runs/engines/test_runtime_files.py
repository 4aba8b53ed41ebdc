"""The files mounted into sandboxes are found in a checkout and in an installed wheel."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tapeline.runs.engines import runtime_files

ROOT = Path(__file__).parents[3]
NAMES = {"bootstrap.py", "blankly_external.py", "tapeline_client"}


def test_a_checkout_shows_its_own_folders() -> None:
    assert runtime_files.folders() == [ROOT / "runtime", ROOT / "client" / "src"]
    shown = dict(runtime_files.mounts())
    assert shown[str(ROOT / "runtime" / "bootstrap.py")] == "/runtime/bootstrap.py"
    assert {Path(inside).name for inside in shown.values()} >= NAMES
    assert all(Path(here).exists() for here in shown)


@pytest.mark.heavy
def test_a_wheel_carries_them(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "installed")
        assert "tapeline/beside/tapeline_client/py.typed" in packed.namelist()
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "from tapeline.runs.engines import runtime_files; print(runtime_files.mounts('/r'))",
        ],
        env={"PYTHONPATH": str(tmp_path / "installed"), "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in NAMES:
        assert str(tmp_path / "installed" / "tapeline" / "beside" / name) in said
        assert f"'/r/{name}'" in said


@pytest.mark.heavy
def test_the_client_is_a_wheel_of_its_own(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT / "client",
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("tapeline_client-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        (metadata,) = [name for name in packed.namelist() if name.endswith("METADATA")]
        text = packed.read(metadata).decode()
        assert "tapeline_client/py.typed" in packed.namelist()
    assert "Requires-Python: >=3.7" in text
    assert "Requires-Dist" not in text
