"""Counts values by size, for a histogram: plain sums, cheap enough for every write."""

from bisect import bisect_left

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
NUMBERS = (1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0)


class Buckets:
    """Written by one thread; a reader may be one value behind."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.total = 0.0
        self._counts = [0] * (len(bounds) + 1)

    def add(self, value: float) -> None:
        self._counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def rising(self) -> list[int]:
        """How many values are at most as large as each bound; the last number counts all."""
        found, so_far = [], 0
        for count in self._counts:
            so_far += count
            found.append(so_far)
        return found
