"""Three servers behind nginx for ten minutes, one of them always in trouble: killed, killed with
its models, frozen, cut off from PostgreSQL, upgraded."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import create_engine, make_url, text

from tapeline.runs.supervision import schedule
from tests import needs
from tests.acceptance.fleet import COUNTING, Fleet, Member, fleet
from tests.acceptance.loads import Running, all_kinds, assert_complete, under
from tests.acceptance.next_version import next_version
from tests.acceptance.test_drill import assert_counted_from_the_start_each_time
from tests.acceptance.test_survival import numbers, running
from tests.archives import zipped
from tests.waiting import wait_for

pytestmark = [pytest.mark.slow, needs.root("needs models of its own")]

SECONDS = 600.0
FROZEN_FOR = 30.0
TOLD_WITHIN = 10.0
PATIENCE = 120.0
EVERY_MINUTE = "* * * * *"
LOOKED_EVERY = 0.25  # seconds; looking at all processes takes some time


@dataclass
class Fire:
    """What is under fire, and what was found out so far."""

    fleet: Fleet
    loads: Running
    models: list[dict[str, Any]]
    """The first is the first member's, and so on."""
    upgraded: Path
    """The code of the next version."""
    is_upgraded: bool = False
    told: list[tuple[str, float]] = field(default_factory=list)
    """How long it took until all others told the truth."""
    troubles: list[tuple[str, float, float]] = field(default_factory=list)
    """Which host was in trouble, from when to when."""

    def is_told(self, victim: Member, since: float, fault: str) -> None:
        model = self.models[self.fleet.members.index(victim)]
        said = self.fleet.say(victim.name)
        wait_for(lambda: said.is_unreachable(model), PATIENCE)
        self.told.append((fault, time.monotonic() - since))
        for other in self.fleet.others(victim):
            assert _ps(other, model["modelId"])["state"] == "unreachable"
            assert _hosts(other, self.package)[victim.name]["state"] == "unreachable"

    @property
    def package(self) -> Path | None:
        """What servers and operators' commands need: this version refuses a database that the next
        one has upgraded."""
        return self.upgraded if self.is_upgraded else None

    def is_over(self, victim: Member) -> None:
        """Its model is heard again, all get on, and every server calls it well."""
        model = self.models[self.fleet.members.index(victim)]
        before = len(numbers(self.fleet.trader, model["modelId"]))
        wait_for(lambda: self._is_heard(model, before), PATIENCE)
        for one in self.fleet.members:
            wait_for(lambda one=one: _is_well(one, victim.name), PATIENCE)
        self.loads.get_on()

    def _is_heard(self, model: dict[str, Any], before: int) -> bool:
        with suppress(httpx.TransportError):
            return len(numbers(self.fleet.trader, model["modelId"])) > before
        return False


def killed(fire: Fire, victim: Member) -> None:
    since = time.monotonic()
    victim.kill()
    fire.is_told(victim, since, "killed")
    fire.loads.get_on()
    victim.start(fire.package)


def killed_with_its_models(fire: Fire, victim: Member) -> None:
    since = time.monotonic()
    victim.kill(with_shims=True)
    fire.is_told(victim, since, "killed with its models")
    fire.loads.get_on()
    victim.start(fire.package)


def frozen(fire: Fire, victim: Member) -> None:
    since = time.monotonic()
    with victim.frozen():
        fire.is_told(victim, since, "frozen")
        fire.loads.get_on()
        time.sleep(max(0.0, since + FROZEN_FOR - time.monotonic()))


def cut_off(fire: Fire, victim: Member) -> None:
    since = time.monotonic()
    with victim.cut_off():
        fire.is_told(victim, since, "cut off")
        fire.loads.get_on()


def leader_frozen(fire: Fire, _victim: Member) -> None:
    """Another one leads within ten seconds, and goes on when this one wakes up."""
    wait_for(lambda: any(one.leads() for one in fire.fleet.members), PATIENCE)
    leader = next(one for one in fire.fleet.members if one.leads())
    since, begun = time.monotonic(), time.time()
    with leader.frozen():
        wait_for(lambda: any(one.leads() for one in fire.fleet.others(leader)), PATIENCE)
        fire.told.append(("another one leads", time.monotonic() - since))
        following = next(one for one in fire.fleet.others(leader) if one.leads())
    assert not leader.leads()
    assert following.leads()
    fire.is_over(leader)
    fire.troubles.append((leader.name, begun, time.time()))


def upgraded(fire: Fire, victim: Member) -> None:
    """The others go on with the version before, until it is their turn."""
    victim.server.end()
    fire.is_upgraded = True
    victim.start(fire.package)


FAULTS: tuple[Callable[[Fire, Member], None], ...] = (
    upgraded,
    killed_with_its_models,
    killed,
    frozen,
    cut_off,
    leader_frozen,
    killed,
)
"""Seven, so that each of three servers meets each of them in time."""


@pytest.fixture
def trio(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    postgres_server: str,
    postgres_template: str,
) -> Iterator[Fleet]:
    short = tmp_path_factory.mktemp("c")
    with fleet(tmp_path, short, postgres_server, 3, postgres_template) as made:
        yield made


def test_ten_minutes_under_fire(trio: Fleet, tmp_path: Path) -> None:
    names = [f"only-one-{number}" for number in range(len(trio.members))]
    models = [_deploy(trio, member, name) for member, name in zip(trio.members, names, strict=True)]
    screener = _deploy_screener(trio)
    key = trio.key()
    loads = all_kinds(trio.address, key, trio.token, tmp_path / "outbox")
    with ExitStack() as ending:
        ending.enter_context(_never_two(names))
        under_way = ending.enter_context(under(*loads))
        fire = Fire(trio, under_way, models, next_version(tmp_path / "next"))
        _set_fire(fire)
    assert_complete(trio.tape(key["model_id"]), loads)
    for model in models:
        assert_counted_from_the_start_each_time(numbers(trio.trader, model["modelId"]))
    _assert_ticked_once(fire, screener["modelId"])
    print(*(f"{fault}: {took:.1f} s" for fault, took in fire.told), sep="\n")  # noqa: T201
    assert max(took for _, took in fire.told) < TOLD_WITHIN


def _set_fire(fire: Fire) -> None:
    until = time.monotonic() + SECONDS
    members = cycle(fire.fleet.members)
    for fault in cycle(FAULTS):
        if time.monotonic() > until:
            return
        victim, begun = next(members), time.time()
        print(time.strftime("%T"), fault.__name__, flush=True)  # noqa: T201 - minutes
        fault(fire, victim)
        fire.is_over(victim)
        fire.troubles.append((victim.name, begun, time.time()))


def _deploy(trio: Fleet, member: Member, name: str) -> dict[str, Any]:
    archive = zipped({f"{name}.py": COUNTING}, main_script=f"{name}.py")
    deployed = trio.deploy_on(member, archive=archive)
    trio.trader.wait_for_line(deployed["modelId"], "number 1")
    return deployed


def _deploy_screener(trio: Fleet) -> dict[str, Any]:
    archive = zipped(
        {"main.py": "print('ticked')"}, type="screener", screener={"schedule": EVERY_MINUTE}
    )
    return trio.trader.deploy("", archive=archive, type="screener")


def _ps(member: Member, model: str) -> dict[str, Any]:
    found = member.command("ps", TAPELINE_URL=member.address, TAPELINE_TOKEN=member.token)
    run: dict[str, Any] = next(one["run"] for one in found if one["id"] == model)
    return run


def _hosts(member: Member, package: Path | None) -> dict[str, dict[str, Any]]:
    return {one["host"]: one for one in member.command("hosts", package=package)}


def _is_well(member: Member, host: str) -> bool:
    with suppress(httpx.TransportError, AssertionError):
        hosts = member.get("/api/health")["hosts"]
        return any(one["name"] == host and one["state"] == "well" for one in hosts)
    return False


@contextmanager
def _never_two(names: list[str]) -> Iterator[None]:
    """Watch the machine, which is that of all servers here."""
    most, over = Counter[str](), threading.Event()

    def watch() -> None:
        while not over.wait(LOOKED_EVERY):
            for name in names:
                most[name] = max(most[name], len(running(name)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    assert most == dict.fromkeys(names, 1)


def _assert_ticked_once(fire: Fire, model: str) -> None:
    """Each tick has one run, and none is left out but while the host of the one before was in
    trouble: only that host knows that it has ended."""
    database = make_url(fire.fleet.members[0].variables["TAPELINE_DATABASE"])
    engine = create_engine(database.set(drivername="postgresql+psycopg"))
    query = text(
        "select due_at, ended_at, host, state, id from runs where model_id = :model order by due_at"
    )
    with engine.connect() as connection:
        runs = connection.execute(query, {"model": model}).all()
    engine.dispose()
    assert len(runs) > SECONDS / 60 / 2
    assert len({one.due_at for one in runs}) == len(runs), "a tick ran twice"
    for before, run in pairwise(runs):
        expected = schedule.next_after(EVERY_MINUTE, before.due_at)
        in_trouble = any(
            host == before.host and begun < run.due_at and ended > before.due_at
            for host, begun, ended in fire.troubles
        )
        assert run.due_at == expected or in_trouble, f"{expected} is left out: {before}"
    lines = Counter(
        event["run_id"] for event in fire.fleet.tape(model) if event["body"].get("line") == "ticked"
    )
    assert all(lines[one.id] == 1 for one in runs if one.state == "exited")
    assert max(lines.values()) == 1
