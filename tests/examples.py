"""How often a test tries: a few times with every change, many more times in `make slow`."""

THOROUGH = False
"""Set by `pytest --thorough`, before any test is imported."""


def some(many: int) -> int:
    """Examples of a property test."""
    return many * 5 if THOROUGH else max(many // 4, 10)


def rounds(many: int) -> int:
    """Of a test that kills or disturbs something again and again; mark it `repeated`."""
    return many if THOROUGH else max(many // 3, 2)
