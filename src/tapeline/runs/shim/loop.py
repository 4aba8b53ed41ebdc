"""The shim's one loop: starts the process, restarts it if needed, until it ends or is stopped."""

import os
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Any

from tapeline.runs.shim import network, restarting, shortage, tree
from tapeline.runs.shim.forward import SOCKET, TLS_SOCKET, Forwarder
from tapeline.runs.shim.group import Group
from tapeline.runs.shim.lease import Lease
from tapeline.runs.shim.lock import Lock
from tapeline.runs.shim.running import Running
from tapeline.runs.shim.spool import Spool

LONGEST_SLEEP = 60.0
STEADY = 2.0  # seconds for which a new slirp4netns lives before the network counts as back
# Each further start would use more of the disk, slow the machine again, or be another's by now.
NOT_AGAIN = ("time_limit", "disk_full", "flood", "lease")
LONGEST_QUOTE = 300  # characters of the last line


class Shim:
    def __init__(self, spec: dict[str, Any], lock: Lock) -> None:
        self._spec, self._lock = spec, lock
        self._policy = spec["policy"]
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[int], None]] = {}
        self._alarm = _catch_signals()
        self.watch(self._alarm.fileno(), select.POLLIN, self._signalled)
        self._namespace: network.Namespace | None = None
        self._internet: int | None = None
        self._internet_at = 0.0
        self._network_lost = False
        self._running: Running | None = None
        self._stop_at: float | None = None  # when a graceful stop becomes a kill
        self._kill_now = False
        self._kill_at: float | None = None  # the launch's own time limit
        self._crashes: list[tuple[float, float]] = []
        self._is_starting = False
        self._lease = Lease(spec["lease"], spec["name"], self._end_with_lease)
        self.spool = Spool(
            spec["folder"],
            self._policy["journal_bytes"],
            spec["runs"],
            spec["name"],
            self._policy["output_bytes"],
        )
        if not spec["unsafe"]:
            self._connect()

    def watch(self, descriptor: int, events: int, handler: Callable[[int], None] | None) -> None:
        if handler is not None:
            self._handlers[descriptor] = handler
            self._poll.register(descriptor, events)
        elif self._handlers.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def run(self) -> None:
        if self._policy["time_limit"] is not None:
            self._kill_at = time.monotonic() + self._policy["time_limit"]
        number = 0
        while True:
            number += 1
            last = self._attempt(number)
            if last is None:
                self._finish_waiting(number - 1)
                return
            cause, code, signalled = last.result()
            end = {"cause": cause, "exit_code": code, "signal": signalled}
            if last.ran or last.cause or signalled is not None or number > 1:
                self.spool.state(event="ended", attempt=number, **end, **self._remark(end))
            after = self._after(last, number, end)
            if isinstance(after, float):
                self.spool.state(
                    event="restarting", attempt=number + 1, after=after, restarts=number
                )
                if self._pause(after):
                    continue
                if not self._stopping():
                    self._finish_waiting(number - 1)
                    return
                after = ("stopped", "Stopped while it waited to restart.")
            self._finish(*after, number - 1, end)
            return

    def abandon(self, reason: str) -> None:
        """The shim itself failed: leave nothing running."""
        if self._running:
            self._running.kill("signal")
        end = {"cause": "signal", "exit_code": None, "signal": None}
        self._finish("crashed", reason, len(self._crashes), end)

    def close(self) -> None:
        self._lease.end()
        if self._internet is not None:
            tree.send(self._internet, signal.SIGKILL)
        Group(self._spec["group"]).remove()
        self.spool.close(patience=10.0)

    def _attempt(self, number: int) -> Running | None:
        """None if it was stopped, or its time was up, while the host had no room for it; or if its
        lease has run out."""
        for tries, pause in enumerate(shortage.pauses()):
            if self._lease.is_over:
                break
            try:
                self._begin(number)
            except OSError as error:
                if not shortage.is_one(error):
                    raise
                why = shortage.described(error)
            else:
                running = self._follow()
                if not running.was_refused():
                    return running
                why = shortage.described(shortage.error_of(running.last_error()))
            if tries == 0:
                self.spool.state(event="waiting", attempt=number, reason=why)
            if not self._pause(pause) or self._is_late():
                break
        return None

    def _begin(self, number: int) -> None:
        self._is_starting = True
        try:
            self._running = Running(
                self._spec, number, self.spool, self.watch, self._namespace, self._lock
            )
        finally:
            self._is_starting = False

    def _end_with_lease(self) -> bool:
        """Whether nothing can live on: not while a process is being started that is unknown yet."""
        if self._running:
            self._running.kill("lease")
        return not self._is_starting

    def _finish_waiting(self, restarts: int) -> None:
        end = {"cause": "time_limit", "exit_code": None, "signal": None}
        if self._stopping():
            after = ("stopped", "Stopped while it waited to start.")
            self._finish(*after, restarts, end | {"cause": "stopped"})
        elif self._lease.is_over:
            end["cause"] = "lease"
            self._finish("lease", self._described(end), restarts, end)
        else:
            self._finish("crashed", self._described(end), restarts, end)

    def _is_late(self) -> bool:
        return self._kill_at is not None and time.monotonic() >= self._kill_at

    def _follow(self) -> Running:
        running = self._running
        assert running is not None
        while not running.over():
            self._turn(running.wake_at())
            self._enforce(running)
        running.close()
        self._running = None
        return running

    def _enforce(self, running: Running) -> None:
        now = time.monotonic()
        running.tick(now)
        if self._kill_now or (self._stop_at is not None and now >= self._stop_at):
            running.kill("stopped")
        elif self._kill_at is not None and now >= self._kill_at:
            running.kill("time_limit")

    def _after(self, last: Running, number: int, end: dict[str, Any]) -> float | tuple[str, str]:
        """Seconds until the next attempt; or the outcome, and why."""
        if end["cause"] == "stopped" or self._stopping():
            return "stopped", "Stopped."
        if not last.ran and not last.cause and end["signal"] is None and number == 1:
            return "not_started", last.last_error() or "The sandbox could not be started."
        if end["cause"] == "exit" and end["exit_code"] == 0:
            return "exited", "Exited."
        if not self._policy["restart"] or end["cause"] in NOT_AGAIN:
            outcome = "lease" if end["cause"] == "lease" else "crashed"
            return outcome, self._described(end)
        now = time.monotonic()
        self._crashes = [*self._crashes[-20:], (last.started_at, now)]
        wait = restarting.decide(self._crashes, now)
        if wait is not None:
            return wait
        why = f"{self._described(end)} Given up: that was crash 5 within 10 minutes."
        said = last.last_error().strip()[:LONGEST_QUOTE]  # of a traceback, the exception
        return "crashed", f"{why} Its last line: {said}" if said else why

    def _described(self, end: dict[str, Any]) -> str:
        words: dict[str, str] = {
            "out_of_memory": self._policy["beyond_memory"],
            "disk_full": "Its folders took more disk space than those of a run may (`run_disk`), or"
            " are nested too deep.",
            "flood": "It kept starting processes, far beyond its limit (`run_processes`).",
            "time_limit": "It took longer than it may.",
            "lease": "Its node could not renew its lease.",
            "exit": f"It ended with exit code {end['exit_code']}.",
            "signal": f"It was ended by signal {end['signal']}.",
        }
        return words[end["cause"]]

    def _remark(self, end: dict[str, Any]) -> dict[str, str]:
        """A hint that only the server can give: which plan has more memory."""
        return {"reason": self._described(end)} if end["cause"] == "out_of_memory" else {}

    def _finish(self, outcome: str, reason: str, restarts: int, end: dict[str, Any]) -> None:
        said = {"outcome": outcome, "restarts": restarts, "reason": reason}
        self.spool.state(event="finished", **end, **said)

    def _pause(self, seconds: float) -> bool:
        """Whether to continue: a stop, and the end of its lease, end the wait at once."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self._stopping() and not self._lease.is_over:
            self._turn(until)
        return not self._stopping() and not self._lease.is_over

    def _stopping(self) -> bool:
        return self._kill_now or self._stop_at is not None

    def _turn(self, wake_at: float) -> None:
        now = time.monotonic()
        times = [wake_at, now + LONGEST_SLEEP]
        # A deadline that has passed waits only for the kernel, which may be slow.
        deadlines = [at for at in (self._stop_at, self._kill_at) if at is not None]
        times += [max(at, now + 0.05) if at <= now else at for at in deadlines]
        if self._namespace and self._spec["slirp"] and self._internet is None:
            times.append(self._internet_at + 1.0)
        elif self._network_lost:
            times.append(self._internet_at + STEADY)
        found = self._poll.poll(max(0.0, min(times) - now) * 1000)
        if self._lease.is_over:  # before anything else, however long we could not run
            self._end_with_lease()
        for descriptor, events in found:
            # An earlier handler of this turn may have closed this descriptor.
            if handler := self._handlers.get(descriptor):
                handler(events)
        self._keep_connected()

    def _signalled(self, _events: int) -> None:
        numbers = self._alarm.recv(1000)
        if signal.SIGQUIT in numbers:
            self._kill_now = True
        if signal.SIGTERM in numbers and self._stop_at is None:
            self._stop_at = time.monotonic() + self._policy["grace"]
            if self._running:
                self._running.interrupt()
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self._running and pid == self._running.pid:
                self._running.reaped(status)
            elif pid == self._internet:
                self._internet = None
                if not self._network_lost:
                    self._network_lost = True
                    self.spool.state(event="network_lost")

    def _connect(self) -> None:
        spec = self._spec
        # The same address inside, except for clients that need https and the older host names.
        places = [(SOCKET, ("127.0.0.1", spec["events_port"])), (TLS_SOCKET, spec["tls_address"])]
        wanted = [(target, address) for target, address in places if spec["events_port"]]
        self._namespace = network.make(spec["uid"], [tuple(address) for _, address in wanted])
        if spec["slirp"]:
            log = os.path.join(spec["folder"], "shim.log")
            network.wait_ready(self._start_internet(), log)
        self._forwarders = [
            Forwarder(listener, spec["runs"], target, spec["name"], self.watch)
            for listener, (target, _) in zip(self._namespace.listeners, wanted, strict=True)
        ]

    def _start_internet(self) -> int:
        assert self._namespace is not None
        self._internet_at = time.monotonic()
        self._internet, said = network.attach_internet(
            self._spec["slirp"], self._namespace, self._spec["uid"]
        )
        return said

    def _keep_connected(self) -> None:
        """If slirp4netns dies, the model's connections break, but new ones work."""
        lost = self._namespace and self._spec["slirp"] and self._internet is None
        if lost and time.monotonic() >= self._internet_at + 1.0:
            self._reconnect()
        elif self._network_lost and not lost and time.monotonic() >= self._internet_at + STEADY:
            self._network_lost = False
            self.spool.state(event="network_back")

    def _reconnect(self) -> None:
        try:
            os.close(self._start_internet())
        except OSError as error:
            if not shortage.is_one(error):
                raise
            # Without room for a process now: the model lives on without a network meanwhile.


def _catch_signals() -> socket.socket:
    """A descriptor that becomes readable, with the signals' numbers."""
    alarm, bell = socket.socketpair()
    alarm.setblocking(False)
    bell.setblocking(False)
    signal.set_wakeup_fd(bell.detach(), warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGCHLD):
        signal.signal(number, lambda _number, _frame: None)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    return alarm
