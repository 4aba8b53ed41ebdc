"""From a rule that fires to a message that somebody gets, over HTTP, with real receivers."""

import base64
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tapeline.ids import new_id
from tapeline.settings import Settings
from tests.conftest import Service, let_in, running
from tests.pushing import ORDER, Model, pushing
from tests.receivers import Mailbox, Receiver, http_receiver, mailbox
from tests.waiting import wait_for
from tests.watch import watching

URL = "https://tapeline.example.org"


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, empty: Callable[[str, Path], Settings]
) -> Iterator[Service]:
    settings = empty("sqlite", tmp_path_factory.mktemp("whole-way") / "data")
    with running(replace(settings, alerts_may_reach="127.0.0.1", public_url=URL)) as started:
        yield started


@pytest.fixture
def model(service: Service, password_hash: str) -> Iterator[Model]:
    person = let_in(service, f"ada.{new_id()}@example.com", password_hash)
    with person.client, pushing(service, person) as made:
        yield made


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with http_receiver() as made:
        yield made


@pytest.fixture
def box() -> Iterator[Mailbox]:
    with mailbox() as made:
        yield made


def add_channel(model: Model, name: str, address: str) -> None:
    body = {"name": name, "address": address}
    answer = model.owner.post(f"/api/projects/{model.project_id}/channels", json=body)
    assert answer.status_code == 200, answer.text


def told(receiver: Receiver, path: str = "/") -> list[dict[str, Any]]:
    return [msgspec.json.decode(one.body) for one in receiver.received if one.path == path]


def log_line(model: Model) -> None:
    model.push("/v1/live/log", {"line": "hello", "type": "info"})


def trade(model: Model) -> None:
    """A gain, so that there is a curve."""
    now = time.time()
    for number, (side, price) in enumerate((("buy", 10.0), ("sell", 12.0), ("buy", 11.0))):
        order = {**ORDER, "id": f"o{number}", "side": side, "price": price}
        moment = {"time": str(now - 600 + 60 * number)}
        model.push("/v1/live/spot-market", order, headers=moment)
    wait_for(lambda: len(model.get("/pnl")["series"]) == 3)


def test_a_silence_is_told_with_its_moment_and_so_is_its_end(
    model: Model, receiver: Receiver, box: Mailbox
) -> None:
    add_channel(model, "hook", receiver.url)
    mail = f"mailto://127.0.0.1:{box.port}?from=a@example.org&to=b@example.org&mode=insecure"
    add_channel(model, "mail", mail)
    trade(model)
    log_line(model)
    rule = watching.add(model, "no-log", lasting="2s", severity="critical")
    incident = watching.fires(model, rule)["incident_id"]
    wait_for(lambda: told(receiver) and box.mails)
    (first,) = told(receiver)
    assert (first["what"], first["incident_id"]) == ("fired", incident)
    (about,) = first["incidents"]
    at = about["fired_at"]
    shown_at = f"range={at - 3600:.0f}_{at + 3600:.0f}@{at:.0f}"
    assert about["link"] == f"{URL}/{model.project_id}/{model.id}/overview?{shown_at}"
    assert about["halt_link"] == f"{URL}/{model.project_id}/halt"
    assert base64.b64decode(first["chart_png"]).startswith(b"\x89PNG")
    assert any(one.get_content_type() == "image/png" for one in box.mails[0].walk())
    # Allowed to be silent for longer from now on, or it would be silent again at once.
    model.owner.patch(f"/api/rules/{rule}", json={"for": "1h"})
    log_line(model)
    wait_for(lambda: len(told(receiver)) == 2)
    assert told(receiver)[1]["what"] == "resolved"
    assert told(receiver)[1]["incident_id"] == incident
    wait_for(lambda: len(box.mails) == 2)
    shown = watching.whole(model, incident)
    assert {one["channel"] for one in shown["messages"]} == {"hook", "mail"}
    wait_for(
        lambda: all(one["delivered_at"] for one in watching.whole(model, incident)["messages"])
    )
    assert timeline(model, incident).count("told") == 4


def test_somebody_is_called_only_if_nobody_acknowledges(model: Model, receiver: Receiver) -> None:
    for name in ("first", "second"):
        add_channel(model, name, f"{receiver.url}/{name}")

    def calling(after: str) -> list[Any]:
        return [{"tell": ["first"]}, {"tell": ["second"], "after": after}]

    log_line(model)
    known = watching.add(model, "no-log", lasting="1s", name="known", do=calling("1h"))
    incident = watching.fires(model, known)["incident_id"]
    assert "escalated" in messages(model, incident)
    path = f"/api/incidents/{incident}/acknowledge"
    assert model.owner.post(path, json={"note": "mine"}).status_code == 200
    assert "escalated" not in messages(model, incident), "nobody need be called any more"
    unknown = watching.add(model, "no-order", lasting="1s", name="unknown", do=calling("1s"))
    called = watching.fires(model, unknown)["incident_id"]
    wait_for(lambda: told(receiver, "/second"))
    assert [one["incident_id"] for one in told(receiver, "/second")] == [called]
    assert told(receiver, "/second")[0]["what"] == "escalated"
    assert "nobody has acknowledged" in told(receiver, "/second")[0]["title"]
    assert "acknowledged" in timeline(model, incident)
    # Who is called hears of it before it can be recorded that he did.
    wait_for(lambda: "escalated" in timeline(model, called))


def messages(model: Model, incident: str) -> list[str]:
    return [one["what"] for one in watching.whole(model, incident)["messages"]]


def timeline(model: Model, incident: str) -> list[str]:
    return [one["what"] for one in watching.whole(model, incident)["timeline"]]


def test_a_channel_that_fails_is_shown_and_holds_up_nobody(
    model: Model, receiver: Receiver
) -> None:
    add_channel(model, "broken", f"{receiver.url}/status/500")
    add_channel(model, "whole", f"{receiver.url}/whole")
    log_line(model)
    rule = watching.add(model, "no-log", lasting="1s")
    incident = watching.fires(model, rule)["incident_id"]
    wait_for(lambda: told(receiver, "/whole"))
    path = f"/api/projects/{model.project_id}/channels"

    def broken() -> dict[str, Any]:
        items = model.owner.get(path).json()["items"]
        found: dict[str, Any] = next(one for one in items if one["name"] == "broken")
        return found

    wait_for(lambda: broken()["failing_since"])
    assert "status 500" in broken()["last_error"]
    assert "tell_failed" in timeline(model, incident)
