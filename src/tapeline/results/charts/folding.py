"""Takes entries of one book in their order, and says what each did to the curve.

The bookkeeper and the replays of links share it, so that both come to the same numbers.
"""

from decimal import Decimal

from tapeline.results.charts.curve import MOST, Step
from tapeline.results.rules.position import Outcome, Spec, State, take
from tapeline.results.rules.rates import Rate


class Folding:
    def __init__(self, state: State, *, long_only: bool) -> None:
        self.state = state
        self._long_only = long_only
        self._total, self._value = (_bounded(one) for one in state.worth())

    def take(self, spec: Spec, time: float, rate: Rate | None) -> tuple[Outcome, Step]:
        state = self.state
        outcome = take(state, spec, time, long_only=self._long_only, rate=rate)
        total, value = (_bounded(one) for one in state.worth())
        step = Step(self._total, total, self._value, value)
        self._total, self._value = total, value
        return outcome, step


def _bounded(amount: Decimal) -> float:
    """Larger ones could not be added up."""
    return max(-MOST, min(MOST, float(amount)))
