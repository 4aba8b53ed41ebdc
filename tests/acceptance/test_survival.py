"""Models outlive the server, nothing they say is lost or doubled, and no model ever runs twice."""

import json
import os
import random
import re
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tapeline.ids import new_id
from tests.acceptance.conftest import Home, kill_shim
from tests.acceptance.traders import Trader, pythons
from tests.archives import zipped
from tests.conftest import database_url, run_sql
from tests.examples import rounds
from tests.waiting import wait_for

pytestmark = pytest.mark.heavy

COUNTING = """
import itertools, time
for number in itertools.count():
    print("number", number, flush=True)
    time.sleep(0.005)
"""
SETTINGS = {"TAPELINE_PYTHONS": pythons()[0].path, "TAPELINE_STOP_SECONDS": "2"}


@pytest.fixture
def home(used_home: Home) -> Home:
    return used_home


@pytest.fixture
def pair(home: Home) -> Iterator[Trader]:
    trader = Trader(home.up(**SETTINGS))
    yield trader
    trader.client.close()


def numbers(trader: Trader, model: str) -> list[int]:
    """All that the model counted, from the tape itself, in the tape's order."""
    answer = trader.client.get(f"/api/models/{model}/tape")
    records = [json.loads(line) for line in answer.text.splitlines()]
    said = [one["body"]["line"] for one in records if one["kind"] == "log"]
    # A model that is interrupted in the middle of a line says half of it.
    return [int(found[1]) for line in said if (found := re.fullmatch(r"number (\d+)", line))]


def assert_counted(found: list[int]) -> None:
    assert found == list(range(len(found))), "a line is missing, doubled or out of order"


@contextmanager
def never_two(marker: str) -> Iterator[list[int]]:
    """Watch the host: how many processes ran this script at once, whenever that was looked at."""
    most, over = [0], threading.Event()
    # What runs already need not be looked at again and again.
    before = frozenset(os.listdir("/proc"))  # noqa: PTH208

    def watch() -> None:
        while not over.is_set():
            most[0] = max(most[0], len(running(marker, before)))
            time.sleep(0.004)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield most
    finally:
        over.set()
        watcher.join()
    assert most[0] <= 1, f"{most[0]} live instances at once"


def running(marker: str, except_for: frozenset[str] = frozenset()) -> set[int]:
    """The processes that run a script of this name; not the sandbox around them."""
    found = set()
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit() and name not in except_for:
            with suppress(OSError):
                parts = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
                if len(parts) > 1 and parts[0].endswith(b"python") and marker.encode() in parts[1]:
                    found.add(int(name))
    return found


def only_one(marker: str) -> bytes:
    script = "import time\nprint('up', flush=True)\nwhile True: time.sleep(0.02)\n"
    return zipped({f"{marker}.py": script}, main_script=f"{marker}.py")


def fence_of(pair: Trader, deployed: dict[str, Any]) -> Any:
    """1, unless a start that nobody answered was made again."""
    return pair.run(deployed["modelId"], deployed["runId"])["fence"]


def test_a_live_model_outlives_the_server_and_is_found_again(home: Home, pair: Trader) -> None:
    deployed = pair.deploy(COUNTING)
    model = deployed["modelId"]
    pair.wait_for_line(model, "number 5")
    fence = fence_of(pair, deployed)
    assert pair.server.end(signal.SIGTERM) == 0
    time.sleep(1)
    pair.meet(home.up(**SETTINGS))
    before = len(numbers(pair, model))
    wait_for(lambda: len(numbers(pair, model)) > before + 100)
    assert_counted(numbers(pair, model))
    run = pair.run(model, deployed["runId"])
    assert (run["state"], run["fence"], run["restarts"]) == ("running", fence, 0)
    pair.kill(model)
    assert pair.wait_for_end(deployed)["state"] == "stopped"
    assert_counted(numbers(pair, model))


@pytest.mark.repeated
def test_no_line_is_lost_or_doubled_when_the_server_is_killed_again_and_again(
    home: Home, pair: Trader
) -> None:
    deployed = pair.deploy(COUNTING)
    model = deployed["modelId"]
    pair.wait_for_line(model, "number 5")
    fence = fence_of(pair, deployed)
    for _ in range(rounds(6)):
        time.sleep(random.uniform(0, 0.5))
        pair.server.end(signal.SIGKILL)
        pair.meet(home.up(**SETTINGS))
    pair.kill(model)
    run = pair.wait_for_end(deployed)
    assert (run["state"], run["fence"]) == ("stopped", fence)
    found = numbers(pair, model)
    assert len(found) > 100
    assert_counted(found)


def test_a_model_that_crashes_while_the_server_is_away_is_restarted(
    home: Home, pair: Trader
) -> None:
    script = """
import os, time
state = os.environ["TAPELINE_STATE_DIR"]
tries = len(os.listdir(state))
open(state + "/%d" % tries, "w").close()
print("try", tries, flush=True)
while tries == 0 and not os.path.exists("/state/die"): time.sleep(0.02)
if tries < 2: raise SystemExit(1)
time.sleep(600)
"""
    deployed = pair.deploy(script)
    model = deployed["modelId"]
    pair.wait_for_line(model, "try 0")
    fence = fence_of(pair, deployed)
    pair.server.end(signal.SIGKILL)
    state = home.data / "state" / model
    (state / "die").touch()
    wait_for(lambda: len(list(state.iterdir())) >= 3)
    pair.meet(home.up(**SETTINGS))
    pair.wait_for_line(model, "try 2")
    run = pair.wait_for_state(deployed, "running")
    assert run["restarts"] == 1
    assert run["fence"] == fence
    pair.kill(model)
    pair.wait_for_end(deployed)


def test_ctrl_c_ends_the_models_and_the_next_start_brings_them_back(
    home: Home, pair: Trader
) -> None:
    marker = f"only_{new_id()}"
    deployed = pair.deploy("", archive=only_one(marker))
    model = deployed["modelId"]
    pair.wait_for_line(model, "up")
    assert len(running(marker)) == 1
    fence = fence_of(pair, deployed)
    assert pair.server.end(signal.SIGINT) == 0
    assert running(marker) == set()
    pair.meet(home.up(**SETTINGS))
    assert pair.messages(model).count("Stopped") == 1
    wait_for(lambda: pair.lines(model).count("up") == 2)
    run = pair.wait_for_state(deployed, "running")
    assert run["fence"] > fence


def test_a_model_whose_shim_is_killed_dies_with_it_and_comes_back_under_a_new_fence(
    home: Home, pair: Trader
) -> None:
    marker = f"only_{new_id()}"
    with never_two(marker):
        deployed = pair.deploy("", archive=only_one(marker))
        model = deployed["modelId"]
        pair.wait_for_line(model, "up")
        for times in (2, 3):
            fence = fence_of(pair, deployed)
            shim = home.data / "runs" / deployed["runId"] / "shim.json"
            kill_shim(shim)
            wait_for(lambda fence=fence: (fence_of(pair, deployed) or 0) > fence)
            wait_for(lambda times=times: pair.lines(model).count("up") == times)
        run = pair.wait_for_state(deployed, "running")
    assert run["restarts"] == 2


def test_many_deploys_at_once_leave_the_newest_and_never_two(pair: Trader) -> None:
    marker = f"only_{new_id()}"
    with never_two(marker) as most:
        model = pair.deploy("", archive=only_one(marker))["modelId"]
        with ThreadPoolExecutor(6) as threads:
            deployed = list(
                threads.map(
                    lambda _: pair.deploy("", archive=only_one(marker), model=model), range(12)
                )
            )
        newest = max(deployed, key=lambda one: one["version"])
        pair.wait_for_state(newest, "running")
        time.sleep(0.5)
        assert most[0] == 1
    others = [pair.run(model, one["runId"])["state"] for one in deployed if one is not newest]
    assert set(others) == {"stopped"}


@pytest.mark.repeated
def test_killing_server_and_shim_at_any_step_of_a_start_never_makes_two(
    home: Home, pair: Trader
) -> None:
    marker = f"only_{new_id()}"
    chance = random.Random(7)
    with never_two(marker):
        model = pair.deploy("", archive=only_one(marker))["modelId"]
        pair.wait_for_line(model, "up")
        for _ in range(rounds(8)):
            pair.deploy("", archive=only_one(marker), model=model)
            time.sleep(chance.uniform(0, 0.4))
            pair.server.end(signal.SIGKILL)
            for file in home.data.glob("runs/*/shim.json"):
                if chance.random() < 0.5:
                    with suppress(OSError, ValueError):
                        kill_shim(file)
            pair.meet(home.up(**SETTINGS))
        wait_for(lambda: len(running(marker)) == 1)
        last = pair.get(f"/api/models/{model}/runs")["items"][0]
        wait_for(lambda: pair.run(model, last["run_id"])["state"] == "running")


@pytest.mark.repeated
def test_two_servers_on_one_database_never_run_a_model_twice(
    tmp_path: Path, postgres_server: str
) -> None:
    name = f"t_{new_id()}"
    run_sql(postgres_server, f"create database {name}")
    database = {"TAPELINE_DATABASE": database_url(postgres_server, name)}
    homes = [Home(tmp_path / one) for one in ("first", "second")]
    for home in homes:
        home.path.mkdir()
    homes[0].data.mkdir(mode=0o700)
    first = homes[0].up(**SETTINGS, **database)
    # Keys are shared, as servers of one installation must; the rest of the folder is not.
    homes[1].data.mkdir(mode=0o700)
    (homes[1].data / "keys").symlink_to(homes[0].data / "keys")
    blobs = {"TAPELINE_BLOBS": f"file://{tmp_path}/blobs"}
    (tmp_path / "blobs").mkdir()
    first.end(signal.SIGKILL)
    traders = [Trader(home.up(**SETTINGS, **database, **blobs)) for home in homes]
    marker = f"only_{new_id()}"
    try:
        with never_two(marker):
            model = traders[0].deploy("", archive=only_one(marker))["modelId"]
            newest = {}
            for turn in range(rounds(6)):
                trader = traders[turn % 2]
                newest = trader.deploy("", archive=only_one(marker), model=model)
                time.sleep(random.uniform(0, 0.6))
            traders[0].wait_for_state(newest, "running")
            wait_for(lambda: len(running(marker)) == 1)
    finally:
        for trader in traders:
            trader.client.close()
        for home in homes:
            home.close()


def test_what_a_superseded_run_still_sends_is_refused_and_recorded(
    home: Home, pair: Trader
) -> None:
    script = """
import json, os, time
names = ("model_id", "api_key", "api_pass")
keys = {name: os.environ["TAPELINE_" + name.upper()] for name in names}
with open("/state/%s" % os.environ["TAPELINE_RUN_ID"], "w") as file: json.dump(keys, file)
print("up", flush=True)
while True: time.sleep(0.05)
"""
    first = pair.deploy(script)
    model = first["modelId"]
    pair.wait_for_line(model, "up")
    headers = json.loads((home.data / "state" / model / first["runId"]).read_text())
    line = {"line": "from the first", "type": "stdout"}

    def push(**more: str) -> httpx.Response:
        return pair.client.post("/v1/live/log", json=line, headers={**headers, **more})

    assert push().status_code == 200
    second = pair.deploy(script, model=model)
    wait_for(lambda: pair.lines(model).count("up") == 2)
    answer = push()
    assert (answer.status_code, answer.json()["code"]) == (409, "superseded")
    answer = push(**{"Idempotency-Key": "again"})
    assert (answer.status_code, answer.json()["code"]) == (409, "superseded")
    assert pair.run(model, first["runId"])["refused"] == 2
    assert pair.lines(model).count("from the first") == 1
    pair.kill(model)
    pair.wait_for_end(second)
    headers = json.loads((home.data / "state" / model / second["runId"]).read_text())
    assert push().status_code == 401, "ended, and nobody took over"
