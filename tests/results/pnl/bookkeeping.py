"""A tape of its own, appended to and kept books of, without a server in between."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, insert

from tapeline.ids import new_id
from tapeline.results.charts.chart_window import Window
from tapeline.results.pnl import planning, quoted_fills, summary
from tapeline.results.pnl.books import Plan, carry_out
from tapeline.results.pnl.summary import Pnl
from tapeline.store.store import Store
from tapeline.store.tables import core
from tapeline.tape import tapes
from tapeline.tape.append.appending import Appender
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.proof.signer import Signer
from tapeline.tape.reading import order_list
from tapeline.tape.reading.order_list import Filter

Opened = tuple[Store, Appender]
BY_NAME = {kind.name: kind for kind in kinds.KINDS}


def appender_in(folder: Path) -> Appender:
    folder.mkdir(exist_ok=True)
    return Appender(Signer(folder))


def new_model(connection: Connection, positions: str) -> tuple[str, int]:
    owner, model = new_id(), new_id()
    project = {"id": owner, "name": "p", "description": "", "created_at": 0.0}
    connection.execute(insert(core.projects).values(**project))
    connection.execute(
        insert(core.models).values(
            id=model,
            project_id=owner,
            name="m",
            type="strategy",
            description="",
            created_at=0.0,
            positions=positions,
        )
    )
    return model, tapes.open_tape(connection, model)


@dataclass
class Books:
    """One model's tape and its books."""

    store: Store
    appender: Appender
    positions: str = "signed"
    model: str = ""
    tape: int = 0
    plans: list[Plan] = field(default_factory=list)
    received_at: float = 1.0

    def __post_init__(self) -> None:
        self.model, self.tape = self.store.write_now(new_model, self.positions)

    def push(self, *said: tuple[float, str, dict[str, Any]]) -> None:
        events = [self._event(*one) for one in said]
        refusals, _ = self.store.write_now(self.appender.append, [Submission(events, None)])
        assert refusals == [None]

    def backtest(self, result: dict[str, Any]) -> None:
        body = {"backtest_id": new_id(), **result}
        event = self._event(1.0, "backtest-result", body)
        event.backtest_id = body["backtest_id"]
        self.store.write_now(self.appender.append, [Submission([event], None)])

    def _event(self, time: float, name: str, body: dict[str, Any]) -> Event:
        content = msgspec.json.encode(body, order="deterministic")
        return Event(
            tape=self.tape, kind=BY_NAME[name], fields=dict(body), body=content, time=time,
            received_at=self.received_at,
        )  # fmt: skip

    def keep(self) -> list[Plan]:
        """Bring the books up to date; what that took."""
        done = []
        while (plan := self.store.read_now(planning.plan, self.tape, 2**62)) is not None:
            assert self.store.write_now(carry_out, plan)
            done.append(plan)
        return done

    def pnl(self, points: int = 1000, window: Window | None = None, **more: Any) -> Pnl:
        self.keep()
        wanted = {"currency": None, **more}
        return self.store.read_now(
            summary.shown, self.tape, self.model, window=window or Window(), points=points, **wanted
        )

    def orders(self) -> dict[str, dict[str, Any]]:
        self.keep()

        def look(connection: Connection) -> Iterable[dict[str, Any]]:
            items, _ = order_list.listed(connection, self.tape, Filter(), before=None, limit=1000)
            return quoted_fills.with_fills(connection, self.tape, items)

        return {one["id"]: one for one in self.store.read_now(look)}
