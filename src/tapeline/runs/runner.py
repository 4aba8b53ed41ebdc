"""What a server asks of whatever carries out desired runs: this machine, or a cluster."""

from typing import Protocol

from tapeline.errors import NotSupervised, OnHold
from tapeline.runs.engines.host_check import Host
from tapeline.runs.engines.stopping_here import Proof
from tapeline.runs.holding.holds import Hold
from tapeline.runs.run import Run
from tapeline.runs.supervision.install_places import Queue


class Runner(Protocol):
    @property
    def host(self) -> Host | None:
        """What this machine can do; None if it runs no models, or before it is open."""
        ...

    host_name: str
    """What this server is called among all that share a database; empty if it runs none."""

    def open(self, port: int) -> None:
        """Get ready, before the first request is served; models reach us on `port`."""
        ...

    def require(self) -> None:
        """Raise why models cannot run here, before a run is recorded that nobody can start."""
        ...

    def unable(self) -> str | None:
        """Why no model can run on this machine, if that is so."""
        ...

    def journal_lag(self) -> dict[str, int]:
        """By run of our hosts: how many bytes of its journal are not on the tape yet."""
        ...

    def install_queue(self) -> Queue:
        """How many installations run, and how many wait for their turn."""
        ...

    def trouble(self, *run_ids: str) -> str | None:
        """Why desired changes, or those of one of these runs, are not carried out at the moment."""
        ...

    def hold(self) -> Hold | None:
        """Why nothing runs on this server, if an operator or a copy has put it on hold."""
        ...

    def is_untouched_copy(self) -> bool:
        """Whether its runs may be those of another installation, from which it was copied."""
        ...

    def has(self, run: Run) -> bool:
        """Whether this server can say whether anything of the run is left."""
        ...

    def proof_of_end(self, run: Run) -> Proof:
        """What the kernel of its machine says of a run that was there. In a thread."""
        ...

    def wake(self) -> None: ...

    def leave(self) -> None:
        """Nothing waits for other machines any more: the server ends. In a thread."""
        ...

    def close(self) -> None:
        """Models keep running, and the next start finds them again."""
        ...

    async def stop_models(self) -> None:
        """Stop the models that end with this server, and bring their last output onto the tape."""
        ...


def refuse(hold: Hold | None, trouble: str | None) -> None:
    """Raise what keeps runs from being started, if anything does."""
    if hold is not None:
        raise OnHold(
            f"This server is {hold.sentence()} Nothing runs until an operator releases it, with"
            " `tapeline release` on its machine."
        )
    if trouble is not None:
        raise NotSupervised(
            f"Models are not supervised at the moment: {trouble}. Nothing was stored."
            " Try again in a few seconds; see the server's log for details."
        )
