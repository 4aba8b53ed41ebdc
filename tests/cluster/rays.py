"""Ray on the machines of tests: a head, nodes, and a command that starts or ends them."""

import secrets
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.machines import Machine
from tests.waiting import wait_for

ROOT = Path(__file__).parent.parent.parent
RAY = (sys.executable, "-m", "ray.scripts.scripts")
KEPT = ("sh", "-c", 'while true; do "$@"; sleep 1; done', "ray")
PORT = 6379
UP = 300.0  # seconds that it may take on a busy machine, where Ray gives up and starts again
# A head that asks its nodes every second, and gives one up after three answers that did not come;
# nodes that notice soon that a head which was started anew does not know them.
WATCHFUL = {
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_raylet_liveness_self_check_interval_ms": "2000",
}


@dataclass
class Rays:
    """One cluster: machines that know its token."""

    head: Machine
    mode: str = "token"
    token: str = field(default_factory=lambda: secrets.token_hex(32))

    @property
    def address(self) -> str:
        return f"{self.head.address}:{PORT}"

    @property
    def environment(self) -> dict[str, str]:
        """For every process that has to do with this Ray."""
        return {
            "RAY_AUTH_MODE": self.mode,
            "RAY_AUTH_TOKEN": self.token,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_TMPDIR": "/mnt",  # each machine has its own there
            "RAY_raylet_start_wait_time_s": "60",
            "RAY_gcs_rpc_server_reconnect_timeout_s": "15",
            "PYTHONPATH": str(ROOT),  # for a node process of the tests
            **WATCHFUL,
        }

    def start_head(self) -> None:
        own = (f"--port={PORT}", "--include-dashboard=false", "--no-monitor", "--num-cpus=0")
        self._start((self.head,), "--head", *own)

    def start(
        self, *machines: Machine, cpus: int = 2, memory: int | None = None, is_kept: bool = False
    ) -> None:
        """All at once: most of it is waiting. Ray ends on a node that its head has given up; one
        that `is_kept` is started again then, as by the service manager of a real machine."""
        room = [f"--num-cpus={cpus}", *([] if memory is None else [f"--memory={memory}"])]
        around = KEPT if is_kept else ()
        self._start(machines, f"--address={self.address}", *room, around=around)

    def _start(
        self, machines: Sequence[Machine], *options: str, around: Sequence[str] = ()
    ) -> None:
        """Until it is up. Ray gives its own processes a quarter of a minute to begin and ends if
        they do not, which on a busy machine is no reason to fail."""
        tries = {one.name: self._try(one, *options, around=around) for one in machines}
        for one in machines:

            def is_up(one: Machine = one) -> bool:
                if "Ray runtime started" in _printed(one):
                    return True
                if tries[one.name].poll() is not None:
                    tries[one.name] = self._try(one, *options, around=around)
                return False

            try:
                wait_for(is_up, UP)
            except AssertionError:
                raise AssertionError(_printed(one)[-2000:]) from None

    def _try(
        self, machine: Machine, *options: str, around: Sequence[str]
    ) -> subprocess.Popen[bytes]:
        (machine.folder / "output").unlink(missing_ok=True)
        own = (f"--node-ip-address={machine.address}", "--object-store-memory=80000000")
        no_logs = "--include-log-monitor=false"  # nobody reads what Ray's workers print
        command = (*around, *RAY, "start", "--block", *own, no_logs, *options)
        return machine.start(*command, environment=self.environment)


def _printed(machine: Machine) -> str:
    return (machine.folder / "output").read_text("utf-8", "replace")
