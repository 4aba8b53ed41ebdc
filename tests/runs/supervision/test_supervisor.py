"""The supervisor by replayed histories: what was desired, what happened, what was decided."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tapeline.runs.run import Kind, Run
from tapeline.runs.supervision import backtest_queue, supervisor
from tests.runs.supervision.histories import HOST, OTHER, World, a_run


def test_a_desired_run_is_prepared_then_started_then_left_alone() -> None:
    world = World()
    world.want(a_run("a"))
    assert world.settle() == ["prepare a", "start a"]
    assert world.rows["a"].fence == 1


def test_a_newer_run_is_prepared_before_the_older_one_must_end() -> None:
    world = World()
    world.want(a_run("a"))
    world.settle()
    world.want(a_run("b", at=5))
    assert world.tick() == ["prepare b"]
    assert world.alive == {"a"}
    assert world.tick() == ["replace a"]
    assert world.tick() == ["stop a"]
    assert world.settle(5) == [], "b must wait for as long as a lives"
    world.finish("a", "stopped")
    assert world.settle() == ["start b"]
    assert world.rows["b"].fence == 2


def test_an_older_run_goes_on_when_the_newer_one_cannot_be_installed() -> None:
    world = World()
    world.want(a_run("a"))
    world.settle()
    world.want(a_run("b", at=5))
    world.problems["b"] = "no such package"
    assert world.settle() == ["end b failed"]
    assert world.alive == {"a"}


def test_of_many_deploys_at_once_only_the_newest_starts() -> None:
    world = World()
    for number in range(5):
        world.want(a_run(f"r{number}", at=number))
    world.settle()
    assert world.alive == {"r4"}
    assert [world.rows[f"r{one}"].state for one in range(4)] == ["stopped"] * 4


def test_what_is_not_wanted_any_more_is_asked_to_stop_once_and_killed_when_it_does_not() -> None:
    world = World()
    world.want(a_run("a"))
    world.settle()
    world.unwant("a")
    words = world.settle(25)
    assert words[0] == "stop a"
    assert words.count("stop a") == 1
    assert "kill a" in words
    assert words[-1] == "end a stopped"


def test_what_is_unwanted_before_it_starts_never_starts() -> None:
    world = World()
    world.want(a_run("a"))
    world.unwant("a")
    assert world.settle() == ["end a stopped"]


def test_an_installation_is_given_up_when_nobody_wants_it_any_more() -> None:
    world = World()
    world.want(a_run("a", host="here", state="installing"))
    world.preparing.add("a")
    assert world.settle(3) == []
    world.unwant("a")
    assert world.settle(3) == ["cancel a"]
    world.preparing.clear()
    assert world.settle() == ["end a stopped"]


def test_a_live_run_whose_shim_was_killed_is_started_again_under_a_new_fence() -> None:
    world = World()
    world.want(a_run("a"))
    world.settle()
    world.vanish("a")
    assert world.settle() == ["relaunch a", "start a"]
    assert world.rows["a"].fence == 2


def test_a_live_run_whose_shim_keeps_dying_is_given_up() -> None:
    world = World()
    world.want(a_run("a"))
    for _ in range(10):
        world.settle(4)
        world.vanish("a")
    world.settle()
    assert world.rows["a"].state == "crashed"
    assert len(world.launches["a"]) == 5


@pytest.mark.parametrize("kind", ["live", "backtest", "screener"])
def test_a_start_that_nobody_answered_is_made_again_and_is_no_crash(kind: Kind) -> None:
    world = World(unanswered={"a"})
    world.want(a_run("a", kind=kind))
    assert world.settle(2 + 2 * 10) == ["prepare a", *["start a", "relaunch a"] * 10, "start a"]
    world.unanswered.clear()
    assert world.settle() == ["relaunch a", "start a"]
    assert (world.alive, world.rows["a"].restarts) == ({"a"}, 0)


def test_launches_that_were_stopped_are_not_counted_as_failures() -> None:
    """By the end of their leases, or because the server was on hold."""
    world = World()
    world.want(a_run("a"))
    for _ in range(10):
        world.settle(4)
        world.interrupt("a")
    assert world.settle() == ["start a"]


@pytest.mark.parametrize("kind", ["live", "backtest", "screener"])
def test_a_run_that_is_gone_while_its_node_is_late_is_left_to_the_end_of_its_lease(
    kind: Kind,
) -> None:
    """The kernel ended it because of its lease, up to a renewal before the row says so."""
    world = World(lease=6.0)
    world.want(a_run("a", kind=kind))
    world.settle(2)
    world.now += 3.25
    world.vanish("a")
    assert world.settle(10) == []


def test_a_run_that_is_gone_while_its_node_renews_was_killed() -> None:
    world = World(lease=6.0)
    world.want(a_run("a"))
    world.want(a_run("t", kind="backtest", backtest_id="t"))
    world.settle(2)
    world.now += 3.5
    for name in ("a", "t"):
        world.vanish(name)
    assert world.tick() == [], "nobody knows why"
    for name in ("a", "t"):
        world.renew(name)
    assert world.settle(3) == ["relaunch a", "end t crashed", "start a"]


def test_what_was_to_stop_and_is_gone_has_stopped_whatever_its_lease_says() -> None:
    world = World(lease=6.0)
    world.want(a_run("a"))
    world.settle(2)
    world.vanish("a")
    world.unwant("a")
    world.now += 5.0
    assert world.tick() == ["end a stopped"]


def test_decisions_about_many_models_look_at_each_run_a_few_times() -> None:
    world, counted = World(slots=2), Counted()
    for number in range(600):
        live = a_run(f"r{number:03}", model=f"m{number}", at=number, host=HOST)
        world.prepared |= {live.id} if number % 2 else set()
        world.want(live)
        counted.append(live)
    view = replace(world.view(), runs=counted, drained={HOST})
    assert len(supervisor.decide(view)) == 600
    assert counted.looks < 10 * 600


class Counted(list[Run]):
    looks = 0

    def __iter__(self) -> Iterator[Run]:
        for one in super().__iter__():
            self.looks += 1
            yield one

    def __reversed__(self) -> Iterator[Run]:
        for one in super().__reversed__():
            self.looks += 1
            yield one


def test_a_backtest_that_was_killed_is_not_run_twice() -> None:
    world = World()
    world.want(a_run("a", kind="backtest", backtest_id="t"))
    world.settle()
    world.vanish("a")
    assert world.settle() == ["end a crashed"]


def test_nothing_is_done_about_a_run_that_something_is_being_done_about() -> None:
    world = World()
    world.want(a_run("a"))
    world.busy.add("a")
    assert world.settle() == []


def test_another_hosts_run_is_left_to_it_and_waited_for() -> None:
    world = World()
    world.want(a_run("a", host="there", state="running", fence=7))
    world.want(a_run("b", at=1))
    assert world.settle() == ["prepare b", "replace a"]
    assert world.alive == set(), "only the other host knows when its run is gone"
    world.finish("a", "stopped")
    assert world.settle() == ["start b"]


@pytest.mark.parametrize("held", ["all", "m"])
def test_while_on_hold_nothing_runs_and_after_it_everything_goes_on(held: str) -> None:
    world = World()
    world.want(a_run("a"))
    world.want(a_run("other", model="n"))
    world.settle()
    world.holds.add(held)
    stopped = {"all": ["stop a", "stop other"], "m": ["stop a"]}[held]
    assert world.settle(5) == stopped
    for name in [one.removeprefix("stop ") for one in stopped]:
        world.interrupt(name)
    world.want(a_run("b", at=5))
    assert world.settle(5) == ["end a stopped"], "a newer deployment is noted, and not started"
    world.holds.clear()
    assert "start b" in world.settle()
    assert world.alive == {"b", "other"}


@pytest.mark.parametrize(("held", "stopped"), [("m", "a"), ("t", "t")])
def test_a_hold_on_a_model_leaves_its_backtests_alone_and_one_on_a_backtest_its_model(
    held: str, stopped: str
) -> None:
    world = World()
    world.want(a_run("a"))
    world.want(a_run("t", kind="backtest", backtest_id="t"))
    world.settle()
    world.holds.add(held)
    assert world.settle(5) == [f"stop {stopped}"]


def test_what_is_unwanted_ends_while_on_hold() -> None:
    world = World(holds={"all"})
    world.want(a_run("a"))
    assert world.settle(3) == []
    world.unwant("a")
    assert world.settle() == ["end a stopped"]


def test_a_screener_waits_until_it_is_due() -> None:
    world = World()
    world.want(a_run("s", kind="screener", due_at=10.0, schedule="* * * * *"))
    assert world.settle(9) == []
    assert world.settle(3) == ["prepare s", "start s"]


def test_backtests_run_as_many_at_once_as_there_are_slots() -> None:
    world = World(slots=2)
    for number in range(5):
        world.want(a_run(f"t{number}", model=f"m{number}", kind="backtest", at=number))
    world.settle()
    assert world.alive == {"t0", "t1"}
    world.finish("t0")
    world.settle()
    assert world.alive == {"t1", "t2"}


def test_a_backtest_takes_a_slot_for_each_core_of_its_plan() -> None:
    plans = (250, 2000, 250, 4000)
    waiting = [
        a_run(f"t{at}", model=f"m{at}", kind="backtest", at=at, cpu_milli=cpu)
        for at, cpu in enumerate(plans)
    ]
    for slots, expected in ((1, {"t0"}), (3, {"t0", "t1"}), (4, {"t0", "t1", "t2"})):
        assert backtest_queue.chosen(waiting, {}, {}, ["here"], slots) == expected
    assert backtest_queue.chosen(waiting[3:], {}, {}, ["here"], 2) == {"t3"}, "alone, but it runs"


def test_a_backtest_that_no_host_could_take_leaves_its_slot_to_the_next() -> None:
    waiting = [a_run(one, model=one, kind="backtest", at=at) for at, one in enumerate("ab")]
    before = backtest_queue.chosen(waiting, {}, {}, ["here"], 1)
    after = backtest_queue.chosen(waiting, {}, {}, ["here"], 1, passed_over={"a"})
    assert (before, after) == ({"a"}, {"b"})


def test_one_projects_many_backtests_do_not_keep_another_project_waiting() -> None:
    world = World(slots=2)
    for number in range(50):
        world.want(a_run(f"t{number:02}", model="m", kind="backtest", at=number), project="many")
    world.settle()
    world.want(a_run("x", model="n", kind="backtest", at=99), project="few")
    world.finish("t00")
    world.settle()
    assert world.alive == {"t01", "x"}


def test_many_projects_of_one_tenant_do_not_keep_another_tenants_backtest_waiting() -> None:
    world = World(slots=2, tenants={f"p{number}": "many" for number in range(50)} | {"q": "few"})
    for number in range(50):
        backtest = a_run(f"t{number:02}", model=f"m{number}", kind="backtest", at=number)
        world.want(backtest, project=f"p{number}")
    world.settle()
    world.want(a_run("x", model="n", kind="backtest", at=99), project="q")
    world.finish("t00")
    world.settle()
    assert world.alive == {"t01", "x"}


def test_backtests_of_a_model_do_not_disturb_what_is_deployed_of_it() -> None:
    world = World()
    world.want(a_run("a"))
    world.want(a_run("t", kind="backtest", at=1))
    world.settle()
    assert world.alive == {"a", "t"}


@pytest.mark.parametrize("seed", range(200))
def test_no_history_leads_to_two_live_instances(seed: int) -> None:
    """Random deploys, stops, deaths, slow installations and forgetful servers; `World` checks."""
    chance, world = random.Random(seed), World()
    for step in range(120):
        names = [name for name, run in world.rows.items() if run.ended_at is None]
        match chance.randrange(8):
            case 0:
                world.want(a_run(f"r{step:03}", at=world.now))
            case 1 if names:
                world.unwant(chance.choice(names))
            case 2 if world.alive:
                world.vanish(chance.choice(sorted(world.alive)))
            case 3 if world.alive:
                world.finish(chance.choice(sorted(world.alive)), "crashed")
            case 4:  # the server is killed: all it remembered is gone
                world.prepared.clear()
                world.stopping.clear()
            case 5 if names:
                world.busy = {chance.choice(names)}
        world.tick(chance.choice([0.1, 1.0, 5.0]))
        world.busy = world.busy if chance.random() < 0.5 else set()
    world.busy = set()
    world.settle(60)
    wanted = [run for run in world.rows.values() if run.ended_at is None]
    assert all(run.id in world.alive for run in wanted), "whatever is wanted runs in the end"


def test_a_drained_host_takes_no_run_and_goes_on_with_its_own() -> None:
    world = World(drained={HOST})
    world.want(a_run("new"))
    world.want(a_run("test", model="n", kind="backtest"))
    assert world.settle() == []
    world.drained.clear()
    assert sorted(world.settle()) == ["prepare new", "prepare test", "start new", "start test"]


def test_live_models_of_a_drained_host_move_one_by_one_when_their_successors_are_ready() -> None:
    world = World()
    for model in ("x", "y"):
        world.want(a_run(model, model=model))
    world.settle()
    world.drained.add(HOST)
    assert world.settle(5) == ["move x"], "one at a time"
    assert world.alive == {"x", "y"}
    world.change("x'", host="there", state="installing")
    assert world.settle(5) == [], "it goes on until the other host is ready"
    world.change("x", desired="stopped", reason="Run x' took its place.")  # the other host did that
    assert world.tick() == ["move y", "stop x"]
    world.finish("x", "stopped")
    world.change("x'", fence=2)
    assert world.settle(5) == []


def test_the_models_of_each_drained_host_move_one_at_a_time_to_those_that_are_left() -> None:
    world = World(hosts=(HOST, OTHER, "third"))
    for model in ("x", "y", "z"):
        host = OTHER if model == "z" else HOST
        world.want(a_run(model, model=model, host=host))
    world.settle()
    world.drained = {HOST, OTHER}
    assert sorted(world.tick()) == ["move x", "move z"], "one of each"
    assert sorted(world.tick()) == ["prepare x'", "prepare z'"]
    assert {world.rows[name].host for name in ("x'", "z'")} == {"third"}
    assert sorted(world.tick()) == ["replace x", "replace z"]
    assert sorted(world.tick()) == ["move y", "stop x", "stop z"]
    for name in ("x", "z"):
        world.finish(name, "stopped")
    assert sorted(world.tick())[-2:] == ["start x'", "start z'"]


def test_the_runs_of_all_our_hosts_are_decided_about_and_share_the_slots() -> None:
    world = World(slots=2, hosts=(HOST, OTHER))
    world.want(a_run("a", host=OTHER))
    for number in range(3):
        world.want(a_run(f"t{number}", kind="backtest", at=number, host=(None, OTHER)[number == 0]))
    world.settle()
    assert world.alive == {"a", "t0", "t1"}
    world.vanish("a")
    assert world.settle() == ["relaunch a", "start a"]


def test_what_is_stopped_or_waits_on_a_drained_host_does_not_move() -> None:
    world = World()
    world.want(a_run("a"))
    world.want(a_run("s", model="s", kind="screener", due_at=1e9))
    world.settle()
    world.drained.add(HOST)
    world.unwant("a")
    assert [one for one in world.settle(5) if one.startswith("move")] == []


def test_a_run_whose_python_this_host_lacks_is_left_to_others() -> None:
    world = World(pythons=frozenset())
    world.want(a_run("a"))
    assert world.settle() == []
    world.pythons = frozenset({a_run("a").python_version})
    assert world.settle() == ["prepare a", "start a"]
