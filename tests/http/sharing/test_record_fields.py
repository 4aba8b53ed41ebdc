"""The record of a link shows the fields that the documentation lists, and no others."""

import json
import re
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tapeline.tape.append.appending import Appended
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tests.conftest import Service
from tests.http.sharing.scene import push_on, shared
from tests.pushing import Model

DOCS = Path(__file__).parents[3] / "docs/sharing.md"
ORDERS = {"spot-market", "spot-limit", "spot-stop", "update-trade", "update-annotation"}
HIDING = ("percent_only", "hide_symbols", "hide_sizes", "hide_logs")
ORDER: dict[str, Any] = {
    "symbol": "BTC-EUR", "exchange": "kraken", "side": "buy", "annotation": "why", "fee": 1,
    "fee_currency": "USD", "multiplier": 2, "instrument": "future", "inverse": False,
}  # fmt: skip
UPDATE: dict[str, Any] = {
    "id": "1", "executionPrice": 10, "executed_price": 10, "filled_avg_price": 10, "fees": 2,
    "executionTime": 10, "executed_time": 10, "filled_size": 1, "status": "filled",
    "source": "bars", "size": 1, "funds": 3, "secret": "mine", "note": 7,
}  # fmt: skip


def documented() -> dict[tuple[str, str], str]:
    """By event and field, the words that say what hides it."""
    table = DOCS.read_text().partition("| event | field | hidden by |")[2].partition("\n\n")[0]
    found = {}
    for row in table.splitlines()[2:]:
        _, event, names, by, _ = row.split("|")
        for name in re.findall(r"`(\w+)`", names):
            for kind in ORDERS if event.strip() == "order, update" else [event.strip(" `")]:
                found[kind, name] = by
    return found


def hides(by: str, choice: str) -> bool:
    return "every choice" in by or f"`{choice}`" in by


@pytest.fixture
def traded(model: Model) -> Model:
    """A model with every kind of event that is sealed by field, and every field of each."""
    push_on(model, 0, "spot-market", id="1", size=1, more="mine", **ORDER)
    push_on(model, 0, "spot-limit", id="2", funds=5, price=10, **ORDER)
    push_on(model, 0, "spot-stop", id="3", size=1, price=10, active=9, **ORDER)
    push_on(model, 1, "update-trade", **UPDATE)
    push_on(model, 1, "update-annotation", id="1", annotation="because")
    money = {"type": "fee", "amount": -1, "currency": "EUR", "symbol": "BTC-EUR", "id": "c"}
    push_on(model, 1, "cash", **money, annotation="cost")
    held = {"symbol": "BTC-EUR", "size": 1, "average_price": 3, "quote": "EUR", "multiplier": 2}
    push_on(model, 1, "position", **held, instrument="future")
    push_on(model, 1, "account-value", value=100, currency="EUR")
    body = {"positions": "long_only", "capital": {"amount": 5, "currency": "EUR"}}
    assert model.owner.patch(f"/api/models/{model.id}/account", json=body).is_success
    _mark_of_bars(model)
    return model


def _mark_of_bars(model: Model) -> None:
    """As the server writes it."""
    service, fields = model.service, {"price": 9.0, "source": "bars", "symbol": "BTC-EUR"}
    tape = service.store.read_now(model.tape)
    mark = Event(tape, kinds.MARK_PRICE, fields, json.dumps(fields).encode(), 1.0, time.time())
    appender = service.services.inbox.appender

    def write(connection: Any) -> list[Appended]:
        return appender.append(connection, [Submission([mark], None)])[1]

    assert service.store.write_now(write)


def fields_of(answer: httpx.Response) -> set[tuple[str, str]]:
    assert answer.status_code == 200, answer.text
    events = [json.loads(line) for line in answer.text.splitlines()]
    return {(one["kind"], name) for one in events for name in one.get("fields", ())}


def test_every_field_of_every_kind_on_a_record_is_documented(
    traded: Model, service: Service
) -> None:
    known = documented()
    with service.client() as stranger:
        shown = fields_of(shared(traded, stranger).get("/record"))
        assert shown <= set(known)
        assert {kind for kind, _ in shown} == {kind.name for kind in kinds.SEALED}
        assert ("mark-price", "price") in shown
        for choice in HIDING:
            link = shared(traded, stranger, **{choice: True})
            left = fields_of(link.get("/record"))
            assert left <= shown
            for one in shown - {("account-settings", "capital")}:
                by = known[one]
                if "if it has a `currency`" in by and choice == "hide_symbols":
                    continue  # depends on the event
                assert (one in left) != hides(by, choice), (one, choice)
