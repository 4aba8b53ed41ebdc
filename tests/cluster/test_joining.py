"""What the engine `ray` needs, and when a server starts a Ray of its own."""

import os
import pwd
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tapeline.errors import InvalidSetting
from tapeline.runs.cluster import agent, joining, membership
from tapeline.runs.cluster.agent import Agent, NotThere
from tapeline.runs.cluster.joining import Membership
from tapeline.runs.node.files import LOG
from tapeline.settings import Settings
from tests.waiting import wait_for

CLUSTER = Settings(
    engine="ray",
    ray_address="10.0.0.1:6379",
    database="postgresql://db/tapeline",
    blobs="s3://archives",
)


def test_a_cluster_can_be_chosen() -> None:
    joining.check(CLUSTER)
    joining.check(Settings())


@pytest.mark.parametrize(
    ("chosen", "field", "sentence"),
    [
        (
            replace(CLUSTER, ray_address=""),
            "ray_address",
            "The engine ray needs the address of Ray's head: --ray-address HOST:6379.",
        ),
        (
            replace(CLUSTER, database=""),
            "database",
            "The engine ray needs PostgreSQL, which all servers share: --database postgresql://….",
        ),
        (
            replace(CLUSTER, blobs=""),
            "blobs",
            "The engine ray needs object storage, which all servers share: --blobs s3://….",
        ),
    ],
)
def test_a_cluster_needs_what_its_servers_share(
    chosen: Settings, field: str, sentence: str
) -> None:
    with pytest.raises(InvalidSetting) as refused:
        joining.check(chosen)
    assert refused.value.message == sentence
    assert refused.value.field == field


def test_a_cluster_needs_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(
        InvalidSetting, match=r"^Ray is not installed: pip install 'tapeline\[clust"
    ):
        joining.check(CLUSTER)


@pytest.fixture
def processes(tmp_path: Path) -> Callable[..., Path]:
    def make(*words: str) -> Path:
        folder = tmp_path / "proc" / str(len(list(tmp_path.glob("proc/*"))) + 1)
        folder.mkdir(parents=True)
        (folder / "cmdline").write_text("\0".join(words))
        return folder.parent

    return make


def test_a_node_of_the_same_ray_is_recognised(processes: Callable[..., Path]) -> None:
    raylet, own = "/lib/ray/raylet/raylet", "--node_ip_address=127.0.0.1"
    there = processes("/usr/bin/python3", own, "--gcs-address=127.0.0.1:6379")
    processes(raylet, own, "--gcs-address=127.0.0.1:6380")
    processes(raylet, "--node_ip_address=10.0.0.2", "--gcs-address=127.0.0.1:6379")
    assert not membership.is_node("localhost:6379", there)
    processes(raylet, "--x", own, "--gcs-address=127.0.0.1:6379")
    assert membership.is_node("127.0.0.1:6379", there)
    assert membership.owner_of_node("127.0.0.1:6379", there) == os.geteuid()


def test_a_ray_of_another_user_cannot_be_used_except_by_root() -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    assert membership.why_not_usable(0, nobody) == (
        "Ray on this machine runs as root and this server as nobody: run both as the same user."
    )
    assert "runs as 54321 and" in (membership.why_not_usable(54321, nobody) or "")
    assert membership.why_not_usable(nobody, nobody) is None
    assert membership.why_not_usable(nobody, 0) is None


def test_an_address_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    member = Membership("no-such-host.invalid:6379", tmp_path)
    member.look()
    assert (member.trouble() or "").startswith(
        "The address of Ray, no-such-host.invalid:6379, leads nowhere: "
    )


def test_a_node_where_ray_ends_what_is_left_takes_no_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAPELINE_DATA", str(tmp_path))
    monkeypatch.setenv(agent.REAPS, "true")
    with pytest.raises(NotThere, match="models would end with Ray"):
        Agent().call(b"there", 1)
    assert not list(tmp_path.iterdir())


def test_a_node_process_that_does_not_start_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAPELINE_DATA", str(tmp_path / ("long" * 30)))
    made = Agent("tapeline.nothing")
    with pytest.raises(NotThere, match="does not start"):
        made.call(b"there", 0.1)
    wait_for(lambda: "No module named" in (made._folder / LOG).read_text())
    with pytest.raises(NotThere, match=r"does not start\. .*No module named tapeline\.nothing"):
        made.call(b"there", 0.1)
