"""The rules of leases, on the real rows."""

import pytest

from tapeline.runs import described_hosts, leases
from tapeline.runs.described_hosts import Description
from tapeline.store.backends import common_time
from tests.conftest import Cast, Service, on_both
from tests.pushing import pushing
from tests.runs.supervision.leased import Rows

pytestmark = on_both


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    shared_service.services.background.leads = lambda: False  # tests take these turns themselves
    return shared_service


def test_a_lease_is_granted_with_the_start_and_only_if_it_is_asked_for(
    service: Service, cast: Cast
) -> None:
    with pushing(service, cast.owner) as model:
        rows = Rows(service, cast, model.id)
        before = service.store.read_now(common_time.now)
        leased, free = rows.add("leased", 60.0), rows.add("free", None)
        after = service.store.read_now(common_time.now)
        assert leased.lease_until is not None
        assert before + 60.0 <= leased.lease_until <= after + 60.0
        assert free.lease_until is None
        assert rows.renew(leased, free, seconds=600.0) == {leased.id}
        assert rows.until(free) is None
        assert (rows.until(leased) or 0.0) > after + 500.0
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


def test_a_node_is_believed_what_its_shims_have_left_only_as_far_as_the_row_goes(
    service: Service, cast: Cast
) -> None:
    with pushing(service, cast.owner) as model:
        rows = Rows(service, cast, model.id)
        long, short = rows.add("long", 60.0), rows.add("short", 6.0)
        fences = {one.id: one.fence or 0 for one in (long, short)}
        before = service.store.read_now(common_time.now)
        for left in (30.0, 1e308):
            service.store.write_now(leases.renew, "n1", fences, 6.0, left)
            found = [(rows.until(one) or 0.0) - before for one in (long, short)]
            assert 25.0 < found[0] < 40.0, "what it had, or what is left of that"
            assert 5.0 < found[1] < 20.0
        service.store.write_now(leases.renew, "n1", fences, 6.0, 0.0)
        assert (rows.until(long) or 0.0) - before < 20.0


def test_what_is_to_stop_where_nobody_can_say_so_ends_with_its_lease(
    service: Service, cast: Cast
) -> None:
    with pushing(service, cast.owner) as model:
        rows = Rows(service, cast, model.id)
        kept, stopped = rows.add("kept", 60.0), rows.add("stopped", 60.0)
        rows.change(stopped, desired="stopped")
        service.store.write_now(described_hosts.describe, Description("n1", "m", "1"))
        assert rows.renew(kept, stopped, seconds=60.0) == {kept.id, stopped.id}, (
            "its leader tells the node"
        )
        service.store.write_now(described_hosts.tell_of_unmet, ["n1"])
        assert rows.renew(kept, stopped, seconds=60.0) == {kept.id}
        service.store.write_now(described_hosts.describe, Description("n1", "m", "1"))


def test_a_run_is_free_to_take_only_a_margin_after_its_lease(
    service: Service, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "MARGIN", 600.0)  # this test may take longer than the real one
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
