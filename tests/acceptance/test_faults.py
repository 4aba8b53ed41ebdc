"""A host that fails for a while, under a real server: it is seen, and everything goes on after."""

import json
import os
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.conftest import Home, Server
from tests.acceptance.test_health import SCRAPE, TOKEN, sample
from tests.acceptance.traders import Trader, pythons
from tests.waiting import wait_for

pytestmark = pytest.mark.heavy

SETTINGS = {
    "TAPELINE_PYTHONS": pythons()[0].path,
    "TAPELINE_STOP_SECONDS": "2",
    "TAPELINE_SIGNUP": "open",
    "TAPELINE_METRICS_TOKEN": TOKEN,
}
COUNTING = """
import itertools, time
for number in itertools.count():
    print("number", number, flush=True)
    time.sleep(0.05)
"""


@pytest.fixture
def home(used_home: Home) -> Home:
    return used_home


@pytest.fixture(scope="module")
def up(shared_home: Home) -> Server:
    return shared_home.up(**SETTINGS)


@pytest.fixture(scope="module")
def trader(up: Server) -> Iterator[Trader]:
    made = Trader(up)
    yield made
    made.client.close()


@pytest.fixture(scope="module")
def other(up: Server) -> Iterator[Trader]:
    """Another tenant, whom none of it concerns."""
    made = Trader(up, "bob@example.com")
    yield made
    made.client.close()


@contextmanager
def replaced(path: Path, make: Callable[[Path], None] = Path.touch) -> Iterator[None]:
    """Something else stands where a folder was."""
    aside = path.with_name(f"{path.name}.aside")
    path.rename(aside)
    try:
        make(path)
        yield
    finally:
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        aside.rename(path)


def failures(trader: Trader, work: str) -> float:
    return sample(trader.client, "tapeline_work_failures_total", work=work)


def counting(trader: Trader) -> dict[str, Any]:
    """A model that counts, and is heard."""
    deployed = trader.deploy(COUNTING)
    trader.wait_for_line(deployed["modelId"], "number 1")
    wait_for(lambda: f"model_started model={deployed['modelId']}" in trader.server.log)
    return deployed


def says_more(trader: Trader, deployed: dict[str, Any]) -> None:
    """What the model says from now on is on its tape."""
    model = deployed["modelId"]
    before = set(trader.lines(model, "stdout"))
    wait_for(lambda: set(trader.lines(model, "stdout")) - before)


def stop(trader: Trader, deployed: dict[str, Any]) -> None:
    trader.kill(deployed["modelId"])
    ended = trader.wait_for_end(deployed)
    wait_for(lambda: f"model_stopped model={deployed['modelId']}" in trader.server.log)
    assert ended["state"] == "stopped", (ended, trader.lines(deployed["modelId"], "system"))


def works(trader: Trader, deployed: dict[str, Any]) -> None:
    """The old model is heard, was never restarted and can be stopped, and a new one starts."""
    says_more(trader, deployed)
    assert trader.run(deployed["modelId"], deployed["runId"])["restarts"] == 0
    stop(trader, counting(trader))
    stop(trader, deployed)


def _nothing(_path: Path) -> None:
    """Leave the place empty."""


@pytest.mark.parametrize("make", [os.mkfifo, _nothing], ids=["pipe", "gone"])
def test_the_folder_of_runs_is_away_for_a_moment(
    trader: Trader, make: Callable[[Path], None]
) -> None:
    deployed = counting(trader)
    before = failures(trader, "supervisor")
    with replaced(trader.server.home.data / "runs", make):
        wait_for(lambda: failures(trader, "supervisor") > before)
    works(trader, deployed)
    assert "Traceback" in trader.server.log


def test_a_supervisor_that_does_not_get_on_is_told_everywhere(
    trader: Trader, other: Trader
) -> None:
    server, client = trader.server, trader.client
    deployed = counting(trader)
    with replaced(server.home.data / "runs"):
        said = {"projectId": trader.user_id, "modelId": deployed["modelId"]}
        # At the first request: nobody waits until the supervisor is overdue.
        refused = trader.post("/model/kill", 503, json=said)
        assert refused["code"] == "not_supervised"
        assert "The stop is recorded but not carried out" in refused["error"]
        again = trader.post("/model/run", 503, json=said)
        assert (again["code"], "Nothing was stored" in again["error"]) == ("not_supervised", True)
        assert client.get("/readyz").json() == {
            "code": "not_ready",
            "error": "Not ready: The folder runs of the data directory cannot be used"
            " (Not a directory).",
        }
        wait_for(lambda: "work_overdue work=supervisor" in server.log)
        assert sample(client, "tapeline_work_overdue", work="supervisor") == 1
        assert sample(client, "tapeline_work_failures_total", work="supervisor") > 1
        assert sample(client, "tapeline_work_silent_seconds", work="supervisor") > 10
        assert sample(client, "tapeline_work_overdue", work="bookkeeper") == 0
        assert "he folder runs" in trader.get("/api/me")["trouble"]
        assert other.get("/api/me")["trouble"] is None
        examined = server.home.run("doctor", "--json", **SETTINGS)
        (found,) = [one for one in json.loads(examined.stdout) if one["topic"] == "server"]
        assert (found["state"], "he folder runs" in found["says"]) == ("bad", True)
    # The stop was recorded: it is carried out without being asked for again.
    assert trader.wait_for_end(deployed)["state"] == "stopped"
    wait_for(lambda: client.get("/readyz").status_code == 200)
    assert trader.get("/api/me")["trouble"] is None
    stop(trader, counting(trader))


@pytest.mark.parametrize("folder", ["versions", "environments", "state"])
def test_a_model_that_the_host_cannot_start_now_starts_when_it_can(
    trader: Trader, folder: str
) -> None:
    with replaced(trader.server.home.data / folder):
        deployed = trader.deploy(COUNTING)
        trader.wait_for_line(deployed["modelId"], "The server cannot start it now")
    trader.wait_for_line(deployed["modelId"], "number 1")
    stop(trader, deployed)


DAMAGE = {
    "zeros": b"\0" * 512,
    "state": b's 1700000000.1 {"event":"finished"}\n',
    "endless": b"x" * 1_500_000,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_in_one_journal_stays_there(trader: Trader, other: Trader, damage: str) -> None:
    deployed, foreign = counting(trader), counting(other)
    journal = trader.server.home.data / "runs" / deployed["runId"] / "journal"
    with max(journal.iterdir()).open("ab") as file:
        file.write(DAMAGE[damage])
    trader.wait_for_line(deployed["modelId"], "could not be read and were skipped")
    says_more(other, foreign)
    for who, one in ((trader, deployed), (other, foreign)):
        says_more(who, one)
        assert who.run(one["modelId"], one["runId"])["restarts"] == 0
        stop(who, one)


@pytest.mark.parametrize(
    ("what", "make"),
    [
        ("journal", lambda one: one.symlink_to("/etc")),
        ("segment", os.mkfifo),
        ("segment", Path.mkdir),
    ],
    ids=["link", "pipe", "folder"],
)
def test_a_journal_that_is_something_else_stays_there(
    trader: Trader, other: Trader, what: str, make: Callable[[Path], None]
) -> None:
    deployed, foreign = counting(trader), counting(other)
    journal = trader.server.home.data / "runs" / deployed["runId"] / "journal"
    target = journal if what == "journal" else max(journal.iterdir())
    target.rename(journal.parent / "aside")
    make(target)
    trader.wait_for_line(deployed["modelId"], "journal")
    says_more(other, foreign)
    stop(other, foreign)
    stop(trader, deployed)


def test_damage_in_a_journal_does_not_outlive_a_restart(home: Home) -> None:
    server = home.up(**SETTINGS)
    trader = Trader(server)
    deployed = counting(trader)
    server.end()
    journal = home.data / "runs" / deployed["runId"] / "journal"
    with max(journal.iterdir()).open("ab") as file:
        file.write(b"\0" * 512)
    trader.meet(home.up(**SETTINGS))
    trader.wait_for_line(deployed["modelId"], "[512 bytes of this run's journal could not be read")
    works(trader, deployed)
    trader.client.close()


def test_connections_take_every_descriptor(home: Home) -> None:
    server = home.up_in("sh", "-c", 'ulimit -n 1024; exec "$@"', "sh", **SETTINGS)
    trader = Trader(server)
    deployed = counting(trader)
    with _many_descriptors(), ExitStack() as held:
        for _ in range(1_050):
            one = held.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            with suppress(OSError):  # it may be refused, which is as good
                one.sendall(b"POST /v1/live/log HTTP/1.1\r\nHost: x\r\n")
        # It fails, or keeps enough back and does not; either way it takes its turns again below.
        # Our own connection may be among those that are turned away until the others time out.
        seen: list[float] = []
        wait_for(lambda: note_turns(trader, seen) and seen[-1] >= seen[0] + 3)
    works(trader, deployed)
    trader.client.close()


@contextmanager
def _many_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def note_turns(trader: Trader, seen: list[float]) -> bool:
    """Whether we were let in to see how many there are."""
    try:
        if trader.client.get("/metrics", headers=SCRAPE).status_code == 200:
            seen.append(tried(trader))
    except (AssertionError, httpx.TransportError):
        pass
    return bool(seen)


def tried(trader: Trader) -> float:
    """How many turns the supervisor has begun and ended, one way or the other."""
    names = ("tapeline_work_turns_total", "tapeline_work_failures_total")
    return sum(sample(trader.client, one, work="supervisor") for one in names)


def test_one_run_that_cannot_be_looked_at_holds_up_no_other(trader: Trader, other: Trader) -> None:
    deployed, foreign = counting(trader), counting(other)
    runs = trader.server.home.data / "runs"
    for path, make in (
        (runs / "locks" / deployed["modelId"], Path.mkdir),
        (runs / deployed["runId"] / "shim.log", os.mkfifo),
        (runs / deployed["runId"] / "lock", os.mkfifo),
    ):
        path.rename(path.with_name(f"{path.name}-aside"))
        make(path)
    stop(other, foreign)
    stop(other, counting(other))
    assert trader.client.get("/readyz").status_code == 200
    stop(trader, deployed)
