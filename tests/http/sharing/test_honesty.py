"""Links say what was reported late, and when the account's settings changed."""

import time
from typing import Any

import pytest

from tests.conftest import Service, on_both
from tests.http.sharing.scene import Link, look_back_from, push_on, shared
from tests.http.sharing.test_figures import page
from tests.pushing import Model

NONE = {"prices": 0, "cash": 0, "positions": 0, "replaced_cash": 0}


def change(model: Model, **body: Any) -> None:
    answer = model.owner.patch(f"/api/models/{model.id}/account", json=body)
    assert answer.status_code == 200, answer.text


@on_both
def test_a_link_counts_what_was_reported_late_with_and_without_a_delay(
    service: Service, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    push_on(model, 0, "position", symbol="BTC-USD", size=1, average_price=90)
    for days in (1, 2):
        push_on(model, days, "mark-price", symbol="BTC-USD", price=100 + days)
    push_on(model, 3, "cash", type="funding", amount=-1, id="f")
    now = str(time.time())
    model.push("/v1/live/mark-price", {"symbol": "BTC-USD", "price": 99}, headers={"time": now})
    said = {"type": "funding", "amount": -2, "id": "f"}
    model.push("/v1/live/cash", said, headers={"time": now})
    found = {"prices": 2, "cash": 1, "positions": 1, "replaced_cash": 1}
    assert model.get("/pnl")["late"] == found
    assert [one["late_by"] is not None for one in model.items("/cash")] == [False, True]
    with service.client() as stranger:
        link = shared(model, stranger)
        assert (link.json()["late"], link.json()["late_entries"]) == (0, found)
        words = "2 prices, 1 cash entry and 1 position were reported late."
        assert f"{words} 1 cash entry was replaced afterwards." in page(link)
        then = shared(model, stranger, delay_hours=1)
        assert then.json()["late_entries"] == NONE
        look_back_from(monkeypatch, time.time() + 2 * 3600)
        assert then.json()["late_entries"] == found


def settings(link: Link) -> list[tuple[Any, ...]]:
    return [
        (one["positions"], one["capital_change"], one["capital"], one["currency"])
        for one in link.json()["settings"]
    ]


def test_a_link_shows_each_change_of_the_account(
    service: Service, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(model, positions="long_only", capital={"amount": 7531, "currency": "USD"})
    change(model, capital=None)
    with service.client() as stranger:
        link = shared(model, stranger)
        assert settings(link) == [
            (None, "removed", None, None), ("long_only", "set", 7531, "USD"),
        ]  # fmt: skip
        shown = page(link)
        assert "positions are long only, the capital was set to 7,531.00" in shown
        assert "the capital was removed." in shown
        for choice in ("percent_only", "hide_symbols", "hide_sizes"):
            hidden = shared(model, stranger, **{choice: True})
            assert settings(hidden) == [
                (None, "removed", None, None), ("long_only", "set", None, None),
            ]  # fmt: skip
            assert "7,531" not in page(hidden)
        then = shared(model, stranger, delay_hours=1)
        assert settings(then) == []
        look_back_from(monkeypatch, time.time() + 2 * 3600)
        assert then.json()["settings"] == link.json()["settings"]
