"""The server's side of the process that speaks with Ray.

Ray lives in a process of its own, because a process that uses Ray may die with it. It is started by
the first call and ends with the server. When it died, the next call starts it again, with growing
pauses.
"""

import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec

from tapeline import descriptors, settings
from tapeline.errors import Unavailable
from tapeline.runs.cluster import agent, lines
from tapeline.runs.cluster.last_words import last_words

PROGRAM = "tapeline.runs.cluster.ray_bridge"
LOG = "ray-bridge.log"
NOT_INSTALLED = "Ray is not installed: pip install 'tapeline[cluster]'"
READY = b"ready"
SECONDS = 15.0  # for what the cluster itself answers
LONGEST_PAUSE = 30.0  # seconds until it is started again
FIRST_PAUSE = 1.0
LAST_WORDS = 4096  # bytes
LAST_WORDS_SECONDS = 1.0
# Ours unless the operator says otherwise. By itself Ray lets anybody in, wants the same Python to
# the patch version (we send it bytes alone), reports to its makers, takes a minute to see that its
# head is gone, and on a busy machine starts for longer than it waits.
VARIABLES = {
    "RAY_raylet_start_wait_time_s": "120",
    "RAY_AUTH_MODE": "token",
    "RAY_DEFAULT_PYTHON_VERSION_MATCH_LEVEL": "minor",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "15",
}


class CannotReach(Unavailable):
    """A node of the cluster cannot be reached."""


class NoAnswer(CannotReach):
    """A node of the cluster has not answered in time."""


class RayNode(msgspec.Struct, frozen=True):
    """A machine as Ray sees it. It has another id each time that it joins."""

    id: str
    address: str
    alive: bool
    cpu: float
    cpu_free: float
    memory: int
    """Bytes, as all memory here."""
    memory_free: int


class Ask(msgspec.Struct):
    what: Literal["nodes", "call", "reserve", "release", "reserved"]
    seconds: float
    node: str = ""
    frame: bytes = b""
    runs: list[str] = []
    cpu: float = 0
    memory: int = 0
    among: list[str] = []


class Answer(msgspec.Struct):
    trouble: str | None = None
    is_late: bool = False
    """The trouble is only that nobody answered in time."""
    nodes: list[RayNode] = []
    node: str | None = None
    frame: bytes = b""
    reserved: dict[str, str] = {}


class Bridge:
    """Any number of threads may call. Each call has its own connection, time limit and failure."""

    def __init__(self, address: str, folder: Path, *, module: str = agent.NODE) -> None:
        self._address, self._log, self._module = address, folder / LOG, module
        self._turn = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._trouble: str | None = None
        self._failures = 0
        self._not_before = 0.0
        self._is_closed = False

    def nodes(self) -> list[RayNode]:
        return self._ask(Ask("nodes", SECONDS)).nodes

    def call(self, node_id: str, frame: bytes, timeout: float) -> bytes:
        return self._ask(Ask("call", timeout, node=node_id, frame=frame)).frame

    def reserve(self, run_id: str, cpu: float, memory: int, among: Sequence[str]) -> str | None:
        """The node that has room for it; none: no room now. A run that has one of these nodes keeps
        it. Reservations end with this bridge's process: reserve anew for runs without one."""
        asked = Ask("reserve", SECONDS, runs=[run_id], cpu=cpu, memory=memory, among=list(among))
        return self._ask(asked).node

    def release(self, run_ids: Iterable[str]) -> None:
        if runs := list(run_ids):
            self._ask(Ask("release", SECONDS, runs=runs))

    def reserved(self) -> dict[str, str]:
        """The node of each run that has a reservation."""
        return self._ask(Ask("reserved", SECONDS)).reserved

    def trouble(self) -> str | None:
        with self._turn:
            self._hear()
            return self._trouble

    def rest(self) -> None:
        """Until the next call."""
        with self._turn:
            self._end()

    def close(self) -> None:
        """For good: whoever waits for an answer fails at once, and so does every later call."""
        with self._turn:
            self._is_closed = True
            self._end()

    def _ask(self, ask: Ask) -> Answer:
        ends = time.monotonic() + ask.seconds
        ours, its = socket.socketpair()
        with ours:
            with its:
                self._hand_over(its)
            try:
                lines.send(ours, msgspec.msgpack.encode(ask), ends)
                answer = msgspec.msgpack.decode(lines.receive(ours, ends), type=Answer)
            except TimeoutError as error:
                who = "The node" if ask.what == "call" else self._named
                raise NoAnswer(f"{who} did not answer in {ask.seconds:g} s.") from error
            except OSError as error:
                raise CannotReach(self._why_torn()) from error
        if answer.trouble is not None:
            raise (NoAnswer if answer.is_late else CannotReach)(answer.trouble)
        return answer

    def _why_torn(self) -> str:
        """The connections of a process that dies end one by one, and its last words may come later
        than the end of a call."""
        with self._turn:
            if self._line is not None:
                descriptors.readable(self._line, within=LAST_WORDS_SECONDS)
            self._hear()
            return self._trouble or self._lost

    def _hand_over(self, line: socket.socket) -> None:
        """The other end of a call's connection, to the process that answers it."""
        with self._turn:
            self._hear()
            if self._line is None:
                self._start()
            assert self._line is not None
            try:
                socket.send_fds(self._line, [b"."], [line.fileno()], socket.MSG_DONTWAIT)
            except OSError as error:
                raise CannotReach(self._lost) from error

    def _start(self) -> None:
        if self._is_closed:
            raise CannotReach("The server is stopping.")
        if time.monotonic() < self._not_before:
            raise CannotReach(self._trouble)
        if importlib.util.find_spec("ray") is None:
            self._trouble = NOT_INSTALLED
            raise CannotReach(self._trouble)
        self._line, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its, os.fdopen(self._opened_log(), "wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-m", PROGRAM, str(its.fileno()), self._address, self._module],
                pass_fds=[its.fileno()],
                env=VARIABLES | settings.variables_with({}),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,  # for a process that Ray aborts before it can say why
            )

    def _opened_log(self) -> int:
        try:
            return os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        except OSError:  # a full disk keeps nobody from the cluster
            return os.open(os.devnull, os.O_WRONLY)

    def _hear(self) -> None:
        """Whether it is connected by now, or has ended, and why."""
        while self._line is not None:
            try:
                said = self._line.recv(LAST_WORDS, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except ConnectionResetError:
                continue  # it left questions unread; what it said comes after this error
            if said == READY:
                self._trouble, self._failures = None, 0
            elif said:
                self._trouble = said.decode("utf-8", "replace")
            else:
                self._trouble = self._trouble or self._lost
                self._not_before = time.monotonic() + min(
                    LONGEST_PAUSE, FIRST_PAUSE * 2.0**self._failures
                )
                self._failures += 1
                self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if self._line is not None:
            self._line.close()
            self._line = None
        if process is not None:
            process.kill()
            process.wait()

    @property
    def _named(self) -> str:
        return f"Ray at {self._address}"

    @property
    def _lost(self) -> str:
        lost = f"{self._named} cannot be reached: the process that speaks with it has ended."
        said = last_words(self._log)
        return f"{lost} {self._log} says: {said}" if said else lost
