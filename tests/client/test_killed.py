"""Killed at any moment, the model and the server: what a call took is on the tape, once."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from tapeline_client import Client

from tapeline import compose
from tapeline.settings import Settings
from tapeline.store.tables.tape import tapes
from tapeline.tape.reading import whole_tape
from tests.acceptance.conftest import Home
from tests.acceptance.test_durability import _model
from tests.client.conftest import Make
from tests.client.road import Road
from tests.pushing import Model
from tests.waiting import A_PROGRAM

pytestmark = pytest.mark.heavy

PUSHER = Path(__file__).with_name("pusher.py")
CLIENT = Path(__file__).parents[2] / "client" / "src"


def environment(url: str, headers: dict[str, str], state: Path) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "PYTHONPATH": str(CLIENT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TAPELINE_URL": url,
        "TAPELINE_MODEL_ID": headers["model_id"],
        "TAPELINE_API_KEY": headers["api_key"],
        "TAPELINE_API_PASS": headers["api_pass"],
        "TAPELINE_STATE_DIR": str(state),
    }


def killed_model(name: str, variables: dict[str, str], seconds: float, out: Path) -> list[str]:
    """Names of the orders whose calls returned before the kill."""
    with out.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(PUSHER), "forever", name], env=variables, stdout=output
        )
        while not out.stat().st_size:
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(seconds)
        process.kill()
        process.wait()
    returned = out.read_text().splitlines()
    return [f"{name}-{number}" for number in returned]


def check(ids: list[str], handed_over: list[str]) -> None:
    assert {name for name, times in Counter(ids).items() if times > 1} == set(), "there twice"
    assert set(handed_over) - set(ids) == set(), "handed over, but missing"
    for name in {one.split("-")[0] for one in ids}:
        numbers = [int(one.split("-")[1]) for one in ids if one.startswith(f"{name}-")]
        assert numbers == list(range(len(numbers))), "out of order"


def test_a_killed_model_loses_and_doubles_nothing(
    make: Make, model: Model, road: Road, tmp_path: Path
) -> None:
    variables = environment(road.url, model.headers, tmp_path / "state")
    handed_over: list[str] = []
    for turn in range(8):
        # Answers get lost now and then, and sometimes nothing gets through at all.
        road.lose_answers = turn % 3
        if turn == 4:
            road.close()
        if turn == 6:
            road.reopen()
        pause = random.uniform(0.05, 0.4)
        handed_over += killed_model(f"m{turn}", variables, pause, tmp_path / "out")
    road.lose_answers = 0
    folder = str(tmp_path / "state" / "tapeline-client")
    assert sum(path.stat().st_size for path in Path(folder).rglob("*.ndjson")), "nothing was left"
    last = make(url=road.url, folder=folder)
    last.log("the end")
    assert last.flush(60)
    check([body["id"] for body in model.bodies() if "id" in body], handed_over)


def test_a_killed_server_and_a_killed_model_lose_and_double_nothing(
    home: Home, tmp_path: Path
) -> None:
    server = home.up()
    port = str(server.port)
    model_id, headers = _model(server)
    variables = environment(f"http://127.0.0.1:{port}", headers, tmp_path / "state")
    handed_over: list[str] = []
    for turn in range(4):
        with (tmp_path / f"out-{turn}").open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, str(PUSHER), "forever", f"s{turn}"], env=variables, stdout=output
            )
        time.sleep(random.uniform(0.3, 0.6))
        home.servers[-1].end(signal.SIGKILL)
        time.sleep(0.2)
        home.begin("--port", port)
        time.sleep(random.uniform(0, 0.5))
        process.kill()
        process.wait()
        home.servers[-1].wait_until_ready()
        returned = (tmp_path / f"out-{turn}").read_text().splitlines()
        handed_over += [f"s{turn}-{number}" for number in returned]
    folder = str(tmp_path / "state" / "tapeline-client")
    url, key, secret = variables["TAPELINE_URL"], headers["api_key"], headers["api_pass"]
    last = Client(url, model_id, key, secret, folder=folder)
    last.log("the end")
    assert last.flush(60)
    assert last.close()
    home.servers[-1].end()
    check(_stored(home, model_id), handed_over)


def _stored(home: Home, model_id: str) -> list[str]:
    with compose.open_store(Settings(data=home.data)) as store:
        number = store.read_now(
            lambda c: c.scalar(tapes.select().with_only_columns(tapes.c.no).where(
                tapes.c.model_id == model_id))
        )  # fmt: skip
        assert number is not None
        records = store.read_now(lambda c: list(whole_tape.records(c, number)))
    bodies = [msgspec.json.decode(record.body) for record in records]
    return [body["id"] for body in bodies if "id" in body]


def pythons() -> list[Path]:
    """Those of the person's pyenv that we support, and the one that runs the tests."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [path for path in sorted(root.glob("3.*/bin/python")) if _minor(path) >= 7]
    return [*found, Path(sys.executable)]


def _minor(path: Path) -> int:
    part = path.parts[-3].split(".")[1]
    return int(part) if part.isdigit() else 0


@pytest.mark.parametrize("python", pythons(), ids=lambda path: path.parts[-3])
def test_every_python_reports(model: Model, tmp_path: Path, python: Path) -> None:
    variables = environment(model.service.address, model.headers, tmp_path / "state")
    ended = subprocess.run(
        # Forking beside threads is what newer Pythons warn of, and what is tried here.
        [str(python), "-W", "error", "-W", "ignore::DeprecationWarning", str(PUSHER), "try"],
        env=variables,
        capture_output=True,
        text=True,
        timeout=A_PROGRAM,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr
    assert ended.stdout == "printed\n"
    lines = [body["line"] for body in model.bodies() if "line" in body]
    parents = [line for line in lines if line != "from a child"]
    assert parents == ["logged 1", "printed", "from a thread", "last"]
    assert len(lines) == 5
    events = {one["type"]: one for one in model.items("/events")}
    assert events["number"]["args"] == {"decimal": 0.5, "nan": None}
    assert events["sum"]["args"] == {"a": 2, "b": 3}
    assert events["sum"]["response"] == {"value": 5}
    assert events["use_async"]["response"] == {"value": None}
    orders = {one["id"]: one for one in model.items("/orders")}
    assert orders["1"]["price"] == 3
    assert (orders["2"]["type"], orders["2"]["status"]) == ("spot-market", "filled")
