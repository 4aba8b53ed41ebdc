"""Rules with patterns: they hold up nobody, and never say that all is well before they looked."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import psutil
import pytest

from tapeline.watch.conditions import behaviour
from tapeline.watch.facts import all_facts
from tapeline.watch.facts.fact import Gathering
from tapeline.watch.heavy import process
from tests.conftest import Person, Service
from tests.pushing import Model, pushing
from tests.waiting import wait_for
from tests.watch.conditions.asking import order, trade
from tests.watch.watching import add, fires, shown, state

SLOW = "(?:a|b|ab){0,1000}z"
"""As slow as a pattern may be."""


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def write(model: Model, *lines: str) -> None:
    model.push("/v1/batch", [{"path": "/v1/live/log", "body": {"line": one}} for one in lines])


def said(model: Model, rule: str) -> str:
    return str(shown(model, rule)["states"][0]["said"])


def looking_for(word: str) -> dict[str, Any]:
    return {"condition": "log-line", "matches": word}


@pytest.fixture
def stopped() -> Iterator[Callable[[], list[psutil.Process]]]:
    """Stops the processes that match patterns."""
    some: list[psutil.Process] = []

    def stop() -> list[psutil.Process]:
        for one in psutil.Process().children():
            if "tapeline.watch.heavy.serving" in " ".join(one.cmdline()):
                os.kill(one.pid, signal.SIGSTOP)
                some.append(one)
        assert some
        return some

    yield stop
    for one in some:
        if one.is_running():
            one.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("what_follows", ["it goes on", "it is replaced"])
def test_a_line_that_nobody_could_search_is_not_taken_for_harmless(
    model: Model,
    stopped: Callable[[], list[psutil.Process]],
    monkeypatch: pytest.MonkeyPatch,
    what_follows: str,
) -> None:
    monkeypatch.setattr(behaviour, "LATE", 0.5)
    write(model, "all is well")
    rule = add(model, looking_for("boom"))
    wait_for(lambda: state(model, rule) == "ok")
    some = stopped()
    if what_follows == "it is replaced":
        monkeypatch.setattr(process, "DEADLINE", 5.0)
    write(model, "boom")
    wait_for(lambda: state(model, rule) == "unknown")
    assert "not searched yet" in said(model, rule)
    if what_follows == "it goes on":
        for one in some:
            one.send_signal(signal.SIGCONT)
    else:
        wait_for(lambda: not all(one.is_running() for one in some))  # who is asked is ended
        monkeypatch.setattr(process, "DEADLINE", 240.0)  # its successor has libraries to load
    assert fires(model, rule)["said"] == "A line matches: boom"


def test_patterns_of_one_tenant_hold_up_nobody_else(
    service: Service, model: Model, enter: Callable[[str], Person]
) -> None:
    searches = service.services.rules.sources.searches
    with pushing(service, enter("eve")) as evil:
        slow = [add(evil, looking_for(SLOW + "y" * n)) for n in range(4)]
        write(evil, *["ab" * 1_999] * 500)
        write(model, "all is well")
        trade(model, time.time(), order(1))
        orders, lines = add(model, "open-orders", limit=0), add(model, looking_for("boom"))
        wait_for(lambda: {state(model, one) for one in (orders, lines)} == {"ok"})
        trade(model, time.time(), order(2, None, price=10), "spot-limit")
        fires(model, orders)
        write(model, "boom")
        fires(model, lines)
        behind = {one.key[0] for one in searches.waiting(0.0)}
        assert behind.issuperset(slow), "they were still at it"
        wait_for(lambda: "take longer than the time" in said(evil, slow[0]))
        assert state(evil, slow[0]) == "unknown"
        for rule in slow:
            assert evil.owner.delete(f"/api/rules/{rule}").status_code == 200
        wait_for(lambda: not searches.waiting(0.0))


def test_a_fact_that_could_not_be_read_is_unknown_and_read_again(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = add(model, "open-orders", limit=0)
    trade(model, time.time(), order(1))
    wait_for(lambda: state(model, rule) == "ok")
    fact = all_facts.BY_NAME["newest_orders"]
    with monkeypatch.context() as during:
        broken = msgspec.structs.replace(fact, gather=_fail)
        during.setitem(all_facts.BY_NAME, fact.name, broken)
        trade(model, time.time(), order(2, None, price=10), "spot-limit")
        wait_for(lambda: state(model, rule) == "unknown")
        assert said(model, rule).startswith("What it needs to know could not be read: ")
    fires(model, rule)


def _fail(_: Gathering) -> Any:
    raise RuntimeError("there is no answer")
