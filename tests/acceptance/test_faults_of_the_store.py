"""The disk or the database fails under a real server: all work sees it, and goes on after."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.acceptance.conftest import Home, Server
from tests.acceptance.test_faults import SETTINGS, counting, failures, works
from tests.acceptance.test_health import sample
from tests.acceptance.test_survival import assert_counted, numbers
from tests.acceptance.traders import Trader
from tests.store.conftest import OwnServer
from tests.store.disk import hanging_disk, small_disk
from tests.waiting import wait_for

pytestmark = pytest.mark.heavy

IMPATIENT = SETTINGS | {"TAPELINE_BUSY_SECONDS": "1"}
NEEDS_THE_STORE = ("supervisor", "bookkeeper", "clearing", "reports", "sampling", "listener")


@pytest.fixture
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnServer]:
    server = OwnServer(tmp_path_factory.mktemp("own"))
    yield server
    server.close()


def status(trader: Trader) -> int:
    return trader.client.get("/readyz").status_code


def turns(trader: Trader, work: str) -> float:
    return sample(trader.client, "tapeline_work_turns_total", work=work)


@contextmanager
def outage(trader: Trader) -> Iterator[None]:
    """Around what is done to the store: it is noticed, and over when it is over."""
    wait_for(lambda: status(trader) == 200)
    yield
    wait_for(lambda: status(trader) == 200)


def take_turns(trader: Trader, *names: str) -> None:
    """Each of these finishes another turn."""
    before = {name: turns(trader, name) for name in names}
    for name in names:
        wait_for(lambda name=name: turns(trader, name) > before[name])


def test_another_process_holds_the_database(home: Home) -> None:
    trader = Trader(home.up(**IMPATIENT))
    deployed = counting(trader)
    with outage(trader), closing(sqlite3.connect(home.data / "tapeline.db")) as other:
        other.execute("begin exclusive")
        wait_for(lambda: status(trader) == 503)
        wait_for(lambda: failures(trader, "journal"))
    works(trader, deployed)
    assert_counted(numbers(trader, deployed["modelId"]))
    trader.client.close()


def test_postgresql_is_stopped_for_a_while(home: Home, own_server: OwnServer) -> None:
    trader = Trader(home.up("--database", own_server.url, **IMPATIENT))
    deployed = counting(trader)
    with outage(trader):
        own_server.stop()
        wait_for(lambda: status(trader) == 503)
        for name in NEEDS_THE_STORE:
            wait_for(lambda name=name: failures(trader, name))
        own_server.start()
    take_turns(trader, *(name for name in NEEDS_THE_STORE if name != "listener"))
    wait_for(lambda: {one["state"] for one in trader.get("/api/health")["work"]} == {"green"})
    works(trader, deployed)
    assert_counted(numbers(trader, deployed["modelId"]))
    trader.client.close()


def test_the_disk_is_full_for_a_while(home: Home) -> None:
    with small_disk(home.data, 8_000) as disk:
        home.data.chmod(0o700)
        trader = Trader(home.up(**IMPATIENT))
        deployed = counting(trader)
        with outage(trader), disk.no_larger():
            wait_for(lambda: status(trader) == 503)
            # The journal is on this disk too: perhaps nothing is left in it to be stored.
            wait_for(lambda: any(failures(trader, one) for one in ("journal", "log copying")))
            said = trader.client.get("/readyz").json()["error"]
            assert said == "Not ready: The disk of the database is full.", "until it is over"
        works(trader, deployed)
        trader.client.close()
        _end(trader.server)


def test_a_server_that_started_on_a_full_disk_runs_models_once_there_is_room(home: Home) -> None:
    home.data.mkdir(mode=0o700)
    with small_disk(home.data / "runs", 500) as disk:
        disk.path.chmod(0o700)
        disk.fill()
        trader = Trader(home.up(**IMPATIENT))
        assert "the sandbox is not available" in trader.server.said
        assert "Free some space" in trader.server.said
        disk.free()
        wait_for(lambda: " sandbox_available " in trader.server.log)
        works(trader, counting(trader))
        trader.client.close()
        _end(trader.server)


def test_the_disk_hangs_for_a_while(home: Home, tmp_path: Path) -> None:
    with hanging_disk(tmp_path / "image", home.data) as disk:
        trader = Trader(home.up(**IMPATIENT))
        deployed = counting(trader)
        with outage(trader), disk.hanging():
            wait_for(lambda: status(trader) == 503)
        works(trader, deployed)
        assert_counted(numbers(trader, deployed["modelId"]))
        trader.client.close()
        _end(trader.server)


FORBIDDEN = """
import asyncio, sys
from pathlib import Path
from tapeline import background, compose
from tapeline.models import cleanup
from tapeline.runs.engines import model_files
from tapeline.settings import Settings
from tapeline.store.blobs import Blobs

data, work = Path(sys.argv[1]), background.Background()
model_files.EVERY = cleanup.EVERY = background.SHORTEST_LAST_PAUSE = 0.05
cleanup.FIRST_AFTER = 0.0

def count(what):
    return {one.name: getattr(one, what) for one in work.states()}

async def each(what):
    before = count(what)
    async with asyncio.timeout(60):
        while not all(now > before[name] for name, now in count(what).items()):
            await asyncio.sleep(0.01)

async def live(folders):
    async with work.running():
        await each("turns")
        for one in folders:
            one.chmod(0)
        await each("failures")
        for one in folders:
            one.chmod(0o700)
        await each("turns")
    print({one.name: one.last_error for one in work.states()}["remains"])

with compose.open_store(Settings(data=data)) as store:
    folders = [data / "runs", data / "blobs"]
    for one in folders:
        one.mkdir(exist_ok=True)
    model_files.keep_removing(work, store, data)
    cleanup.start(work, store, Blobs(data / "blobs"), shared=False)
    asyncio.run(live(folders))
"""


def test_a_folder_may_not_be_entered_for_a_while(tmp_path: Path) -> None:
    # Root may enter every folder, unless it has given that up.
    done = subprocess.run(
        [
            *("setpriv", "--bounding-set", "-dac_override,-dac_read_search"),
            *(sys.executable, "-c", FORBIDDEN, str(tmp_path / "data")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "Permission denied\n", done.stderr


def _end(server: Server) -> None:
    """Before its disk goes."""
    server.process.kill()
    server.process.wait()
