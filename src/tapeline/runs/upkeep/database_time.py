"""Whether the database's clock has gone evenly for long enough to judge leases by it.

Leases are compared with that clock, and nodes count theirs with their own. Both agree as long as no
clock is set. A clock that is set forward would end leases in the rows while their models live. So
the server that takes runs over compares it with its own CLOCK_BOOTTIME, which nothing sets, and
waits for a whole lease after a jump. It also waits after a time in which it could not ask: after
the database was away, nodes first report by themselves what became of their runs.
"""

from collections import deque
from time import CLOCK_BOOTTIME, clock_gettime
from typing import NamedTuple

LONGEST_QUESTION = 0.3
"""Seconds: an answer that took longer says too little about when it was given."""
LONGEST_GAP = 3.0  # seconds without a good answer
TOLERATED = 0.1
"""Seconds of a jump. With the two questions, less than the two margins of a lease."""


class Answer(NamedTuple):
    at: float
    """When we asked."""
    least: float
    most: float
    """Between these is by how much the database's clock is ahead of ours."""


class DatabaseTime:
    def __init__(self, lasting: float) -> None:
        self._lasting = lasting
        self._answers: deque[Answer] = deque()
        self.is_steady = False
        """So far, for as long as that."""

    def heard(self, asked: float, said: float, answered: float) -> bool:
        """By our clock, the database's clock, and our clock again. Whether its clock has gone
        evenly until then: of an answer that took too long, nobody knows."""
        answers = self._answers
        if answers and answered - answers[-1].at > LONGEST_GAP:
            answers.clear()
        is_good = answered - asked <= LONGEST_QUESTION
        if is_good:
            new = Answer(asked, said - answered, said - asked)
            if any(_differ(new, one) for one in answers):
                answers.clear()
            answers.append(new)
        while len(answers) > 1 and answered - answers[1].at >= self._lasting:
            answers.popleft()
        self.is_steady = bool(answers) and answered - answers[0].at >= self._lasting
        return self.is_steady and is_good


def elapsed() -> float:
    """Goes on while the machine sleeps, whatever its wall clock does."""
    return clock_gettime(CLOCK_BOOTTIME)


def _differ(one: Answer, other: Answer) -> bool:
    return one.least > other.most + TOLERATED or other.least > one.most + TOLERATED
