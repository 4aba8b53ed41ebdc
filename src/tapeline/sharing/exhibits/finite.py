"""Figures of huge reports overflow. What a link shows is a number, or nothing."""

import math


def finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
