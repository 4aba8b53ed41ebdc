"""The pages about commands show what the commands print: each is followed from its first line."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.conftest import PASSWORD, Home, Server
from tests.acceptance.traders import Trader, pythons
from tests.commands import Shell
from tests.transcripts import Step, follow, steps_of

pytestmark = pytest.mark.heavy

STDIN = f"{PASSWORD}\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    place = Home(tmp_path_factory.mktemp("home"))
    yield place
    place.close()


@pytest.fixture(scope="module")
def server(home: Home) -> Server:
    everywhere = ",".join(one.path for one in pythons())
    started = home.up(TAPELINE_PYTHONS=everywhere, TAPELINE_STOP_SECONDS="2")
    added = home.run("user", "add", "ada@example.com", stdin=STDIN)
    assert added.returncode == 0, added.stderr
    return started


@pytest.fixture
def shell(home: Home, server: Server, tmp_path: Path) -> Shell:
    """Signed in, in a folder where nothing is yet."""
    path = f"{Path(sys.executable).parent}:{os.defpath}"
    here = {"PATH": path, "NO_COLOR": "1", "TERM": "dumb"}
    made = Shell(tmp_path, home.environment | here, home.path / "at")
    made.types(f"tapeline login --server {server.address} --email ada@example.com", stdin=STDIN)
    return made


def test_the_page_about_the_command_line(server: Server, shell: Shell) -> None:
    steps = [one for one in steps_of("command-line.md") if not _is_for_operators(one)]
    assert len(steps) > 9
    follow(steps, shell, typed={"https://tape.example.com": server.address}, stdin=STDIN)
    shell.types("tapeline delete trend --yes")


def test_the_guides_about_deploying_and_backtesting(server: Server, shell: Shell) -> None:
    shell.types("tapeline init trend && cd trend")
    typed = {"http://127.0.0.1:8700": server.address, "logs -f": "logs"}
    follow(steps_of("how-to/deploy.md"), shell, typed=typed)
    shell.types("tapeline stop && tapeline backtest")
    follow(steps_of("how-to/backtest.md"), shell, typed=typed)
    shell.types("tapeline delete Trend --yes")


def test_the_guides_about_secrets_sharing_and_records(server: Server, shell: Shell) -> None:
    shell.types("tapeline init trend && cd trend && tapeline deploy --new")
    shell.types("echo hush > ~/pass.txt")
    typed = {"http://127.0.0.1:8700": server.address}
    follow(steps_of("how-to/secrets.md"), shell, typed=typed, stdin="a key\n")
    follow(steps_of("how-to/share.md"), shell, typed=typed)
    shell.types("cd ..")
    follow(steps_of("how-to/verify.md"), shell, typed=typed)
    shell.types("tapeline delete trend --yes")


def test_the_pages_about_the_apis(home: Home, server: Server, tmp_path: Path) -> None:
    trader = Trader(server)
    mine = {"projectId": trader.user_id}
    key = trader.post("/project/generate-project-token", json=mine | {"name": "x"})
    variables = {
        "PATH": os.defpath,
        "TAPELINE": server.address,
        "TOKEN": trader.client.headers["token"],
        "PROJECT": trader.post("/project/create", json={"name": "Shared"})["projectId"],
        "MODEL": trader.post("/model/create-model", json=mine | {"name": "Pages"})["modelId"],
        "KEY": key["apiKey"],
        "PASS": key["apiPass"],
    }
    shell = Shell(tmp_path, variables, home.path / "at")
    with closing(trader.client):
        _follow_apis(trader, server, shell, variables["MODEL"])


def _follow_apis(trader: Trader, server: Server, shell: Shell, model: str) -> None:
    typed = {"http://127.0.0.1:8700": server.address}
    follow(steps_of("events.md"), shell, typed=typed)
    project = [one for one in steps_of("projects.md") if "tokenId" not in one.command]
    follow(project, shell, typed=typed)
    follow(
        [one for one in steps_of("projects.md") if "tokenId" in one.command],
        shell,
        typed=typed | {"projectId=$PROJECT": f"projectId={trader.user_id}"},
    )
    first, *rest = steps_of("deploying.md")
    follow([first], shell, typed={"localhost:8700": f"127.0.0.1:{server.port}"})
    uploaded = trader.client.get("/model/starter-models/moving-average.zip").content
    version = trader.deploy("", archive=uploaded, model=model)["versionId"]  # the page's is new
    typed = {"localhost:8700": f"127.0.0.1:{server.port}", "$VERSION": version}
    follow(rest, shell, typed=typed)


def _is_for_operators(step: Step) -> bool:
    return step.command.startswith(("tapeline user", "tapeline keys rotate", "tapeline doctor"))
