"""Who may install next: shares, turns and slices, without anything that is installed."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from tapeline.runs.supervision.install_places import (
    MOST,
    NEW,
    PER_PROJECT,
    PER_TENANT,
    SLICE,
    InstallPlaces,
    Queue,
)
from tests.examples import some

STEP = 5.0  # seconds
FOR_EVER = 1e9


def places(most: int = MOST) -> InstallPlaces:
    return InstallPlaces(most, clock=lambda: 0.0)


def test_a_project_cannot_take_more_than_its_share_however_many_it_asks_for() -> None:
    made = places()
    for number in range(20):
        made.ask(f"theirs-{number}", "theirs", "mallory")
    assert made.admit() == ["theirs-0", "theirs-1"]
    made.ask("mine", "mine", "ada")
    assert made.admit() == ["mine"]
    made.leave("theirs-1")
    assert made.admit() == ["theirs-2"]


def test_many_projects_of_one_tenant_leave_places_for_others() -> None:
    made = places()
    for number in range(8):
        made.ask(f"theirs-{number}", f"project-{number}", "mallory")
    assert len(made.admit()) == 4
    made.ask("mine", "mine", "ada")
    assert made.admit() == ["mine"]


def test_projects_take_turns_and_the_one_with_the_fewest_is_first() -> None:
    made = places(most=3)
    for number in range(3):
        made.ask(f"a{number}", "a", "ada")
    for number in range(2):
        made.ask(f"b{number}", "b", "bob")
    assert made.admit() == ["a0", "b0", "a1"]
    made.ask("c0", "c", "cy")
    made.leave("a0")
    assert made.admit() == ["c0"], "it has none yet"
    made.leave("c0")
    assert made.admit() == ["b1"], "b and a have one each, and a had its turn later"


def test_a_run_that_stops_waiting_is_passed_over_and_forgotten() -> None:
    made = places(most=1)
    for name in ("first", "second", "third"):
        made.ask(name, name, name)
    assert made.admit() == ["first"]
    made.leave("second")
    made.leave("unknown")
    made.leave("first")
    assert made.admit() == ["third"]
    made.leave("third")
    assert made.queue() == Queue()


def test_the_queue_says_how_long_the_oldest_has_waited() -> None:
    now = 100.0
    made = InstallPlaces(1, 1, 1, clock=lambda: now)
    for name in ("first", "second", "third"):
        made.ask(name, name, name)
        now += 10
    made.admit()
    assert made.queue() == Queue(running=1, waiting=2, longest=20.0)


@dataclass
class Build:
    tenant: str
    project: str
    seconds: float
    slices: int = 0
    since: float | None = None
    """When its present try began."""


@dataclass
class Host:
    """Builds that take their time on a clock of their own."""

    now: float = 0.0
    builds: dict[str, Build] = field(default_factory=dict)
    ended: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.places = InstallPlaces(clock=lambda: self.now)

    def ask(self, name: str, tenant: str, project: str, seconds: float) -> None:
        self.builds[name] = build = Build(tenant, project, seconds)
        self.places.ask(name, build.project, tenant)
        self._admit()

    def step(self) -> None:
        self.now += STEP
        for name, build in list(self.builds.items()):
            if build.since is not None and self.now - build.since >= build.seconds:
                self.ended[name] = self.now
                del self.builds[name]
                self.places.leave(name)
        if name := self.places.overdue() or "":
            back = self.builds[name]
            self.places.leave(name)
            back.slices, back.since = back.slices + 1, None
            self.places.ask(name, back.project, back.tenant, back.slices)
        self._admit()

    def until_ended(self, name: str, within: float) -> None:
        last = self.now + within
        while name not in self.ended:
            assert self.now < last, f"{name} still waits after {within:,.0f} s"
            self.step()

    def _admit(self) -> None:
        for name in self.places.admit():
            self.builds[name].since = self.now
        self._check()

    def _check(self) -> None:
        running = [build for build in self.builds.values() if build.since is not None]
        assert len(running) <= MOST
        for build in running:
            assert sum(one.tenant == build.tenant for one in running) <= PER_TENANT
            assert sum(one.project == build.project for one in running) <= PER_PROJECT
        assert self.places.queue().running == len(running)
        assert self.places.queue().waiting == len(self.builds) - len(running)


spreads = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 3)), max_size=30)
"""Of each tenant: how many projects, and how many builds in each."""


def crowd(host: Host, spread: list[tuple[int, int]]) -> None:
    """Tenants whose builds never end."""
    for tenant, (projects, builds) in enumerate(spread):
        for project in range(projects):
            for build in range(builds):
                name = f"{tenant}.{project}"
                host.ask(f"{name}.{build}", f"tenant {tenant}", name, FOR_EVER)


@given(spreads, st.floats(0, 4 * 3600))
@settings(max_examples=some(40))
def test_a_short_build_waits_for_other_newcomers_at_most(
    spread: list[tuple[int, int]], before: float
) -> None:
    """However many tenants build for ever, and however long they have."""
    host = Host()
    crowd(host, spread)
    while host.now < before:
        host.step()
    new = {one.tenant for one in host.builds.values() if not one.slices}
    host.ask("honest", "ada", "her project", SLICE / 2)
    in_a_round = MOST // NEW
    host.until_ended("honest", within=(2 + len(new) // in_a_round) * (SLICE + MOST * STEP))


def test_a_long_build_ends_even_if_others_never_leave_the_line() -> None:
    host = Host()
    crowd(host, [(1, 1)] * 20)
    host.ask("honest", "ada", "her project", 600.0)
    host.until_ended("honest", within=6 * 3600)


def test_nobody_is_put_back_for_their_own_tenant_or_while_there_is_room() -> None:
    host = Host()
    crowd(host, [(5, 3)])
    for _ in range(1_000):
        host.step()
    assert not any(build.slices for build in host.builds.values())


def test_a_tenant_with_a_place_does_not_take_one_from_a_tenant_with_two() -> None:
    """They would only swap their roles, and begin again and again."""
    host = Host()
    crowd(host, [(1, 2)] * 3 + [(2, 1)] * 1)
    host.ask("ada 0", "ada", "a", FOR_EVER)
    assert host.places.queue().waiting == 1
    for _ in range(50):
        host.step()
    slices = {name: build.slices for name, build in host.builds.items()}
    assert slices.pop("ada 0") == 0
    assert sum(slices.values()) == 1, "one made room for her first"
    host.ask("ada 1", "ada", "b", FOR_EVER)
    for _ in range(1_000):
        host.step()
    assert sum(build.slices for build in host.builds.values()) == 1
