"""`GET /api/health`: the operator sees every check; the record of slow statements has no values."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from tapeline.health import examination
from tapeline.health.checklist import CHECKS
from tapeline.runs import described_hosts
from tapeline.runs.described_hosts import Description, Node
from tapeline.runs.pythons_of_hosts import Python
from tests.conftest import Person, Service, let_in


@pytest.fixture(scope="module")
def operator(shared_service: Service, password_hash: str) -> Iterator[Person]:
    """The first account."""
    person = let_in(shared_service, "ada@example.com", password_hash)
    with person.client:
        yield person


def seen_by(person: Person) -> Any:
    answer = person.get("/api/health")
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.json()


def test_the_operator_sees_every_check_and_all_background_work(operator: Person) -> None:
    found = seen_by(operator)
    assert [row["name"] for row in found["rows"]] == [check.name for check in CHECKS]
    assert not [row for row in found["rows"] if "cannot be checked" in row["says"]]
    assert {"bookkeeper", "health check"} <= {one["name"] for one in found["work"]}
    assert operator.get("/api/me").json()["is_operator"] is True


@pytest.mark.usefixtures("operator")
def test_nobody_else_does(enter: Callable[[str], Person]) -> None:
    other = enter("bob")
    refused = other.get("/api/health")
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert other.get("/api/me").json()["is_operator"] is False


def test_slow_statements_are_shown_without_their_values(
    service: Service, operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination, "KEPT", 0.0)
    slowest = service.store.database.slowest
    slowest.note("select * from users where email = 'ada@example.com' and n = 42", 7.5)
    found = seen_by(operator)
    shown = found["slowest"][0]
    assert shown["statement"] == "select * from users where email = ? and n = ?"
    assert shown["seconds"] == 7.5
    row = next(row for row in found["rows"] if row["name"] == "slowest statements")
    assert row["state"] == "yellow"
    assert "7.5 s" in row["says"]


def test_hosts_are_shown_with_what_is_known_of_them(service: Service, operator: Person) -> None:
    known = Description("k3vx8qhmw2td5rfy", "attic", "1.2.3", trouble="the disk is full")
    service.store.write_now(described_hosts.describe, known)
    service.store.write_now(described_hosts.drain, known.name, "an operator")
    [shown] = [one for one in seen_by(operator)["hosts"] if one["name"] == known.name]
    assert (shown["machine"], shown["trouble"]) == ("attic", "the disk is full")
    assert shown["state"] == "unreachable", "no server runs as this host"
    assert (shown["running"], shown["drained_at"] is not None) == (0, True)
    assert (shown["node"], shown["pythons"]) == (None, [])


def test_a_node_is_shown_with_what_it_has_and_drained_from_the_page(
    service: Service, operator: Person
) -> None:
    node = Node(
        address="10.0.0.2", cores=4.0, cores_free=2.5, memory=8_000_000_000,
        memory_free=6_000_000_000, confinement="bubblewrap",
    )  # fmt: skip
    said = msgspec.json.encode(node).decode()
    pythons = msgspec.json.encode([Python("3.13", "3.13.1", "uv")]).decode()
    known = Description("n3vx8qhmw2td5rfy", "shed", "1.2.3", "", "", pythons, said)
    service.store.write_now(described_hosts.describe, known)

    def shown() -> Any:
        return next(one for one in seen_by(operator)["hosts"] if one["name"] == known.name)

    assert shown()["pythons"] == ["3.13"]
    assert shown()["node"] == msgspec.structs.asdict(node)
    answer = operator.post(f"/api/hosts/{known.name}/drain")
    assert (answer.status_code, answer.json()) == (200, {"host": known.name, "drained": True})
    assert shown()["drained_at"] is not None
    by = service.store.read_now(described_hosts.get, known.name).drained_by
    assert by == "the operator ada@example.com"
    assert operator.post(f"/api/hosts/{known.name}/undrain").json()["drained"] is False
    assert shown()["drained_at"] is None
    assert operator.post("/api/hosts/nobody/drain").status_code == 404
