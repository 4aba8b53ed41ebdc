"""The holds of a running server: those on the disk, and those it was told of without one."""

import threading
from collections.abc import Mapping
from pathlib import Path

from tapeline.background import Background
from tapeline.logs import Log
from tapeline.runs.holding import holds
from tapeline.runs.holding.hold_socket import HoldSocket, Request
from tapeline.runs.holding.holds import Hold
from tapeline.thread_pools import briefly

log = Log(__name__)

KEPT_EVERY, WITHIN = 2.0, 15.0  # seconds


class ServerHolds:
    def __init__(self, data: Path, background: Background) -> None:
        self._data = data
        self._told: dict[str, Hold] = {}
        self._keeping = threading.Lock()
        self._socket = HoldSocket(data, self._hear, background)
        background.loop("reserve of holds", self._turn, every=KEPT_EVERY, within=WITHIN)

    def close(self) -> None:
        self._socket.close()

    def all(self) -> Mapping[str, Hold]:
        """By name."""
        return {**self._told, **holds.of(self._data)}

    def on_all(self) -> Hold | None:
        return self.all().get(holds.ALL)

    def lift(self, name: str) -> None:
        self._told.pop(name, None)
        holds.lift(self._data, name)

    def keep(self) -> None:
        """Write the holds that the disk did not take, and keep space for the next one."""
        with self._keeping:  # two at once would take each other's writing for a lifting
            for name, hold in list(self._told.items()):
                holds.write(self._data, name, hold)
                if self._told.pop(name, None) is None:  # lifted meanwhile
                    holds.lift(self._data, name)
            holds.reserve(self._data)

    async def _turn(self) -> None:
        await briefly(self.keep)

    def _hear(self, request: Request) -> Mapping[str, Hold]:
        if request.hold is not None:
            log.warning("hold_not_on_disk", held=request.name, why=request.hold.why)
            self._told[request.name] = request.hold
        elif request.name:
            self._told.pop(request.name, None)
        return dict(self._told)
