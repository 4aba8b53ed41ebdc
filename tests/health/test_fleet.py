"""All models in numbers: their states, when each was last heard of, and a bound on the series."""

import time

import pytest
from sqlalchemy import Connection, insert

from tapeline.health import fleet
from tapeline.store.tables.runs import samples
from tapeline.store.tables.tape import tapes
from tests.conftest import Service, on_both
from tests.health.test_checks import add_run


def heard(connection: Connection, name: str, at: float) -> None:
    row = {"model_id": f"m-{name}", "seq": 1, "link": b"", "counts": b"{}", "signed_at": at}
    connection.execute(insert(tapes).values(**row))


def seen(connection: Connection, name: str, at: float) -> None:
    connection.execute(insert(samples).values(run_id=f"r-{name}", at=at, memory=1, cpu=0.0))


@on_both
def test_each_model_counts_by_its_newest_run(own_service: Service) -> None:
    now, write = time.time(), own_service.store.write_now
    write(add_run, "well", started_at=now - 600, restarts=2)
    write(heard, "well", now - 30)
    for at in (now - 50, now - 20):
        write(seen, "well", at)
    write(add_run, "new", started_at=now - 5)
    write(add_run, "gone", state="crashed", ended_at=now - 100_000)
    write(heard, "gone", now - 100_000)
    found = own_service.store.read_now(fleet.look)
    assert found.states == {"running": 2, "crashed": 1}
    assert found.open_runs == {("live", "running"): 2}
    by_id = {one.id: one for one in found.models}
    assert set(by_id) == {"m-well", "m-new"}, "the third has been silent for more than a day"
    well = by_id["m-well"]
    assert (well.running, well.restarts) == (True, 2)
    assert well.event_age == pytest.approx(30, abs=20)
    assert well.heartbeat_age == pytest.approx(20, abs=20)
    assert by_id["m-new"].event_age is None


def test_of_many_models_those_that_run_have_series(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "MOST", 1)
    write = own_service.store.write_now
    write(add_run, "ended", state="stopped", ended_at=time.time())
    write(heard, "ended", time.time())
    write(add_run, "runs")
    found = own_service.store.read_now(fleet.look)
    assert [one.id for one in found.models] == ["m-runs"]
    assert found.states == {"running": 1, "stopped": 1}
