"""The rules of leases, on the real rows."""

from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection, insert, update

from tapeline.models.archives.manifest import Manifest
from tapeline.models.versions import Version
from tapeline.runs import leases
from tapeline.runs import run as run_records
from tapeline.runs.engines.engine import Job
from tapeline.runs.run import Run
from tapeline.runs.supervision import launching
from tapeline.store.backends import common_time
from tapeline.store.tables.runs import runs, versions
from tests.conftest import Cast, Service
from tests.pushing import pushing
from tests.runs.supervision.histories import a_run


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


class Rows:
    """Runs of one model, as backtests: any number of them may live at once."""

    def __init__(self, service: Service, cast: Cast, model: str) -> None:
        self.store, self.service, self.cast, self.model = service.store, service, cast, model
        self.version = Version(
            id=f"v-{model}", model_id=model, number=1, description="", archive="a", size=1,
            manifest=Manifest(main_script="main.py"), plan="nano", python_version="3.11",
            created_at=0.0, created_by="ada",
        )  # fmt: skip
        self.store.write_now(self._insert, versions, msgspec.to_builtins(self.version))

    def _insert(self, connection: Connection, table: Any, values: dict[str, Any]) -> None:
        connection.execute(insert(table).values(values))

    def add(self, name: str, lease: float | None, **more: Any) -> Run:
        made = a_run(f"{name}-{self.model}", model=self.model, kind="backtest", host="n1", **more)
        made = msgspec.structs.replace(made, version_id=self.version.id)
        self.store.write_now(self._insert, runs, msgspec.structs.asdict(made))
        job = Job(made, self.version, self.cast.project_id, 1)
        raised = self.store.write_now(
            launching.raise_fence, self.service.services.cipher, job, "n1", "boxed", lease
        )
        assert raised is not None
        return raised[0]

    def change(self, run: Run, **values: Any) -> None:
        def job(connection: Connection) -> None:
            connection.execute(update(runs).where(runs.c.id == run.id).values(**values))

        self.store.write_now(job)

    def until(self, run: Run) -> float | None:
        found = self.store.read_now(run_records.find, run.id)
        assert found is not None
        return found.lease_until

    def renew(self, *found: Run, host: str = "n1", seconds: float = 6.0) -> set[str]:
        fences = {one.id: one.fence or 0 for one in found}
        return self.store.write_now(leases.renew, host, fences, seconds)

    def expired(self) -> set[str]:
        found = self.store.read_now(leases.expired)
        return {one.run_id for one in found if one.run_id.endswith(self.model)}


def test_a_lease_is_granted_with_the_start_and_only_if_it_is_asked_for(
    service: Service, cast: Cast
) -> None:
    with pushing(service, cast.owner) as model:
        rows = Rows(service, cast, model.id)
        before = service.store.read_now(common_time.now)
        leased, free = rows.add("leased", 6.0), rows.add("free", None)
        after = service.store.read_now(common_time.now)
        assert leased.lease_until is not None
        assert before + 6.0 <= leased.lease_until <= after + 6.0
        assert free.lease_until is None
        assert rows.renew(leased, free, seconds=60.0) == {leased.id}
        assert rows.until(free) is None
        assert (rows.until(leased) or 0.0) > after + 50.0
        assert rows.expired() == set()


def test_only_its_holder_renews_and_only_in_time(service: Service, cast: Cast) -> None:
    with pushing(service, cast.owner) as model:
        rows = Rows(service, cast, model.id)
        fine = rows.add("fine", 60.0)
        elsewhere, anew, ended, late = (
            rows.add(name, 60.0) for name in ("elsewhere", "anew", "ended", "late")
        )
        now = service.store.read_now(common_time.now)
        rows.change(elsewhere, host="n2")
        rows.change(anew, fence=anew.fence and anew.fence + 1)
        rows.change(ended, ended_at=1.0)
        rows.change(late, lease_until=now - 0.001)
        everything = (fine, elsewhere, anew, ended, late)
        assert rows.renew(*everything) == {fine.id}
        assert rows.renew(fine, host="n2") == set()
        assert rows.renew() == set()


def test_a_run_is_free_to_take_only_a_margin_after_its_lease(service: Service, cast: Cast) -> None:
    with pushing(service, cast.owner) as model:
        rows = Rows(service, cast, model.id)
        now = service.store.read_now(common_time.now)
        found = [rows.add(name, 60.0) for name in ("long", "just", "ended", "withdrawn", "valid")]
        for one, ago in zip(found, (leases.MARGIN + 5, 0.0, 5, 5, -50), strict=True):
            rows.change(one, lease_until=now - ago)
        rows.change(found[2], ended_at=1.0)
        rows.change(found[3], fence=None)
        free = rows.add("free", None)
        assert free.lease_until is None
        assert rows.expired() == {found[0].id}


def test_many_leases_are_renewed_at_once(service: Service, cast: Cast) -> None:
    with pushing(service, cast.owner) as model:
        rows = Rows(service, cast, model.id)
        one = rows.add("one", 60.0)
        many = {f"unknown{number}": number for number in range(5_000)}
        fences = {**many, one.id: one.fence or 0}
        assert service.store.write_now(leases.renew, "n1", fences, 6.0) == {one.id}
