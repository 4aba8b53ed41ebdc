"""Several servers on one PostgreSQL, as one installation."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import Home, kill_shim
from tests.acceptance.installation import Member, holder_and_other, installation
from tests.acceptance.traders import pythons
from tests.archives import zipped
from tests.waiting import wait_for

ARCHIVE = {"model": ("m.zip", zipped())}
COUNTING = """
import itertools, os, time
for number in itertools.count():
    print(os.environ["TAPELINE_RUN_ID"], number, flush=True)
    time.sleep(0.5)
"""
RUNNING = "import time\nprint('up', flush=True)\nwhile True: time.sleep(0.1)\n"


@pytest.fixture
def pair(tmp_path: Path, postgres_server: str) -> Iterator[list[Member]]:
    with installation(tmp_path, postgres_server) as made:
        yield made


def test_another_server_leads_when_the_leader_is_frozen_and_goes_on_when_it_wakes(
    pair: list[Member],
) -> None:
    wait_for(lambda: sum(one.leads() for one in pair) == 1)
    leader, other = sorted(pair, key=Member.leads, reverse=True)
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
    wait_for(lambda: other.hosts()[gone.name]["state"] == "well")
    refused = other.server.home.run(
        "hosts", "forget", gone.name, "--yes", "--database", gone.database
    )
    assert "is not gone: it was heard a moment ago" in refused.stderr

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
    model = pair[0].trader.deploy(COUNTING)["modelId"]
    gone, other = holder_and_other(pair, model)
    lost = gone.newest(model)["run_id"]
    gone.server.end(signal.SIGKILL)  # its model lives on, unseen
    wait_for(lambda: other.hosts()[gone.name]["state"] == "unreachable")
    other.command("hosts", "forget", gone.name, "--yes")
    wait_for(lambda: other.newest(model)["state"] == "running")

    back = gone.server.home.up(**gone.server.variables)
    wait_for(lambda: other.hosts()[gone.name]["state"] == "well")
    wait_for(lambda: not list(back.home.data.glob("runs/*/shim.json")))
    now = other.newest(model)
    assert (now["state"], now["host"]) == ("running", other.name)

    # What it printed meanwhile is in the log: all of it, once, and marked.
    lines = other.trader.lines(model)
    counted = [int(line.split()[1]) for line in lines if line.startswith(lost)]
    assert counted == list(range(len(counted)))
    opening = next(at for at, line in enumerate(lines) if "they arrived late]" in line)
    closing = next(at for at, line in enumerate(lines) if line.startswith("[End of the lines"))
    assert sum(line.startswith(lost) for line in lines[opening:closing]) > 5


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


def test_a_run_that_no_host_takes_says_what_it_waits_for(
    tmp_path: Path, postgres_server: str
) -> None:
    """Each of the two has a Python of its own."""
    first, second = pythons()[:2]
    own = [{"TAPELINE_PYTHONS": one.path} for one in (first, second)]
    with installation(tmp_path, postgres_server, each=own) as (one, two):
        wait_for(lambda: len(one.hosts()) == 2)
        listed = {found["version"] for found in one.trader.get("/api/pythons")["items"]}
        assert {first.version, second.version} <= listed
        # Taken by the server that does not have it, and run by the other.
        deployed = one.trader.deploy(RUNNING, pythonVersion=second.version)
        model = deployed["modelId"]
        one.trader.wait_for_state(deployed, "running")
        assert one.newest(model)["host"] == two.name
        one.command("hosts", "drain", two.name)
        waits = one.trader.deploy(RUNNING, pythonVersion=second.version)
        said = wait_for_trouble(one, waits)
        assert f"these are drained: {two.name}" in said
        one.command("hosts", "undrain", two.name)
        one.trader.wait_for_state(waits, "running")

        two.server.end(signal.SIGKILL)
        away = one.trader.deploy(RUNNING, pythonVersion=second.version)
        said = wait_for_trouble(one, away)
        assert f"a host with Python {second.version}. Only these have it: {two.name}" in said
        assert "does not answer and has been silent since" in said
        assert one.trader.run(away["modelId"], away["runId"])["state"] == "pending"
        two.server.home.up(**two.server.variables)
        one.trader.wait_for_state(away, "running")


def wait_for_trouble(member: Member, deployed: dict[str, str]) -> str:
    def trouble() -> str:
        found: str = member.trader.run(deployed["modelId"], deployed["runId"])["trouble"]
        return found

    wait_for(lambda: bool(trouble()))
    return trouble()


def test_a_halt_proves_each_end_on_its_own_host_and_says_of_a_dead_one_that_nobody_knows(
    pair: list[Member],
) -> None:
    here, other = pair
    halt = f"/api/projects/{here.trader.user_id}/halt"
    models = [here.trader.deploy(RUNNING)["modelId"] for _ in range(3)]
    for one in models:
        holder_and_other(pair, one)
    other.trader.post(halt, json={"why": "Both"})
    wait_for(lambda: here.trader.get(halt)["halt"]["stopped"] == len(models))
    proven = here.trader.get(halt)["halt"]["models"]
    assert all(one["proof"]["host"] == one["host"] for one in proven)
    here.trader.post(halt.replace("halt", "resume"), json={"start": True})

    gone, left = holder_and_other(pair, models[0])
    gone.server.end(signal.SIGKILL)  # its models go on, and nobody sees them
    wait_for(lambda: left.hosts()[gone.name]["state"] == "unreachable")
    left.trader.post(halt, json={"why": "Again"})
    mine = {one for one in models if left.newest(one)["host"] == left.name}
    wait_for(lambda: left.trader.get(halt)["halt"]["stopped"] == len(mine))
    unknown = [one for one in left.trader.get(halt)["halt"]["models"] if one["state"] != "stopped"]
    assert {one["model_id"] for one in unknown} == set(models) - mine
    assert all(one["state"] == "unknown" and gone.name in one["why"] for one in unknown)


def test_a_server_on_hold_takes_models_for_others_and_a_lost_one_is_told_at_deletion(
    pair: list[Member],
) -> None:
    held, other = pair
    wait_for(lambda: len(held.hosts()) == 2)
    assert held.server.home.run("hold").returncode == 0
    wait_for(lambda: "No model runs: the server is" in str(held.trader.get("/api/health")["rows"]))
    deployed = held.trader.deploy(RUNNING)
    held.trader.wait_for_state(deployed, "running")
    model = deployed["modelId"]
    assert held.newest(model)["host"] == other.name

    other.server.end(signal.SIGKILL)
    wait_for(lambda: held.newest(model)["silent_host"] == other.name)
    refused = held.trader.client.post("/model/deploy", data={"modelId": model}, files=ARCHIVE)
    assert refused.json()["code"] == "on_hold", "nobody is left to run it"
    gone = held.trader.post(
        "/model/delete", json={"projectId": held.trader.user_id, "modelId": model}
    )
    assert f"{model} on host {other.name}, which does not answer" in gone["warning"]
    assert f"tapeline stop --here {model}" in gone["warning"]
    back = other.server.home.up(**other.server.variables)
    wait_for(lambda: not list(back.home.data.glob("runs/*/shim.json")))
