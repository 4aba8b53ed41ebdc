"""How much processor time the event loop of a service takes at one go, while it answers others.

Not how long they wait: a busy machine makes everybody wait.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.conftest import SERVING, Service


@contextmanager
def longest_goes(service: Service) -> Iterator[list[float]]:
    """Seconds of the loop's processor time between one answer to somebody else and the next."""
    loop = next(one for one in threading.enumerate() if one.name == SERVING)
    assert loop.ident is not None
    clock, over, goes = time.pthread_getcpuclockid(loop.ident), threading.Event(), list[float]()

    def look() -> None:
        with service.client() as client:
            client.get("/time")
            while not over.is_set():
                before = time.clock_gettime(clock)
                client.get("/time")
                goes.append(time.clock_gettime(clock) - before)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield goes
    finally:
        over.set()
        looking.join()
