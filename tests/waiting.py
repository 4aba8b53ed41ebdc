"""Wait until something is so, on machines of any speed."""

import time
from collections.abc import Callable

SLOW_MACHINE = 60
A_PROGRAM = 10 * SLOW_MACHINE
"""For a program of which only the end is waited for: it may import or compile a lot."""


def wait_for(condition: Callable[..., object], seconds: float = SLOW_MACHINE) -> None:
    """Look often at first; who has waited long looks less often, and leaves the processor alone."""
    begun = time.monotonic()
    while not condition():
        waited = time.monotonic() - begun
        assert waited < seconds, "it never happened"
        time.sleep(0.01 + min(0.2, waited / 10))
