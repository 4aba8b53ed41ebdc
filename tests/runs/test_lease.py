"""A shim ends its model by itself when its lease was not renewed, whoever else is frozen."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from tapeline.runs.engines import shims
from tapeline.runs.sandbox.box import LeaseTerms, Policy
from tapeline.runs.shim import tree
from tests.runs.conftest import Launched, Pad, alive
from tests.waiting import SLOW_MACHINE, wait_for

COUNTING = """
    import time
    while True:
        print(time.clock_gettime(time.CLOCK_BOOTTIME), flush=True)
        time.sleep(0.005)
"""
NAME, FENCE = "leased", 7
BEFORE = 3.0  # seconds for which a model may not be seen to run, on a busy machine
BEYOND = 0.9  # seconds after the deadline, on a busy machine; the margin of a lease is one


def now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Node:
    """What a node's process does about leases: one file for all of its runs."""

    def __init__(self, pad: Pad) -> None:
        self.pad, self.file = pad, pad.runs / "leases"

    def write(self, text: str) -> None:
        draft = self.file.with_suffix(".draft")
        draft.write_text(text)
        draft.rename(self.file)

    def renew(self, seconds: float, *, name: str = NAME, fence: int = FENCE) -> float:
        until = now() + seconds
        self.write(json.dumps({"another": [1, until + 1000], name: [fence, until]}))
        return until

    def launch(self, code: str, seconds: float, **options: Any) -> tuple[Launched, float]:
        until = now() + seconds
        terms = LeaseTerms(file=str(self.file), fence=FENCE, until=until)
        given = {"name": NAME, "policy": Policy(restart=True), "lease": terms, **options}
        return self.pad.launch(code, **given), until

    @contextmanager
    def renewing(self, seconds: float) -> Iterator[None]:
        over = Event()

        def keep() -> None:
            while not over.wait(seconds / 3):
                self.renew(seconds)

        thread = Thread(target=keep)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@pytest.fixture
def node(pad: Pad) -> Node:
    return Node(pad)


def last_sign(launched: Launched) -> float:
    """When the model was last seen to run, by the clock of its lease."""
    return float(launched.lines()[-1])


def outcome(launched: Launched, until: float) -> str:
    """Once it ended. The kernel may end a shim before that has written anything: on a busy machine
    it may not run for a while just after its deadline."""
    assert shims.wait_free(launched.lock, SLOW_MACHINE)
    said = launched.states("finished")
    assert said or now() >= until, "it ended before its deadline"
    return str(said[0]["outcome"]) if said else "lease"


def test_a_model_lives_as_long_as_its_lease_is_renewed(node: Node) -> None:
    launched, until = node.launch(COUNTING, 6.0)
    with node.renewing(6.0):
        launched.until(lambda one: one.lines() and last_sign(one) > until + 1.5)
        assert launched.stop()["outcome"] == "stopped"
    assert len(launched.states("started")) == 1


def test_a_model_whose_lease_is_not_renewed_ends_at_its_deadline(node: Node) -> None:
    launched, until = node.launch(COUNTING, 5.0)
    assert outcome(launched, until) == "lease"
    said = launched.states("finished") + launched.states("ended")
    assert all(one["cause"] == "lease" for one in said)
    assert not launched.states("restarting")
    assert until - BEFORE < last_sign(launched) < until + BEYOND


NO_RENEWALS = [
    "",
    "no JSON",
    "[]",
    '{"NAME": 7}',
    '{"NAME": [7, "later"]}',
    '{"NAME": [7, Infinity]}',
    '{"NAME": [7, NaN]}',
    '{"NAME": [8, 1e9]}',
    '{"another": [7, 1e9]}',
    '{"NAME": [7, 0.0]}',
]


def test_only_a_later_deadline_of_its_own_start_renews(node: Node) -> None:
    launches = []
    for number, text in enumerate([*NO_RENEWALS, None]):
        name, node.file = f"leased{number}", node.pad.runs / f"leases{number}"
        if text is not None:
            node.write(text.replace("NAME", name))
        launches.append(node.launch(COUNTING, 6.0, name=name))
    for launched, until in launches:
        assert outcome(launched, until) == "lease"
        assert last_sign(launched) < until + BEYOND


def test_an_unreadable_file_may_be_readable_the_next_time(node: Node) -> None:
    node.file.mkdir()
    launched, until = node.launch(COUNTING, 6.0)
    launched.until(lambda one: one.lines())
    node.file.rmdir()
    later = node.renew(6.0 + BEFORE)
    assert outcome(launched, later) == "lease"
    assert until < last_sign(launched) < later + BEYOND


def _freeze(launched: Launched) -> list[int]:
    frozen = tree.stop(lambda: [launched.shim_pid(), *launched.members()])
    assert len(tree.settled(frozen, 5.0)) == len(frozen)
    return frozen


def test_a_frozen_model_is_gone_before_it_can_go_on(node: Node) -> None:
    """SIGSTOP of everything: the kernel ends the shim, and so the sandbox, while they stand."""
    launched, until = node.launch(COUNTING, 6.0)
    launched.until(lambda one: one.lines())
    frozen = _freeze(launched)
    stood, printed = now(), len(launched.lines())
    assert stood < until
    wait_for(lambda: not [one for one in frozen if alive(one)])
    assert now() >= until
    tree.go_on(frozen)
    assert shims.wait_free(launched.lock, SLOW_MACHINE)
    time.sleep(0.1)
    assert len(launched.lines()) == printed
    assert last_sign(launched) <= stood


def test_a_model_does_not_outlive_its_deadline_with_a_frozen_shim(node: Node) -> None:
    """Its own process writes where we see it without the shim."""
    launched, until = node.launch(
        """
        import os, time
        with open("/model/signs", "w", buffering=1) as file:
            while True:
                file.write(f"{time.clock_gettime(time.CLOCK_BOOTTIME)}\\n")
                time.sleep(0.002)
        """,
        6.0,
    )
    signs = launched.folder / "work" / "signs"
    launched.until(lambda _: signs.exists() and signs.stat().st_size)
    os.kill(launched.shim_pid(), signal.SIGSTOP)
    assert shims.wait_free(launched.lock, SLOW_MACHINE)
    last = float(signs.read_text().splitlines()[-2])
    assert until - BEFORE < last < until + BEYOND
    assert not launched.states("finished"), "there was nobody who could have written it"


def test_a_shim_that_wakes_up_just_after_its_deadline_kills_first(node: Node) -> None:
    """Before the kernel's own kill is due: nothing that waited in the pipes makes it go on."""
    launched, until = node.launch(COUNTING, 5.0)
    launched.until(lambda one: one.lines())
    shim = launched.shim_pid()
    while now() < until - 0.02:
        time.sleep(0.005)
    with suppress(ProcessLookupError):  # this test came too late to stop it
        os.kill(shim, signal.SIGSTOP)
    while now() < until + 0.05:
        time.sleep(0.005)
    node.renew(1000.0)  # too late
    woken = now()
    with suppress(ProcessLookupError):  # or to let it go on before the kernel's kill
        os.kill(shim, signal.SIGCONT)
    assert outcome(launched, until) == "lease"
    assert last_sign(launched) < woken + BEYOND


def test_nothing_starts_again_after_the_deadline(node: Node) -> None:
    """It crashes until the pause before its next start goes beyond the deadline."""
    launched, until = node.launch("raise SystemExit(1)", 2.0)
    assert outcome(launched, until) == "lease"
    ended_at = time.time() - (now() - until)
    started = launched.states("started")
    assert len(started) <= 2
    for finished in launched.states("finished"):
        assert finished["cause"] == "lease"
        assert len(started) == len(launched.states("ended")) == len(launched.states("restarting"))
    assert all(one.time < ended_at for one in launched.records() if one.state in started)


def test_a_launch_after_its_deadline_starts_nothing(node: Node) -> None:
    launched, _ = node.launch(COUNTING, -1.0)
    assert launched.finished()["outcome"] == "lease"
    assert not launched.states("started")
    assert not launched.lines()


def test_what_ended_by_itself_did_not_end_with_its_lease(node: Node) -> None:
    launched, _ = node.launch("print('done')", 60.0)
    assert launched.finished()["outcome"] == "exited"
    assert not shims.is_running(Path(launched.folder))
