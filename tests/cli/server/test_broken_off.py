"""A server that is killed in the middle of an answer: the command fails, and leaves no file."""

import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tapeline.cli.terminal.failures import UNREACHABLE
from tests import needs
from tests.acceptance.conftest import PASSWORD, Home
from tests.cutting import cut
from tests.store.disk import small_disk

LINES, ORDERS = 6_000, 2_500
TEXT = "x" * 1_000


@dataclass(frozen=True)
class Stage:
    """A model with more in its log and among its orders than the buffers on the way hold."""

    home: Home
    model: str
    token: str

    def killed_during(
        self, path: str, after: int, at: Path, *arguments: str
    ) -> "subprocess.CompletedProcess[str]":
        """A command whose server is killed once so many bytes of an answer have come."""
        server = self.home.up()  # what the one before stored is there
        person = Home(at)
        with cut(server.port, path, after, lambda: server.end(signal.SIGKILL)) as line:
            ended = person.run(*arguments, TAPELINE_URL=line.address, TAPELINE_TOKEN=self.token)
            assert line.is_broken, ended.stdout[:1_000] + ended.stderr
        return ended


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    home = Home(tmp_path_factory.mktemp("server"))
    server = home.up()
    added = home.run("user", "add", "ada@example.com", "--name", "Ada", stdin=PASSWORD)
    assert added.returncode == 0, added.stderr
    with server.client() as client:
        who = {"email": "ada@example.com", "password": PASSWORD}
        signed = client.post("/auth/signin", json=who).json()
        client.headers["token"] = signed["idToken"]
        mine = {"projectId": signed["userId"]}
        model = client.post("/model/create-model", json=mine | {"name": "Long"}).json()["modelId"]
        key = client.post("/project/generate-project-token", json=mine).json()
        client.headers.update(
            {"model_id": model, "api_key": key["apiKey"], "api_pass": key["apiPass"]}
        )
        order = {"symbol": "A-USD", "exchange": "e", "side": "buy", "size": 1, "annotation": TEXT}
        for batch in (
            [{"path": "/v1/live/log", "body": {"line": TEXT}}] * LINES,
            [
                {"path": "/v1/live/spot-market", "body": order | {"id": str(n)}}
                for n in range(ORDERS)
            ],
        ):
            pushed = client.post("/v1/batch", json=batch)
            assert pushed.status_code == 200, pushed.text
    server.end()
    yield Stage(home, model, signed["idToken"])
    home.close()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("path", "after", "arguments"),
    [
        ("/record", 1_000_000, ("export",)),
        ("/record", 300, ("export",)),
        ("/record", 1_000_000, ("export", "--output", "-")),
        ("/logs", 1_000_000, ("logs", "-n", "5000", "--json")),
        ("/orders", 1_500_000, ("orders", "-n", "2500", "--json")),
    ],
)
def test_what_breaks_off_fails_and_leaves_no_file(
    stage: Stage, tmp_path: Path, path: str, after: int, arguments: tuple[str, ...]
) -> None:
    command, *options = arguments
    ended = stage.killed_during(path, after, tmp_path, command, stage.model, *options)
    assert ended.returncode == UNREACHABLE, ended.stderr
    said = ended.stderr.strip().splitlines()[-1]
    assert said.startswith("tapeline: ")
    assert "was cut off" in said or "cannot be reached" in said
    assert "Traceback" not in ended.stderr
    left = {one.name for one in tmp_path.iterdir()} - {".config"}
    assert not left
    if "--json" in options:
        assert ended.stdout == ""  # a list that is not whole is not a list


def test_an_export_that_is_whole_says_so(stage: Stage, tmp_path: Path) -> None:
    server, person = stage.home.up(), Home(tmp_path)
    known = {"TAPELINE_URL": server.address, "TAPELINE_TOKEN": stage.token}
    ended = person.run("export", stage.model, "--output", "whole.ndjson", **known)
    assert ended.returncode == 0, ended.stderr
    assert f"holds {LINES + ORDERS:,} events" in ended.stdout + ended.stderr
    checked = person.run("verify", "whole.ndjson", "--server", server.address)
    assert checked.returncode == 0, checked.stdout
    assert [one.name for one in tmp_path.iterdir() if one.name != ".config"] == ["whole.ndjson"]
    server.end()


@needs.root("mounts a disk")
def test_a_full_disk_is_not_taken_for_a_download_that_was_cut_off(
    stage: Stage, tmp_path: Path
) -> None:
    server, person = stage.home.up(), Home(tmp_path)
    known = {"TAPELINE_URL": server.address, "TAPELINE_TOKEN": stage.token}
    with small_disk(tmp_path / "disk", 1) as disk:
        said = person.refused("export", stage.model, "-o", "disk/a.ndjson", exit_code=1, **known)
        assert "disk/a.ndjson cannot be written: No space left on device." in said
        assert not list(disk.path.iterdir())
    server.end()
