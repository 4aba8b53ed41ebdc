"""A histogram's counts: each value at its bound or below, and all of them at the end."""

from tapeline.buckets import Buckets


def test_values_count_at_every_bound_that_they_do_not_exceed() -> None:
    counted = Buckets((1.0, 10.0))
    for value in (0.5, 1.0, 2.0, 10.0, 11.0):
        counted.add(value)
    assert counted.rising() == [2, 4, 5]
    assert counted.total == 24.5
