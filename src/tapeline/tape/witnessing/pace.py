"""How often strangers may ask a witness: each network so many times a minute."""

from collections import deque
from time import monotonic

from tapeline.errors import Limited
from tapeline.recently_used import RecentlyUsed

MOST, SECONDS = 60, 60.0
NETWORKS = 10_000


class Pace:
    def __init__(self) -> None:
        self._asked: RecentlyUsed[str, deque[float]] = RecentlyUsed(NETWORKS)

    def admit(self, network: str) -> None:
        asked = self._asked.get(network, lambda: deque(maxlen=MOST))
        now = monotonic()
        if len(asked) == MOST and now - asked[0] < SECONDS:
            raise Limited(retry_after=1 + int(SECONDS - (now - asked[0])))
        asked.append(now)
