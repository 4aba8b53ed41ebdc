"""Asks a condition about what a model has reported over the wire, at any moment."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from sqlalchemy import Connection

from tapeline.watch.conditions import all_conditions
from tapeline.watch.conditions.condition import PREVIEWED, Finding, Past, Question, Stretch
from tapeline.watch.facts import all_facts, of_lines
from tapeline.watch.facts.fact import EVERYTHING, Asked, Gathering, Sources, Subject
from tapeline.watch.facts.of_lines import LINES
from tapeline.watch.rules import rule
from tests.conftest import Service
from tests.pushing import Model

DAY = 86_400.0


class Watcher:
    """One server's rules, without their clock."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.sources = Sources(service.services.settings, service.store)

    def close(self) -> None:
        self.sources.heavy.close()

    def of_model(self, model: Model, when: Any, **more: Any) -> Finding:
        model.get("/pnl")  # brings the books up to date
        return self.ask(self.subject(model), when, **more)

    def of_project(self, model: Model, when: Any, **more: Any) -> Finding:
        model.get("/pnl")
        subject = Subject(id=model.project_id, kind="project", name="Project")
        return self.ask(subject, when, **more)

    def of_all(self, when: Any, **more: Any) -> Finding:
        return self.ask(Subject(id=EVERYTHING, kind="all", name="All"), when, **more)

    def ask(
        self,
        subject: Subject,
        when: Any,
        *,
        now: float | None = None,
        memory: Mapping[str, Any] | None = None,
        counts_from: float = 0.0,
        **more: Any,
    ) -> Finding:
        moment = time.time() if now is None else now
        name, asked = self.asked(subject, when, more, memory, counts_from)
        condition = all_conditions.BY_NAME[name]
        if memory is None:  # a new rule
            self.sources.searches.keep(())

        def facts(connection: Connection) -> dict[str, Any]:
            if LINES.name in condition.needs:  # they are searched beside the evaluation
                LINES.gather(Gathering(connection, self.sources, {subject: [asked]}, moment))
                jobs = of_lines.read(connection, self.sources.searches.waiting(moment))
                of_lines.search(self.sources, jobs, 60.0, moment)
            gathering = Gathering(connection, self.sources, {subject: [asked]}, moment)
            found = {one: all_facts.BY_NAME[one].gather(gathering) for one in condition.needs}
            return {one: by_id[subject.id] for one, by_id in found.items() if subject.id in by_id}

        return condition.find(Question(asked, self.service.store.read_now(facts), moment))

    def preview(
        self, model: Model, when: Any, *, now: float | None = None, **more: Any
    ) -> Sequence[Stretch]:
        model.get("/pnl")
        subject, moment = self.subject(model), time.time() if now is None else now
        name, asked = self.asked(subject, when, more, None, 0.0)
        look = all_conditions.BY_NAME[name].preview
        assert look is not None
        return self.service.store.read_now(
            lambda connection: look(
                Past(connection, self.sources, subject, asked, moment - PREVIEWED, moment)
            )
        )

    def subject(self, model: Model) -> Subject:
        tape = self.service.store.read_now(model.tape) or None
        return Subject(id=model.id, kind="model", name="It", project_id=model.project_id, tape=tape)

    def asked(
        self,
        subject: Subject,
        when: Any,
        more: dict[str, Any],
        memory: Mapping[str, Any] | None,
        counts_from: float,
    ) -> tuple[str, Asked]:
        scope: Any = "all" if subject.kind == "host" else subject.kind
        read = rule.read({"name": "It", "when": when} | more, scope)
        return read.condition, Asked(
            rule_id="r1",
            limit=read.limit,
            unit=read.unit,
            lasting=read.lasting,
            options=read.options,
            memory=memory or {},
            counts_from=counts_from,
        )


def about(value: float, within: float | None = None) -> Any:
    """Close enough for doubles."""
    return pytest.approx(value, abs=within)


def order(number: int | str, filled: float | None = 100.0, **more: Any) -> dict[str, Any]:
    """`filled`: the price that it got; None if it says nothing of that."""
    told = {} if filled is None else {"executionPrice": filled}
    return {
        "id": f"o{number}", "symbol": "BTC-USD", "exchange": "kraken", "side": "buy", "size": 1,
        **told, **more,
    }  # fmt: skip


def trade(model: Model, at: float, body: dict[str, Any], kind: str = "spot-market") -> None:
    model.push(f"/v1/live/{kind}", body, headers={"time": repr(at)})


def mark(model: Model, at: float, price: float, symbol: str = "BTC-USD") -> None:
    model.push(
        "/v1/live/mark-price", {"symbol": symbol, "price": price}, headers={"time": repr(at)}
    )


def cash(model: Model, at: float, kind: str, amount: float) -> None:
    model.push("/v1/live/cash", {"type": kind, "amount": amount}, headers={"time": repr(at)})


def fund(model: Model, amount: float, currency: str = "USD") -> None:
    answer = model.owner.client.patch(
        f"/api/models/{model.id}/account",
        json={"capital": {"amount": amount, "currency": currency}},
    )
    assert answer.status_code == 200, answer.text
