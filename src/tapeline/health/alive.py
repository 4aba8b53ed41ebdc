"""Tells somebody outside every minute that all is well: its silence says that the machine is gone.

A server that is dead cannot say so. Whoever waits for these requests (a service made for it, or a
script on another machine) notices what nothing on this machine can.
"""

from http import HTTPStatus

from tapeline.background import Background
from tapeline.health.examination import Health
from tapeline.logs import Log
from tapeline.tape.proof import outgoing
from tapeline.tape.proof.outgoing import NoAnswer
from tapeline.thread_pools import in_thread, threads

log = Log(__name__)

EVERY, WITHIN = 60.0, 60.0  # seconds


class Alive:
    def __init__(self, addresses: str, health: Health, background: Background) -> None:
        self._addresses = [one for one in addresses.split(", ") if one]
        self._health = health
        if self._addresses:
            self._thread = threads(1, "signs of life")
            self._work = background.loop("signs of life", self.turn, every=EVERY, within=WITHIN)

    async def turn(self) -> None:
        """No request while anything essential is not well: that is for the outside to notice."""
        if trouble := await self._health.trouble():
            log.warning("no_sign_of_life", because=trouble)
            return
        for address in self._addresses:
            try:
                await in_thread(self._thread, _ask, address)
            except NoAnswer as problem:
                self._work.note(problem, address, is_ours=False)


def _ask(address: str) -> None:
    status = outgoing.get(address).status
    if status >= HTTPStatus.BAD_REQUEST:
        raise NoAnswer(f"{address} answered {status}.")
