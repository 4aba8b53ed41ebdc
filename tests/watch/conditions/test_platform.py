"""Conditions about the platform itself."""

import socket
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import Connection, insert, update

from tapeline.accounts import sign_ins, users
from tapeline.accounts.sign_ins import Origin
from tapeline.store.tables.runs import hosts
from tapeline.watch.conditions.condition import Question
from tapeline.watch.conditions.platform import DISK
from tapeline.watch.facts import certificates
from tapeline.watch.facts.certificates import Certificates
from tapeline.watch.facts.fact import Asked, Subject
from tapeline.watch.facts.of_installation import Room
from tests.conftest import Person, run
from tests.pushing import RESULT, Model
from tests.watch.conditions.asking import DAY, Watcher, about
from tests.watch.conditions.tls import showing


def test_a_backtest_that_ends_after_the_rule_was_made(model: Model, watcher: Watcher) -> None:
    model.push("/v1/backtest/result", RESULT | {"backtest_id": "old"})
    done, failed = (watcher.of_model(model, f"backtest-{how}") for how in ("done", "failed"))
    assert (done.holds, failed.holds) == (False, False)
    model.push("/v1/backtest/result", RESULT | {"backtest_id": "new"})
    status = {"backtest_id": "new", "successful": True, "status_summary": "Completed"}
    model.push("/v1/backtest/status", status)
    found = watcher.of_model(model, "backtest-done", memory=done.memory)
    assert (found.holds, found.said) == (True, "The backtest new is done: Completed.")
    later = watcher.of_model(model, "backtest-done", memory=found.memory, now=time.time() + 601)
    assert later.holds is False
    assert watcher.of_model(model, "backtest-failed", memory=failed.memory).holds is False
    model.push("/v1/backtest/status", status | {"backtest_id": "bad", "successful": False})
    assert watcher.of_model(model, "backtest-failed", memory=failed.memory).holds is True


def test_the_quota_of_a_tape(model: Model, watcher: Watcher) -> None:
    assert watcher.of_model(model, "quota").holds is None
    model.push("/v1/live/log", {"line": "x" * 5_000})
    assert watcher.of_model(model, "quota").holds is False
    tiny = watcher.of_model(model, "quota", limit=1e-9)
    assert tiny.holds is True
    assert tiny.value is not None


def test_the_disk(watcher: Watcher) -> None:
    assert watcher.of_all("disk", limit=0).holds is False
    full = watcher.of_all("disk", limit=100)
    assert full.holds is True
    assert "are free; the limit is 100.00 %" in full.said
    assert watcher.of_all("disk", limit=1e9, unit="gigabytes").holds is True
    asked = Asked(rule_id="r", limit=10.0, unit="percent")
    gone = DISK.find(Question(asked, {"disk": Room(0, 0, "It cannot be seen.")}, 0.0))
    assert (gone.holds, gone.said) == (None, "It cannot be seen.")


def test_a_host_that_is_unwell(watcher: Watcher) -> None:
    store = watcher.service.store

    def there(connection: Connection) -> None:
        connection.execute(
            insert(hosts).values(
                name="far", machine="far", version="1", trouble="", key_digests="", started_at=0.0
            )
        )

    store.write_now(there)
    subject = Subject(id="far", kind="host", name="far")
    assert watcher.ask(subject, "host-unwell").holds is False
    store.write_now(lambda c: c.execute(update(hosts).values(trouble="No sandbox.")) and None)
    found = watcher.ask(subject, "host-unwell")
    assert (found.holds, found.said) == (True, "It cannot run models: No sandbox.")


def test_a_sign_in_from_a_new_place(
    model: Model, watcher: Watcher, enter: Callable[[str], Person]
) -> None:
    project = Subject(id=model.project_id, kind="project", name="Project")
    store, owner = watcher.service.store, model.owner

    def sign_in(person: Person, address: str) -> None:
        user = store.read_now(users.get, person.id)
        store.write_now(lambda c: sign_ins.begin(c, user, "browser", Origin(address, "x")) and None)

    sign_in(owner, "192.0.2.1")
    wait = watcher.ask(project, "new-sign-in")
    sign_in(owner, "192.0.2.1")
    assert watcher.ask(project, "new-sign-in").holds == wait.holds
    sign_in(owner, "203.0.113.9")
    found = watcher.ask(project, "new-sign-in")
    assert found.holds is True
    assert found.said == f"{owner.email} signed in from 203.0.113.9."
    assert watcher.ask(project, "new-sign-in", now=time.time() + 3601).holds is False
    other = enter("bob")
    sign_in(other, "192.0.2.1")
    sign_in(other, "198.51.100.7")  # no member of the project
    assert watcher.ask(project, "new-sign-in").said == found.said
    assert watcher.of_all("new-sign-in").said == f"{other.email} signed in from 198.51.100.7."


@pytest.mark.parametrize(("days", "holds"), [(10.0, True), (40.0, False)])
def test_a_certificate_that_ends_soon(
    watcher: Watcher, tmp_path: Path, days: float, holds: bool
) -> None:
    with showing(tmp_path, days) as port:
        looking = Certificates(f"https://127.0.0.1:{port}", None)
        watcher.sources = msgspec.structs.replace(watcher.sources, certificates=looking)
        assert watcher.of_all("certificate").said == "It has not been looked at yet."
        run(looking.turn())
    found = watcher.of_all("certificate")
    assert found.holds is holds
    assert found.value == about(days, 0.1)
    if not holds:
        assert watcher.of_all("certificate", now=time.time() + 30 * DAY).holds is True


def test_a_certificate_that_nobody_can_see_is_unknown(watcher: Watcher) -> None:
    found = watcher.of_all("certificate")
    assert (found.holds, found.said) == (None, certificates.NOT_HTTPS)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert "cannot be reached" in (certificates.look("127.0.0.1", port).trouble or "")
