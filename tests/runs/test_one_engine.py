"""Servers of one database have the same engine, and one that changes it leaves no model behind."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tapeline import compose
from tapeline.errors import CannotStart
from tapeline.runs import described_hosts, heartbeat
from tapeline.runs.cluster import meeting_point, one_engine
from tapeline.runs.described_hosts import Description
from tapeline.runs.holding import holds
from tapeline.runs.node.frames import Server
from tests.conftest import Cast, Service
from tests.pushing import pushing
from tests.runs.engines.contract import FOREVER, Bench, Local
from tests.runs.supervision.leased import Rows

pytestmark = pytest.mark.databases("postgresql")


@pytest.fixture
def rows(service: Service, cast: Cast) -> Iterator[Rows]:
    with pushing(service, cast.owner) as model:
        yield Rows(service, cast, model.id)


def test_a_server_of_another_engine_does_not_start_beside_one_that_runs(service: Service) -> None:
    store = service.store
    assert store.database.claim("first")
    one_engine.require(store, "first", "ray", is_named=True)
    one_engine.require(store, "second", "ray", is_named=False)
    for is_named in (False, True):
        with pytest.raises(CannotStart, match=r"host first.*the engine ray, and this one has"):
            one_engine.require(store, "second", "local", is_named=is_named)
    one_engine.require(store, "first", "local", is_named=False)
    store.database.give_back("first")
    one_engine.require(store, "second", "local", is_named=True)


def test_a_server_that_has_not_said_so_is_known_by_where_nodes_meet_it(service: Service) -> None:
    store = service.store
    assert store.database.claim("first")
    store.write_now(described_hosts.describe, Description("first", "machine", "1.2.3"))
    store.write_now(heartbeat.beat, "first")
    with pytest.raises(CannotStart, match=r"machine .host first.*the engine local"):
        one_engine.require(store, "second", "ray", is_named=False)
    store.write_now(meeting_point.publish, "first", Server("10.0.0.1", 1, ""))
    one_engine.require(store, "second", "ray", is_named=False)
    store.database.give_back("first")


def test_a_server_that_is_refused_ends_without_another_error(
    service: Service, tmp_path: Path
) -> None:
    ours, store = service.services.settings, service.store
    assert store.database.claim("first")
    one_engine.require(store, "first", "local", is_named=True)
    data = tmp_path / "joining"
    data.mkdir(mode=0o700)
    shutil.copytree(ours.data / "keys", data / "keys")
    joining = replace(ours, data=data, engine="ray", ray_address="127.0.0.1:1")
    with pytest.raises(CannotStart, match="engine local"), compose.open_services(joining) as made:
        made.runner.open(0)
    assert not holds.are_elsewhere(data)
    store.database.give_back("first")


@pytest.mark.heavy
def test_a_server_does_not_join_a_cluster_while_a_model_runs_on_its_machine(
    service: Service, tmp_path: Path
) -> None:
    folder = tmp_path / "machine"
    folder.mkdir(mode=0o755)
    place = Local(folder)
    bench = Bench(place, folder)
    run = bench.started(FOREVER)
    with pytest.raises(CannotStart, match=f"not ended.*{run.model_id}"):
        one_engine.leave_machine(service.store, place.data, "host")
    bench.close()
    one_engine.leave_machine(service.store, place.data, "host")


def test_a_server_that_joins_a_cluster_leaves_its_runs_to_nodes_when_all_have_ended(
    rows: Rows, tmp_path: Path
) -> None:
    run = rows.add("one", None, kind="live")
    with pytest.raises(CannotStart, match=f"recorded yet: {rows.model}.*--engine local"):
        one_engine.leave_machine(rows.store, tmp_path, "n1")
    assert rows.get(run) == run

    rows.change(run, fence=None, state="pending")  # ended with Ctrl-C
    one_engine.leave_machine(rows.store, tmp_path, "n1")
    given = rows.get(run)
    assert (given.host, given.desired, given.state) == (None, "running", "pending")
