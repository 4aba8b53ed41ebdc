"""What the nodes say of their runs, without waiting long for any of them: one that is silent must
not delay a halt on all the others."""

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field

import msgspec

from tapeline.runs.cluster.members import Members
from tapeline.runs.engines.engine import NotSeenYet
from tapeline.runs.node import frames
from tapeline.runs.node.frames import Seen
from tapeline.runs.run import Run
from tapeline.thread_pools import threads

PATIENCE = 0.5  # seconds that a turn waits for those that it asks
ANSWERED_WITHIN = 10.0  # seconds
COUNTS_FOR = 20.0  # seconds from the question; an older answer is asked for again
AT_ONCE = 64

ByHost = Mapping[str, Sequence[Run]]


@dataclass(frozen=True)
class _Asked:
    answer: Future[Seen]
    term: float
    fences: Mapping[str, int | None]
    """The launches that it was asked about."""
    at: float = field(default_factory=time.monotonic)
    started: set[str] = field(default_factory=set)
    """Runs whose start ended since: it may have been asked before they were there."""


class Looks:
    """Called from threads. Each node has at most one question of ours. A turn waits a moment for
    those that it asks. One that is late is not waited for again: the turn that finds its answer
    uses that, except for launches that are newer than the question."""

    def __init__(self, members: Members, patience: float = PATIENCE) -> None:
        self._members, self._patience = members, patience
        self._threads = threads(AT_ONCE, "looks")
        self._changing = threading.Lock()
        self._asked: dict[str, _Asked] = {}
        self._failed: dict[str, Exception] = {}

    def at(self, by_host: ByHost) -> dict[str, Seen | Exception]:
        with self._changing:
            late = {name: one for name in by_host if (one := self._still_counts(name))}
            waiting = {name: one for name, one in late.items() if not one.answer.done()}
            asked = {
                name: self._ask(name, runs) for name, runs in by_host.items() if name not in waiting
            }
            self._asked = waiting | asked
            self._failed = {name: one for name, one in self._failed.items() if name in by_host}
        wait([one.answer for one in asked.values()], self._patience)
        return {
            name: self._answer(name, runs, asked.get(name), late.get(name))
            for name, runs in by_host.items()
        }

    def closely(self, by_host: ByHost) -> dict[str, Seen | Exception]:
        """For those who can wait: what is true now, or why a node does not say it."""
        asked = {
            name: self._ask(name, runs, closely=True) for name, runs in by_host.items() if runs
        }
        return {name: _said(one.answer) for name, one in asked.items()}

    def started(self, host: str | None, run_id: str) -> None:
        """Its start has ended, however. To be called while others still leave the run alone."""
        with self._changing:
            if asked := self._asked.get(host or ""):
                asked.started.add(run_id)

    def forget(self, host: str) -> None:
        """Something else changed there, and nothing that was asked before may be used."""
        with self._changing:
            self._asked.pop(host, None)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _still_counts(self, name: str) -> _Asked | None:
        """Between two terms of ours another server may have started anything."""
        asked = self._asked.get(name)
        if asked is None or asked.term != self._members.term():
            return None
        return asked if time.monotonic() - asked.at < COUNTS_FOR else None

    def _ask(self, name: str, runs: Sequence[Run], *, closely: bool = False) -> _Asked:
        body = frames.Look(list(runs), closely)
        answer = self._threads.submit(self._members.call, name, "look", body, Seen, ANSWERED_WITHIN)
        return _Asked(answer, self._members.term(), {run.id: run.fence for run in runs})

    def _answer(
        self, name: str, runs: Sequence[Run], asked: _Asked | None, late: _Asked | None
    ) -> Seen | Exception:
        if asked is not None and asked.answer.done():
            said = _said(asked.answer)
        elif late is not None and late.answer.done():
            said = _of_same_launches(_said(late.answer), late, runs)
        else:  # a node that is slow once has not failed
            return self._failed.get(name) or NotSeenYet()
        if isinstance(said, Exception):
            self._failed[name] = said
        else:
            self._failed.pop(name, None)
        return said


def _said(answer: Future[Seen]) -> Seen | Exception:
    try:
        return answer.result()
    except Exception as error:  # noqa: BLE001 - of one node; the others are seen
        return error


def _of_same_launches(
    said: Seen | Exception, asked: _Asked, runs: Sequence[Run]
) -> Seen | Exception:
    """Of a launch that is missing here, the supervisor supposes that it lives."""
    if isinstance(said, Exception):
        return said
    same = {
        run.id for run in runs if run.id in asked.fences and asked.fences[run.id] == run.fence
    } - asked.started
    return msgspec.structs.replace(
        said,
        of={name: one for name, one in said.of.items() if name in same},
        unknown={name: one for name, one in said.unknown.items() if name in same},
    )
