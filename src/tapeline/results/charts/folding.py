"""Takes entries of one book in their order, and says what each did to the curve.

The bookkeeper and the replays of links share it, so that both come to the same numbers.
"""

from tapeline.results.charts.curve import Step
from tapeline.results.rules.position import Outcome, Spec, State, take
from tapeline.results.rules.rates import Rate


class Folding:
    def __init__(self, state: State, *, long_only: bool) -> None:
        self.state = state
        self._long_only = long_only
        self._total, self._value = state.worth()

    def take(self, spec: Spec, time: float, rate: Rate | None) -> tuple[Outcome, Step]:
        state = self.state
        outcome = take(state, spec, time, long_only=self._long_only, rate=rate)
        total, value = state.worth()
        step = Step(
            float(total - self._total),
            float(value - self._value),
            float(abs(value) - abs(self._value)),
        )
        self._total, self._value = total, value
        return outcome, step
