"""Channels over HTTP, with real receivers: made, masked, tested, changed and deleted."""

import hashlib
import hmac
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from sqlalchemy import insert

from tapeline.ids import new_id
from tapeline.settings import Settings
from tapeline.store.tables.watch import incidents, outbox
from tapeline.watch.telling import channels
from tests.commands import code_of
from tests.conftest import Person, Service, let_in, running
from tests.receivers import Mailbox, Receiver, http_receiver, mailbox
from tests.waiting import wait_for


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, empty: Callable[[str, Path], Settings]
) -> Iterator[Service]:
    """Its operator allows one address of this machine."""
    settings = empty("sqlite", tmp_path_factory.mktemp("telling") / "data")
    chosen = replace(
        settings, alerts_may_reach="127.0.0.1", public_url="https://tapeline.example.org"
    )
    with running(chosen) as started:
        yield started


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with http_receiver() as made:
        yield made


@pytest.fixture(scope="module")
def box() -> Iterator[Mailbox]:
    with mailbox() as made:
        yield made


@pytest.fixture
def ada(service: Service, password_hash: str) -> Iterator[Person]:
    found = let_in(service, f"ada.{new_id()}@example.com", password_hash)
    with found.client:
        yield found


def make(person: Person, address: str, name: str = "ops", **more: Any) -> dict[str, Any]:
    answer = _try(person, address, name, **more)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _try(person: Person, address: str, name: str = "ops", **more: Any) -> httpx.Response:
    body = {"name": name, "address": address, **more}
    return person.post(f"/api/projects/{person.id}/channels", json=body)


def listed(person: Person) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = person.get(f"/api/projects/{person.id}/channels").json()["items"]
    return found


def test_an_address_is_stored_encrypted_and_never_shown_again(
    service: Service, ada: Person, receiver: Receiver
) -> None:
    made = make(ada, f"{receiver.url}/very-secret-path")
    assert made["shown"] == "http://127.0.0.1/…"
    (shown,) = listed(ada)
    assert "secret" not in shown
    assert shown == {name: value for name, value in made.items() if name != "secret"}
    audit = ada.get(f"/api/projects/{ada.id}/audit").text
    assert "channel_created" in audit
    files = service.services.settings.data.glob("tapeline.db*")
    stored = b"".join(file.read_bytes() for file in files)
    assert made["channel_id"].encode() in stored
    for hidden in ("very-secret-path", made["secret"]):
        assert hidden not in audit
        assert hidden.encode() not in stored
    assert ada.delete(f"/api/channels/{made['channel_id']}").status_code == 200
    assert listed(ada) == []
    assert "channel_deleted" in ada.get(f"/api/projects/{ada.id}/audit").text


def test_the_test_button_says_whether_it_arrived_and_never_what_was_answered(
    ada: Person, receiver: Receiver, box: Mailbox
) -> None:
    hook = make(ada, f"{receiver.url}/hook", "hook")
    mail = make(
        ada,
        f"mailto://127.0.0.1:{box.port}?from=a@example.org&to=b@example.org&mode=insecure",
        "mail",
    )
    refusing = make(ada, f"{receiver.url}/status/503", "refusing")
    inside = make(ada, f"http://127.0.0.2:{receiver.port}/", "inside")
    found = {
        one["name"]: ada.post(f"/api/channels/{one['channel_id']}/test").json()
        for one in (hook, mail, refusing, inside)
    }
    assert found["hook"] == {"arrived": True, "status": 204, "message": "Accepted."}
    assert found["mail"] == {"arrived": True, "status": 250, "message": "Accepted."}
    assert (found["refusing"]["arrived"], found["refusing"]["status"]) == (False, 503)
    assert (found["inside"]["arrived"], found["inside"]["status"]) == (False, None)
    assert "alerts_may_reach" in found["inside"]["message"]
    shown = {one["name"]: one for one in listed(ada)}
    assert shown["hook"]["tested_at"]
    assert shown["refusing"]["test_result"] == found["refusing"]["message"]
    assert "This is a test" in str(box.mails[-1])


def test_a_webhook_is_signed_with_the_secret_of_the_time(ada: Person, receiver: Receiver) -> None:
    made = make(ada, f"{receiver.url}/{new_id()}")
    path = f"/api/channels/{made['channel_id']}"

    def is_signed_with(secret: str) -> bool:
        assert ada.post(f"{path}/test").json()["arrived"]
        last = receiver.received[-1]
        stamped = last.headers["tapeline-timestamp"].encode() + b"." + last.body
        right = hmac.new(secret.encode(), stamped, hashlib.sha256).hexdigest()
        return hmac.compare_digest(last.headers["tapeline-signature"], f"sha256={right}")

    assert is_signed_with(made["secret"])
    second = ada.patch(path, json={"rotate_secret": True}).json()["secret"]
    assert second != made["secret"]
    assert is_signed_with(second)
    assert not is_signed_with(made["secret"])
    assert ada.patch(path, json={"name": "other"}).json()["secret"] is None


def test_the_checks_of_the_docs_believe_a_genuine_message_and_no_other(
    ada: Person, receiver: Receiver, tmp_path: Path
) -> None:
    made = make(ada, f"{receiver.url}/{new_id()}")
    assert ada.post(f"/api/channels/{made['channel_id']}/test").json()["arrived"]
    last = receiver.received[-1]
    names = ("Tapeline-Timestamp", "Tapeline-Signature")
    headers = {name: last.headers[name.lower()] for name in names}
    known: dict[str, Any] = {}
    exec(code_of("how-to/alerts.md", "python")[0], known)
    is_genuine = known["is_genuine"]
    assert is_genuine(made["secret"], headers, last.body)
    assert not is_genuine(made["secret"], headers, last.body + b" ")
    assert not is_genuine("other", headers, last.body)
    old = {**headers, "Tapeline-Timestamp": str(int(headers["Tapeline-Timestamp"]) - 301)}
    assert not is_genuine(made["secret"], old, last.body)
    (tmp_path / "body.json").write_bytes(last.body)
    (script,) = [one for one in code_of("how-to/alerts.md", "sh") if "openssl" in one]
    variables = {"TIMESTAMP": headers["Tapeline-Timestamp"], "SECRET": made["secret"]}
    printed = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, env={**os.environ, **variables},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert printed.stdout.strip() == headers["Tapeline-Signature"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"address": "file:///etc/passwd"}, "address"),
        ({"address": "tgram://x"}, "address"),
        ({"address": "exec://ls"}, "address"),
        ({"name": ""}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"name": "a\u202eb"}, "name"),
        ({"quiet": {"from": "99:00"}}, "quiet.from"),
        ({"digest": {"every": "week"}}, "digest"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_stored(
    ada: Person, body: dict[str, Any], field: str
) -> None:
    right = {"name": "ops", "address": "https://hooks.example.org/x"}
    answer = ada.post(f"/api/projects/{ada.id}/channels", json=right | body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["field"] == field
    assert listed(ada) == []


def test_a_channel_keeps_what_a_change_does_not_name(ada: Person) -> None:
    quiet = {"zone": "Europe/Berlin", "from": "22:00", "to": "07:00"}
    made = make(ada, "https://hooks.example.org/x", quiet=quiet, digest={"every": "hour"})
    path = f"/api/channels/{made['channel_id']}"
    changed = ada.patch(path, json={"digest": None}).json()
    assert changed["quiet"]["from"] == "22:00"
    assert changed["digest"] is None
    moved = ada.patch(path, json={"address": "https://other.example.org/y"}).json()
    assert moved["shown"] == "https://other.example.org/…"
    assert moved["quiet"] == changed["quiet"]


def test_there_are_limits(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "MOST", 2)
    monkeypatch.setattr(channels, "TESTS_AN_HOUR", 1)
    first = make(ada, "https://hooks.example.org/x", "one")
    assert _try(ada, "https://hooks.example.org/x", "one").status_code == 409
    make(ada, "https://hooks.example.org/x", "two")
    assert _try(ada, "https://hooks.example.org/x", "three").status_code == 429
    monkeypatch.setattr(channels, "TESTS_AN_HOUR", 0)
    answer = ada.post(f"/api/channels/{first['channel_id']}/test")
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_tests")


def test_a_message_of_an_incident_arrives_with_its_figures_and_links(
    service: Service, ada: Person, receiver: Receiver
) -> None:
    place = f"/{new_id()}"
    made = make(ada, f"{receiver.url}{place}")
    incident = new_id()
    service.store.write_now(_fire, incident, ada.id, made["channel_id"])
    wait_for(lambda: [one for one in receiver.received if one.path == place])
    (found,) = [one for one in receiver.received if one.path == place]
    said = msgspec.json.decode(found.body)
    assert said["incident_id"] == found.headers["tapeline-incident"] == incident
    (about,) = said["incidents"]
    assert (about["value"], about["limit"], about["unit"]) == (12.5, 10.0, "percent")
    assert about["link"] == f"https://tapeline.example.org/{ada.id}"
    assert "Figure: 12.50 %" in said["text"]
    assert "Limit: 10.00 %" in said["text"]
    assert "https://tapeline.example.org" in said["text"]
    assert said["title"].endswith("Too much loss: firing (Personal)")


def _fire(connection: Any, incident: str, project_id: str, channel_id: str) -> None:
    connection.execute(
        insert(incidents).values(
            id=incident, project_id=project_id, subject=project_id, name="Too much loss",
            severity="critical", spec={"unit": "percent"}, said="12.5 % is over 10 %.",
            value=12.5, limit=10.0, began_at=1.0, fired_at=2.0,
        )
    )  # fmt: skip
    connection.execute(
        insert(outbox).values(
            id=new_id(), incident_id=incident, channel_id=channel_id, what="fired", step=0,
            made_at=2.0, due_at=2.0, attempts=0,
        )
    )  # fmt: skip
