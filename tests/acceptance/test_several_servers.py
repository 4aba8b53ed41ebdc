"""Several servers on one PostgreSQL, as one installation."""

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tapeline.ids import new_id
from tests.acceptance.conftest import Home, Server, kill_shim
from tests.acceptance.traders import Trader, pythons
from tests.conftest import database_url, run_sql
from tests.waiting import wait_for

TOKEN = "m" * 32
RUNNING = "import time\nprint('up', flush=True)\nwhile True: time.sleep(0.1)\n"


@dataclass
class Member:
    """One of the servers, with a person who is signed in to it."""

    server: Server
    trader: Trader
    database: str

    @property
    def name(self) -> str:
        return (self.server.home.data / "host").read_text().split()[0]

    def command(self, *words: str) -> Any:
        done = self.server.home.run(*words, "--json", "--database", self.database)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def hosts(self) -> dict[str, dict[str, Any]]:
        return {one["host"]: one for one in self.command("hosts")}

    def newest(self, model: str) -> dict[str, Any]:
        found: dict[str, Any] = self.trader.get(f"/api/models/{model}/runs")["items"][0]
        return found

    def leads(self) -> bool:
        headers = {"authorization": f"Bearer {TOKEN}"}
        page = self.trader.client.get("/metrics", headers=headers)
        return "tapeline_leads 1.0" in page.text


@pytest.fixture
def pair(tmp_path: Path, postgres_server: str) -> Iterator[list[Member]]:
    """Two servers with the same keys and blobs, each with a data directory of its own."""
    name = f"t_{new_id()}"
    run_sql(postgres_server, f"create database {name}")
    database = database_url(postgres_server, name)
    shared = {
        "TAPELINE_DATABASE": database,
        "TAPELINE_BLOBS": f"file://{tmp_path}/blobs",
        "TAPELINE_METRICS_TOKEN": TOKEN,
        "TAPELINE_PYTHONS": pythons()[0].path,
        "TAPELINE_STOP_SECONDS": "2",
    }
    (tmp_path / "blobs").mkdir()
    homes = [Home(tmp_path / one) for one in ("first", "second")]
    members = list[Member]()
    try:
        for home in homes:
            home.path.mkdir()
            home.data.mkdir(mode=0o700)
            if members:
                (home.data / "keys").symlink_to(members[0].server.home.data / "keys")
            server = home.up(**shared)
            members.append(Member(server, Trader(server), database))
        yield members
    finally:
        for member in members:
            member.trader.client.close()
        for home in homes:
            home.close()


def holder_and_other(pair: list[Member], model: str) -> tuple[Member, Member]:
    """The one whose host has the run, and the other."""
    wait_for(lambda: pair[0].newest(model)["state"] == "running")
    where = pair[0].newest(model)["host"]
    first, second = sorted(pair, key=lambda one: one.name != where)
    assert first.name == where
    return first, second


def test_another_server_leads_when_the_leader_is_frozen_and_goes_on_when_it_wakes(
    pair: list[Member],
) -> None:
    wait_for(lambda: any(one.leads() for one in pair))
    leader, other = sorted(pair, key=Member.leads, reverse=True)
    assert not other.leads()
    os.kill(leader.server.process.pid, signal.SIGSTOP)
    try:
        wait_for(other.leads)
    finally:
        os.kill(leader.server.process.pid, signal.SIGCONT)
    assert not leader.leads(), "its lease ended while it was frozen"
    assert other.leads()
    other.server.end(signal.SIGTERM)
    wait_for(leader.leads)


def test_models_of_a_machine_that_is_gone_go_on_elsewhere_when_an_operator_says_so(
    pair: list[Member],
) -> None:
    model = pair[0].trader.deploy(RUNNING)["modelId"]
    gone, other = holder_and_other(pair, model)
    before = gone.newest(model)
    refused = other.server.home.run(
        "hosts", "forget", gone.name, "--yes", "--database", gone.database
    )
    assert "is not gone: its server runs" in refused.stderr

    gone.server.end(signal.SIGKILL)
    for note in gone.server.home.data.glob("runs/*/shim.json"):
        kill_shim(note)
    wait_for(lambda: other.hosts()[gone.name]["state"] == "unreachable")
    assert other.newest(model)["silent_host"] == gone.name
    unsure = other.server.home.run("hosts", "forget", gone.name, "--database", gone.database)
    assert unsure.returncode != 0
    assert "they trade twice" in unsure.stderr
    done = other.command("hosts", "forget", gone.name, "--yes")
    assert (done["runs"], done["done"]) == ([before["run_id"]], True)

    wait_for(lambda: other.newest(model)["state"] == "running")
    now = other.newest(model)
    assert (now["host"], now["silent_host"]) == (other.name, None)
    assert now["fence"] > before["fence"]
    ended = other.trader.run(model, before["run_id"])
    assert ended["state"] == "crashed"
    assert ended["reason"].startswith(f"Its host {gone.name} was declared gone by the operator")
    assert other.hosts()[gone.name]["state"] == "forgotten"


def test_a_forgotten_machine_that_comes_back_ends_what_it_still_runs(pair: list[Member]) -> None:
    model = pair[0].trader.deploy(RUNNING)["modelId"]
    gone, other = holder_and_other(pair, model)
    gone.server.end(signal.SIGKILL)  # its model lives on, unseen
    wait_for(lambda: other.hosts()[gone.name]["state"] == "unreachable")
    other.command("hosts", "forget", gone.name, "--yes")
    wait_for(lambda: other.newest(model)["state"] == "running")

    back = gone.server.home.up(**gone.server.variables)
    wait_for(lambda: other.hosts()[gone.name]["state"] == "well")
    wait_for(lambda: not list(back.home.data.glob("runs/*/shim.json")))
    now = other.newest(model)
    assert (now["state"], now["host"]) == ("running", other.name)


def test_a_host_is_drained_model_by_model_and_takes_runs_again_afterwards(
    pair: list[Member],
) -> None:
    models = [pair[0].trader.deploy(RUNNING)["modelId"] for _ in range(2)]
    first, other = holder_and_other(pair, models[0])
    wait_for(lambda: first.newest(models[1])["state"] == "running")
    first.command("hosts", "drain", first.name)
    for model in models:
        wait_for(lambda model=model: first.newest(model)["host"] == other.name)
        wait_for(lambda model=model: first.newest(model)["state"] == "running")
    assert first.hosts()[first.name]["running"] == 0
    third = first.trader.deploy(RUNNING)
    first.trader.wait_for_state(third, "running")
    assert first.newest(third["modelId"])["host"] == other.name
    first.command("hosts", "undrain", first.name)
    assert first.hosts()[first.name]["drained_at"] is None


def test_a_server_with_other_keys_or_without_the_archives_does_not_start_beside_another(
    pair: list[Member], tmp_path: Path
) -> None:
    pair[0].trader.deploy(RUNNING)
    shared = pair[0].server.variables
    stranger = Home(tmp_path / "third")
    stranger.path.mkdir()
    try:
        refused = stranger.run("up", "--port", "0", **shared)
        assert refused.returncode != 0
        said = " ".join(refused.stderr.split())
        assert "This server has other keys than the one on" in said
        assert "tape-signing.key (signs tapes), store.key (encrypts secrets)" in said
        assert f"to {stranger.data}/keys, and start again." in said
        assert not (stranger.data / "keys").exists(), "none of its own was made"
        (stranger.data / "keys").symlink_to(pair[0].server.home.data / "keys")
        refused = stranger.run("up", "--port", "0", **shared | {"TAPELINE_BLOBS": ""})
        assert refused.returncode != 0
        assert "does not see the archives" in " ".join(refused.stderr.split())
        stranger.up(**shared)
    finally:
        stranger.close()


def test_servers_start_again_after_their_common_keys_were_rotated(pair: list[Member]) -> None:
    rotated = pair[0].server.home.run("keys", "rotate")
    assert rotated.returncode == 0, rotated.stderr
    pair[1].server.end(signal.SIGTERM)
    pair[1].server.home.up(**pair[1].server.variables)
