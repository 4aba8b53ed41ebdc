"""Every condition from outside: a rule made over HTTP fires and is over. Where only the clock ends
it, the rules' clock is moved."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, update

from tapeline.runs.described_hosts import Description, describe
from tapeline.settings import Settings
from tapeline.store.backends import common_time
from tapeline.store.tables.runs import hosts
from tapeline.store.tables.tape import tapes
from tapeline.watch.conditions.all_conditions import CONDITIONS
from tapeline.watch.incidents import looking
from tests.conftest import PASSWORD, Service, let_in, on_both, running
from tests.pushing import RESULT, Model, pushing
from tests.waiting import wait_for
from tests.watch.conditions.asking import DAY, cash, fund, mark, order, trade
from tests.watch.conditions.tls import showing
from tests.watch.watching import add, incidents, shown, state

HOUR = 3600.0
ABOUT = {"money", "exposure", "behaviour"}


class Clock:
    """Of rules alone: everything else goes on."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self, connection: Connection) -> float:
        return common_time.now(connection) + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(looking, "common_time", SimpleNamespace(now=made.now))
    return made


def all_are(model: Model, rules: list[str], wanted: str) -> None:
    wait_for(lambda: {state(model, one) for one in rules} == {wanted})


def fired_once(model: Model, rules: list[str]) -> None:
    """Each of them has one incident, which is over."""
    found = [one for one in incidents(model, limit="100") if one["rule_id"] in rules]
    assert sorted(one["rule_id"] for one in found) == sorted(rules)
    assert {one["state"] for one in found} == {"resolved"}


def test_money(model: Model) -> None:
    fund(model, 1_000)
    trade(model, time.time() - 5, order(1, 100))
    value = {"value": 1_000}
    model.push("/v1/live/account-value", value)
    rules = [
        add(model, "drawdown", limit=5),
        add(model, {"condition": "drawdown"}, limit=5, of_project=True),
        add(model, "loss-of-day", limit=5),
        add(model, "loss-of-week", limit=50, unit="money"),
        add(model, "account-below", limit=950),
        add(model, "account-unexplained", limit=5),
    ]
    target = add(model, "profit-target", limit=5)
    all_are(model, [*rules, target], "ok")
    mark(model, time.time(), 40)
    model.push("/v1/live/account-value", value)
    all_are(model, rules, "firing")
    cash(model, time.time(), "deposit", 10_000)  # no profit
    mark(model, time.time(), 1_600)
    all_are(model, [target], "firing")
    mark(model, time.time(), 100)
    model.push("/v1/live/account-value", {"value": 11_000})
    all_are(model, [target, rules[-1]], "ok")
    assert "gained" in shown(model, target)["states"][0]["said"]


@on_both
def test_losses_are_over_when_they_are_made_good(model: Model) -> None:
    fund(model, 1_000)
    trade(model, time.time() - 5, order(1, 100))
    rules = [
        add(model, "drawdown", limit=5),
        add(model, {"condition": "drawdown"}, limit=5, of_project=True),
        add(model, "loss-of-day", limit=5),
        add(model, "loss-of-week", limit=50, unit="money"),
        add(model, "account-below", limit=950),
    ]
    mark(model, time.time(), 40)
    all_are(model, rules, "firing")
    mark(model, time.time(), 100)
    all_are(model, rules, "ok")
    fired_once(model, rules)


def test_a_loss_of_the_day_is_over_at_midnight(model: Model, clock: Clock) -> None:
    fund(model, 1_000)
    trade(model, time.time() - 5, order(1, 100))
    rule = add(model, "loss-of-day", limit=5)
    mark(model, time.time(), 40)
    all_are(model, [rule], "firing")
    clock.ahead = 24 * HOUR
    all_are(model, [rule], "ok")
    fired_once(model, [rule])


@on_both
def test_exposure(model: Model) -> None:
    fund(model, 1_000)
    rules = [
        add(model, {"condition": "position-size", "symbol": "BTC-USD"}, limit=2),
        add(model, "position-value", limit=250),
        add(model, "gross-exposure", limit=25, unit="percent"),
        add(model, "net-exposure", limit=250),
        add(model, {"condition": "net-exposure"}, limit=250, of_project=True),
        add(model, "open-orders", limit=0),
    ]
    trade(model, time.time(), order(1, 100, size=3))
    limited = order(2, None, price=10, symbol="ETH-USD")
    trade(model, time.time(), limited, "spot-limit")
    all_are(model, rules, "firing")
    trade(model, time.time(), order(3, 100, size=3, side="sell"))
    model.push("/v1/live/update-trade", {"id": "o2", "status": "canceled"})
    all_are(model, rules, "ok")
    fired_once(model, rules)


@on_both
def test_behaviour(model: Model, clock: Clock) -> None:
    window = "2h"
    rules = [
        add(model, {"condition": "orders-per-minute", "within": window}, limit=0.05),
        add(model, {"condition": "rejected-share", "within": window}, limit=10),
        add(model, {"condition": "cancelled-share", "within": window}, limit=10),
        add(model, {"condition": "slippage", "within": window}, limit=1),
        add(model, {"condition": "fee-share", "within": window}, limit=1),
        add(model, {"condition": "log-line", "matches": "ins.*funds", "within": window}),
        add(model, {"condition": "late-reports", "within": window}),
    ]
    now = time.time()
    for number in range(8):
        trade(model, now, order(number, 103, price=100, fee=5))
    model.push("/v1/live/update-trade", {"id": "o0", "status": "rejected"})
    model.push("/v1/live/update-trade", {"id": "o1", "status": "canceled"})
    model.push("/v1/live/log", {"line": "insufficient funds"})
    trade(model, now - 24 * HOUR, order("late"))
    all_are(model, rules, "firing")
    clock.ahead = 2 * HOUR + 60
    all_are(model, rules, "ok")
    fired_once(model, rules)


@on_both
def test_backtests(model: Model, clock: Clock) -> None:
    done, failed = add(model, "backtest-done"), add(model, "backtest-failed")
    model.push("/v1/live/log", {"line": "there"})
    all_are(model, [done, failed], "ok")
    model.push("/v1/backtest/result", RESULT)
    status = {"backtest_id": "b1", "successful": True, "status_summary": "Completed"}
    model.push("/v1/backtest/status", status)
    all_are(model, [done], "firing")
    model.push("/v1/backtest/status", status | {"backtest_id": "b2", "successful": False})
    all_are(model, [failed], "firing")
    clock.ahead = HOUR
    all_are(model, [done, failed], "ok")
    fired_once(model, [done, failed])


def test_a_quota(model: Model, clock: Clock) -> None:
    model.push("/v1/live/log", {"line": "x"})
    rule = add(model, "quota", limit=50)
    all_are(model, [rule], "ok")

    def held(size: int) -> None:
        model.service.store.write_now(
            lambda connection: (
                connection.execute(
                    update(tapes).where(tapes.c.model_id == model.id).values(bytes=size)
                )
                and None
            )
        )

    held(15_000_000_000)
    clock.ahead = 31
    all_are(model, [rule], "firing")
    held(1_000)
    clock.ahead = 62
    all_are(model, [rule], "ok")
    fired_once(model, [rule])


def _from(service: Service, address: str, **headers: str) -> httpx.Client:
    """A client on this machine with another address than usual."""
    transport = httpx.HTTPTransport(local_address=address)
    return httpx.Client(base_url=service.address, transport=transport, headers=headers, timeout=60)


@on_both
def test_strangers(model: Model, clock: Clock) -> None:
    sign_in = add(model, "new-sign-in", of_project=True)
    key = add(model, "key-new-address", of_project=True)
    model.push("/v1/live/log", {"line": "from the usual place"})
    all_are(model, [sign_in, key], "ok")
    with _from(model.service, "127.0.0.2") as stranger:
        body = {"email": model.owner.email, "password": PASSWORD}
        answer = stranger.post("/auth/signin", json=body)
        assert answer.status_code == 200, answer.text
        pushed = stranger.post("/v1/live/log", json={"line": "boo"}, headers=model.headers)
        assert pushed.status_code == 200
    all_are(model, [sign_in, key], "firing")
    said = {one["said"] for one in incidents(model)}
    assert f"{model.owner.email} signed in from 127.0.0.2." in said
    assert any(one.endswith("was used from 127.0.0.2.") for one in said)
    clock.ahead = HOUR + 60
    all_are(model, [sign_in, key], "ok")
    fired_once(model, [sign_in, key])


def test_previews_of_all_that_have_one(model: Model) -> None:
    """What each of them would have said of the last days, before it is saved."""
    now = time.time()
    fund(model, 1_000)
    trade(model, now - 10 * DAY, order(1, 100, size=3, fee=30, price=50))
    mark(model, now - 9 * DAY, 10)
    model.push("/v1/live/account-value", {"value": 5}, headers={"time": repr(now - DAY)})
    model.push("/v1/live/log", {"line": "boom"})
    limits: dict[str, Any] = {"account-below": 900}
    without = {"profit-target", "rejected-share", "cancelled-share"}  # these need five orders
    for condition in [one for one in CONDITIONS if one.about in ABOUT and one.preview]:
        when: dict[str, Any] = {"condition": condition.name}
        if condition.name == "log-line":
            when["matches"] = "bo+m"
        body: dict[str, Any] = {"name": "x", "when": when, "model_id": model.id}
        if condition.units:
            body["limit"] = limits.get(condition.name, 0.0001)
        answer = model.owner.post(f"/api/projects/{model.project_id}/rules/preview", json=body)
        assert answer.status_code == 200, (condition.name, answer.text)
        found = answer.json()
        assert bool(found["stretches"]) is (condition.name not in without), condition.name
        assert found["looked_at_since"] == pytest.approx(now - 30 * DAY, abs=60)


@pytest.fixture
def with_certificate(settings: Settings, tmp_path: Path, password_hash: str) -> Iterator[Model]:
    """On a server whose address shows one that ends in ten days. Its first account is the
    operator."""
    with (
        showing(tmp_path, days=10.0) as port,
        running(replace(settings, public_url=f"https://127.0.0.1:{port}")) as service,
    ):
        owner = let_in(service, "ada@example.com", password_hash)
        with owner.client, pushing(service, owner) as made:
            yield made


@pytest.mark.databases("sqlite")
def test_the_installation(with_certificate: Model) -> None:
    model, store = with_certificate, with_certificate.service.store

    def rule(when: str, **more: Any) -> str:
        answer = model.owner.post("/api/rules", json={"name": when, "when": when, **more})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["rule_id"])

    def limit(rule_id: str, value: float) -> None:
        answer = model.owner.client.patch(f"/api/rules/{rule_id}", json={"limit": value})
        assert answer.status_code == 200, answer.text

    def trouble(words: str) -> None:
        store.write_now(
            lambda connection: connection.execute(update(hosts).values(trouble=words)) and None
        )

    rules = [rule("certificate"), rule("disk", limit=100)]
    all_are(model, rules, "firing")
    limit(rules[0], 5)
    limit(rules[1], 0)
    all_are(model, rules, "ok")
    store.write_now(describe, Description("far", "far", "1"))
    unwell = rule("host-unwell")
    wait_for(lambda: "far" in {one["subject"] for one in shown(model, unwell)["states"]})
    trouble("No sandbox.")
    wait_for(lambda: "firing" in {one["state"] for one in shown(model, unwell)["states"]})
    trouble("")
    wait_for(lambda: {one["state"] for one in shown(model, unwell)["states"]} == {"ok"})
