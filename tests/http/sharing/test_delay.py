"""Nothing that happens within a link's delay changes any of its answers.

Time stands still for the links, and every answer must stay the same to the last byte, whatever
happens after the moment that they look at: a world in which something went on and one that was
silent cannot be told apart.
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, insert, select

from tapeline.background import Background
from tapeline.store.tables.roots import head_trees
from tapeline.store.tables.witnesses import cosignatures
from tapeline.tape.roots.rounds import Roots
from tests.conftest import Person, Service
from tests.http.sharing.hidden_worlds import (
    VALUES,
    World,
    backtest,
    report,
    that_must_look_the_same,
)
from tests.http.sharing.scene import DAY, RESULT, START, Link, look_back_from, shared
from tests.http.sharing.test_public_api import ADDRESSES
from tests.http.view.test_results_api import add_run
from tests.pushing import Model, pushing
from tests.tape.roots.authority import Authority, serving
from tests.waiting import wait_for

HOURS = 7
WORLD = World()
OTHER = that_must_look_the_same({"hide_symbols": True, "hide_sizes": True})
RISING = [54_321.98 + 97.37 * n - 311.19 * (n % 4 == 3) for n in range(40)]


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    shared_service.services.watchers.close()  # so that streams end after what there is
    return shared_service


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("tsa") / "authority"
    with serving(Authority(folder)) as address:
        yield address


@dataclass(frozen=True)
class Scene:
    """Two models, one of them silent, and all links of them with a delay."""

    model: Model
    silent: Model
    links: list[Link]
    moment: float
    authority: str

    def write(self, act: Callable[..., Any], *given: Any, **more: Any) -> None:
        self.model.service.store.write_now(act, *given, **more)

    def addresses(self) -> Iterator[str]:
        for link in self.links:
            yield from (path.replace("{token}", link.token) for path in ADDRESSES)
            yield f"/api/shared/{link.token}/curve?from={self.moment + 30}"


@pytest.fixture
def scene(
    service: Service,
    enter: Callable[[str], Person],
    authority: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Scene]:
    owner = enter("ada")
    with (
        pushing(service, owner) as model,
        pushing(service, owner) as silent,
        service.client() as stranger,
    ):
        report(model, WORLD)
        result(model, "b-replaced", VALUES[::-1])
        model.push("/v1/backtest/log", {"backtest_id": "b-begun", "line": "begun"})
        before = time.time()
        service.store.write_now(
            add_run, model.id, 1, started_at=before - 9, ended_at=before - 5, reason="Crashed"
        )
        model.get("/tape/seals")
        stamp(service, authority)
        links = [
            *(shared(model, stranger, title="Mine", delay_hours=HOURS, **one) for one in (
                {}, {"hide_symbols": True}, {"backtest_id": WORLD.backtest_id},
                {"backtest_id": "b-begun"},
            )),
            shared(silent, stranger, title="Mine", delay_hours=HOURS),
        ]  # fmt: skip
        time.sleep(0.01)
        moment = time.time()
        look_back_from(monkeypatch, moment + HOURS * 3600)
        wait_for(lambda: int(time.time()) > moment)  # stamps are in whole seconds
        yield Scene(model, silent, links, moment, authority)


def stamp(service: Service, authority: str, *, anew: bool = True) -> None:
    """A tree of the heads as they are, or the newest that there is, stamped and signed by one
    more."""
    settings = replace(
        service.services.settings, timestamps=authority, timestamp_minutes=0 if anew else 60
    )
    roots = Roots(settings, service.store, service.services.inbox.appender, Background())
    asyncio.run(roots.turn())
    (asked,) = roots.authorities
    assert asked.failures == 0, asked.last_error
    service.store.write_now(sign_as_a_witness)


def sign_as_a_witness(connection: Connection) -> None:
    newest = connection.execute(
        select(head_trees.c.log, head_trees.c.entry).order_by(head_trees.c.at.desc()).limit(1)
    ).one()
    name = f"witness-{time.time_ns()}"
    row = {"log": newest.log, "entry": newest.entry, "name": name, "public_key": "ab" * 32}
    line = f"\u2014 {name} c2lnbmF0dXJl\n"
    connection.execute(insert(cosignatures).values(**row, line=line, at=time.time()))


def result(model: Model, name: str, values: list[float]) -> None:
    points = [{"time": START + n * DAY, "value": one} for n, one in enumerate(values)]
    said = RESULT | {"backtest_id": name, "account_values": points, "trades": []}
    model.push("/v1/backtest/result", said)
    model.get(f"/backtests/{name}/round-trips")  # its report is made


def silence(scene: Scene) -> None:
    """The head stays, and a new tree with it."""
    stamp(scene.model.service, scene.authority)


def late_confirmations(scene: Scene) -> None:
    """Others confirm the tree from before the moment only now."""
    stamp(scene.model.service, f"{scene.authority}?late", anew=False)


def one_event(scene: Scene) -> None:
    scene.model.push("/v1/live/log", {"line": "hidden"})
    stamp(scene.model.service, scene.authority)


def runs(scene: Scene) -> None:
    moment, model = scene.moment, scene.model.id
    scene.write(add_run, model, 1, new=False, started_at=moment + 20, ended_at=moment + 60)
    scene.write(add_run, model, 2, started_at=moment + 70, ended_at=None, state="running")


def first_results(scene: Scene) -> None:
    """A backtest from before the moment has its result, and one is new."""
    result(scene.model, "b-begun", RISING)
    result(scene.model, "b-new", RISING[::-1])


def another_result(scene: Scene) -> None:
    result(scene.model, "b-replaced", RISING)


def deleted_backtest(scene: Scene) -> None:
    answer = scene.model.owner.delete(f"/api/models/{scene.model.id}/backtests/b-replaced")
    assert answer.status_code in (200, 204), answer.text


def everything(scene: Scene) -> None:
    for model in (scene.model, scene.silent):
        report(model, OTHER)
    backtest(scene.silent, WORLD)


def changes_after_the_fact(scene: Scene) -> None:
    """Of orders, prices and cash that the links show."""
    word, first = WORLD.word, WORLD.symbols[0]

    def push(kind: str, **body: object) -> None:
        headers = {"time": str(START + DAY)}
        scene.model.push(f"/v1/live/{kind}", body, headers=headers)

    push("update-trade", id=f"{word}-1", executionPrice=17.0, fee=3.0)
    push("update-trade", id=f"{word}-4", status="canceled")
    push("update-annotation", id=f"{word}-1", annotation="hidden")
    push("mark-price", symbol=first, price=19.0)
    push("cash", type="funding", amount=23.0, id=f"{word}-funding-3.25", currency="USD")
    push("position", symbol=first, size=29.0, average_price=31.0)
    push("set-pnl", values=[{"time": START, "value": 37.0}])
    push("auto-pnl", enabled=False)


def settings(scene: Scene) -> None:
    for model in (scene.model, scene.silent):
        capital = {"amount": 1234.5, "currency": "EUR"}
        change(model, f"/api/models/{model.id}/account", positions="long_only", capital=capital)


def names(scene: Scene) -> None:
    model = f"/api/models/{scene.model.id}"
    change(scene.model, model, name="Hidden", description="hidden")
    words = {"label": "hidden", "description": "hidden"}
    change(scene.model, f"{model}/backtests/{WORLD.backtest_id}", **words)


def change(model: Model, address: str, **fields: Any) -> None:
    answer = model.owner.patch(address, json=fields)
    assert answer.status_code == 200, answer.text


def watch(scene: Scene) -> None:
    """A rule, and a halt."""
    project, owner = f"/api/projects/{scene.model.project_id}", scene.model.owner
    for address, body in (
        ("rules", {"name": "hidden", "when": "crashed", "model_id": scene.model.id}),
        ("halt", {"why": "hidden"}),
    ):
        answer = owner.post(f"{project}/{address}", json=body)
        assert answer.status_code == 200, answer.text


HAPPENING: dict[str, tuple[Callable[[Scene], None], ...]] = {
    "silence": (late_confirmations, silence),
    "events": (
        one_event, runs, first_results, another_result, settings, changes_after_the_fact,
        everything,
    ),
    "what owners do": (names, watch, deleted_backtest),
}  # fmt: skip
"""Answers are compared after each of them, which takes most of the time."""


def said(client: httpx.Client, path: str) -> tuple[int, dict[str, str], list[bytes]]:
    answer = client.get(path, headers={"Last-Event-ID": "0"})
    made_at = re.compile(rb"<br>\d{4}-\d\d-\d\d \d\d:\d\d UTC")  # when a tear sheet was written
    lines = made_at.sub(b"", answer.content).splitlines()
    headers = {name: value for name, value in answer.headers.items() if name != "date"}
    return answer.status_code, headers, lines


@pytest.mark.heavy
def test_nothing_that_happens_within_the_delay_changes_any_answer(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = scene.links[0].client
    look = partial(said, stranger)
    seen = {path: look(path) for path in scene.addresses()}
    heads = [link.get().json() for link in scene.links]
    assert heads[0]["seals"]["stamped"] > 0
    assert heads[2]["trials"]["count"] == 2
    assert b'"stamps":[{' in scene.links[0].get("/record").content
    for what, several in HAPPENING.items():
        for happen in several:
            happen(scene)
        assert [path for path, answer in seen.items() if look(path) != answer] == [], what
    # All of it is there when the delay is over.
    stamp(scene.model.service, scene.authority)
    look_back_from(monkeypatch, time.time() + 2 + HOURS * 3600)
    later = [link.get().json() for link in scene.links]
    assert later[2]["trials"]["count"] == 5
    for before, after in zip(heads, later, strict=True):
        assert before != after
        assert before.get("seals", {}).get("stamped_at") != after["seals"]["stamped_at"]
