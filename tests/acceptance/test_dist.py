"""What `make dist` builds works where nothing else is: no checkout, no Node, no MkDocs."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import httpx
import pytest

from tests.acceptance.conftest import Home
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([str(ROOT / "scripts" / "dist"), str(folder)], check=True)
    return folder


def only(dist: Path, pattern: str) -> Path:
    (found,) = dist.glob(pattern)
    return found


def environment_in(folder: Path, *packages: str) -> Path:
    """An empty virtual environment with packages in it; its folder of programs."""
    subprocess.run(
        [str(UV), "venv", "--quiet", "--python", sys.executable, str(folder)], check=True
    )
    python = str(folder / "bin" / "python")
    subprocess.run(
        [str(UV), "pip", "install", "--quiet", "--python", python, *packages], check=True
    )
    return folder / "bin"


@pytest.mark.slow
def test_the_wheel_runs_in_an_empty_environment(dist: Path, home: Home, tmp_path: Path) -> None:
    programs = environment_in(tmp_path / "empty", str(only(dist, "tapeline-*.whl")))
    variables = home.environment | {"PATH": f"{programs}:{os.defpath}"}
    said = tmp_path / "said"
    with (
        said.open("w") as out,
        subprocess.Popen(
            [str(programs / "tapeline"), "up", "--port", "0"],
            env=variables,
            cwd=home.path,
            stdout=out,
            stderr=out,
        ) as server,
    ):
        try:
            wait_for(lambda: "Ctrl-C" in said.read_text() or server.poll() is not None)
            found = re.search(r"is ready at (http://\S+)", said.read_text())
            assert found, said.read_text()
            with httpx.Client(base_url=found[1], follow_redirects=True) as client:
                assert "Sign up" in client.get("/").text or "account" in client.get("/").text
                account = {"email": "ada@example.com", "password": "correct horse battery"}
                assert client.post("/auth/signup/form", data=account).status_code in {200, 403}
                docs = client.get("/docs/tutorial/")
                assert docs.status_code == 200
                assert "from nothing to a model that trades" in docs.text
                assert client.get("/model/starter-models").json()
        finally:
            server.terminate()
        assert server.wait(30) == 0


@pytest.mark.slow
def test_distributions_hold_pages_documentation_and_what_stands_beside_a_model(
    dist: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(only(dist, "tapeline-*.whl")) as wheel:
        names = set(wheel.namelist())
    for one in (
        "tapeline/http/app/index.html",
        "tapeline/http/docs/index.html",
        "tapeline/http/docs/tutorial/index.html",
        "tapeline/http/docs/scripts",
        "tapeline/beside/tapeline_client/__init__.py",
        "tapeline/examples/moving-average/main.py",
    ):
        assert one in names
    assert not [one for one in names if "node_modules" in one or one.startswith("tests")]
    with tarfile.open(only(dist, "tapeline-*.tar.gz")) as source:
        held = {name.partition("/")[2] for name in source.getnames()}
    for one in (
        "src/tapeline/http/app/index.html",
        "src/tapeline/http/docs/index.html",
        "Makefile",
    ):
        assert one in held
    assert not [one for one in held if "node_modules" in one or one.startswith((".venv", ".git/"))]


@pytest.mark.slow
def test_a_wheel_is_built_from_the_source_distribution_without_node(
    dist: Path, tmp_path: Path
) -> None:
    build = [str(UV), "build", "--quiet", "--wheel", "--out-dir", str(tmp_path / "again")]
    variables = os.environ | {"PATH": str(tmp_path)}  # no program to be found: no Node either
    ended = subprocess.run(
        [*build, "--python", sys.executable, str(only(dist, "tapeline-*.tar.gz"))],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    first, again = only(dist, "tapeline-*.whl"), only(tmp_path / "again", "tapeline-*.whl")
    with zipfile.ZipFile(first) as one, zipfile.ZipFile(again) as two:
        assert set(one.namelist()) == set(two.namelist())


@pytest.mark.slow
def test_the_client_needs_nothing_else(dist: Path, tmp_path: Path) -> None:
    programs = environment_in(tmp_path / "empty", str(only(dist, "tapeline_client-*.whl")))
    program = "import tapeline_client; print(tapeline_client.__version__)"
    said = subprocess.run(
        [str(programs / "python"), "-c", program], capture_output=True, text=True, check=True
    )
    listed = subprocess.run(
        [str(UV), "pip", "list", "--quiet", "--format=freeze", "--python",
         str(programs / "python")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert listed.stdout.split() == [f"tapeline-client=={said.stdout.strip()}"]
