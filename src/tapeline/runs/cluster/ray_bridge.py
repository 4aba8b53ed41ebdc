"""The process that speaks with Ray, and the only file that imports it.

`python -m tapeline.runs.cluster.ray_bridge FD ADDRESS MODULE`. Agents and reservations belong to
this process and end with it. Agents hold nothing, another takes a second to start, and none of an
older version or of a server that no longer leads is left over. For reservations it is the same: the
next leader reserves anew for what runs, and nobody has to find out which of them are still needed.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Lock
from typing import Any, NoReturn

import msgspec
import ray
from ray import exceptions as troubles
from ray import util as groups
from ray._private.state import available_resources_per_node
from ray._raylet import GcsClient
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from tapeline import settings
from tapeline.runs.cluster import lines
from tapeline.runs.cluster.agent import Agent
from tapeline.runs.cluster.bridge import LAST_WORDS, READY, Answer, Ask, RayNode
from tapeline.runs.cluster.last_words import in_plain_words
from tapeline.runs.cluster.membership import own_address, owner_of_node, place_of, why_not_usable
from tapeline.runs.cluster.slots import Size, Slots

NAMESPACE = "tapeline"
AT_ONCE = 128  # calls that wait for their nodes
AT_ONCE_PER_NODE = 32
FIRST_ANSWER = 5.0  # seconds
CONNECTED = 60.0  # seconds
LOOK = 1.0  # seconds from one look at the cluster to the next
HUNG = 20.0  # seconds that such a look may take
SLOWEST_GROUP = 3.0  # seconds; one that is possible takes milliseconds
NODE_ID = "ray.io/node-id"
NO_ROOM = {"NO_RESOURCES", "INFEASIBLE"}
STRANGER = (
    "this machine does not have the token of that cluster. Put it into ~/.ray/auth_token, or into a"
    " file that RAY_AUTH_TOKEN_PATH names."
)
OPEN = (
    "it lets anybody in. Start it with RAY_AUTH_MODE=token on every machine, or say that you want"
    " it so: RAY_AUTH_MODE=disabled for this server too."
)
ASK_AS_A_STRANGER = (
    "import sys; from ray._raylet import GcsClient;"
    f" GcsClient(address=sys.argv[1]).get_all_node_info(timeout={FIRST_ANSWER})"
)
NO_ANSWER = f"this machine has not become one of its nodes in {CONNECTED:g} s."


def main(descriptor: int, address: str, module: str) -> None:
    line = socket.socket(fileno=descriptor)
    with ThreadPoolExecutor(AT_ONCE) as calls, ThreadPoolExecutor(1) as looks:
        connected = Event()
        looks.submit(_expect, connected, line, address)
        try:
            cluster = Cluster(address, module)
        except Exception as error:  # noqa: BLE001 - whatever it was, these are its last words
            _give_up(line, address, _short(error))
        connected.set()
        line.send(READY)
        calls.submit(_refuse_open, line, address)
        _serve_all(line, address, cluster, calls, looks)


def _serve_all(
    line: socket.socket,
    address: str,
    cluster: "Cluster",
    calls: ThreadPoolExecutor,
    looks: ThreadPoolExecutor,
) -> NoReturn:
    look, since = looks.submit(cluster.look), time.monotonic()
    line.settimeout(LOOK)
    while True:
        try:
            said, descriptors, _, _ = socket.recv_fds(line, 16, 1)
        except TimeoutError:
            said, descriptors = b".", []
        if not said:
            # The server has ended. A signal at the death of a parent comes with the end of the
            # thread that started us, so it is of no use here.
            os._exit(0)
        for one in descriptors:
            calls.submit(_serve, cluster, socket.socket(fileno=one))
        if trouble := _trouble(look, since):
            _give_up(line, address, trouble)
        if look.done() and time.monotonic() - since > LOOK:
            look, since = looks.submit(cluster.look), time.monotonic()


class Cluster:
    def __init__(self, address: str, module: str) -> None:
        # Ray itself would try for long, whatever is wrong.
        socket.create_connection(place_of(address), FIRST_ANSWER).close()
        GcsClient(address=address).get_all_node_info(timeout=FIRST_ANSWER)
        while (owner := owner_of_node(address)) is None:
            time.sleep(0.2)
        if trouble := why_not_usable(owner, os.geteuid()):
            raise PermissionError(trouble)
        ray.init(
            address=address,
            namespace=NAMESPACE,
            _node_ip_address=own_address(address),
            log_to_driver=False,
            configure_logging=False,
        )
        self._own = ray.get_runtime_context().get_node_id()
        self._module = module
        self._turn = Lock()
        self._agents: dict[str, Any] = {}
        self._slots = Slots(_make_group, groups.remove_placement_group, self._room)
        self._nodes: list[RayNode] = []
        self.look()

    def look(self) -> str | None:
        """What is wrong with the Ray of this machine: without it nothing is ever answered again."""
        free = available_resources_per_node()
        self._nodes = [_node(one, free.get(one["NodeID"], {})) for one in ray.nodes()]
        alive = {one.id for one in self._nodes if one.alive}
        if self._own not in alive:
            return "Ray on this machine has ended."
        self._slots.tidy(alive)
        return None

    def _room(self) -> dict[str, Size]:
        return {one.id: Size(one.cpu_free, one.memory_free) for one in self._nodes if one.alive}

    def answer(self, ask: Ask) -> Answer:
        match ask.what:
            case "nodes":
                return Answer(nodes=self._nodes)  # of the last look: a dead head keeps nobody
            case "call":
                return Answer(frame=self._call(ask.node, ask.frame, ask.seconds))
            case "reserve":
                size = Size(ask.cpu, ask.memory)
                return Answer(node=self._slots.reserve(ask.runs[0], size, ask.among))
            case "release":
                self._slots.release(ask.runs)
                return Answer()
            case "reserved":
                return Answer(reserved=self._slots.reserved())

    def _call(self, node: str, frame: bytes, seconds: float) -> bytes:
        agent = self._agent(node)
        try:
            answer: bytes = ray.get(agent.call.remote(frame, seconds), timeout=seconds)
        except troubles.GetTimeoutError as error:
            raise TimeoutError(f"The node did not answer in {seconds:g} s.") from error
        except troubles.RayActorError:
            # Nobody knows what it did of this call, so the call is not repeated. The next one has
            # another agent.
            with self._turn:
                if self._agents.get(node) is agent:
                    del self._agents[node]
            raise
        return answer

    def _agent(self, node: str) -> Any:
        with self._turn:
            if node not in self._agents:
                made = ray.remote(num_cpus=0, max_restarts=0)(Agent).options(
                    max_concurrency=AT_ONCE_PER_NODE,
                    scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
                )
                self._agents[node] = made.remote(self._module)
            return self._agents[node]


def _make_group(size: Size, among: Collection[str]) -> tuple[Any, str] | None:
    made = groups.placement_group(
        [{"CPU": size.cpu, "memory": size.memory}],
        bundle_label_selector=[{NODE_ID: f"in({','.join(among)})"}],
    )
    ends = time.monotonic() + SLOWEST_GROUP
    while time.monotonic() < ends:
        table = groups.placement_group_table(made)
        if table.get("state") == "CREATED":
            return made, table["bundles_to_node_id"][0]
        if table and table["stats"]["scheduling_state"] in NO_ROOM:
            break
        time.sleep(0.002)
    groups.remove_placement_group(made)
    return None


def _node(one: dict[str, Any], free: dict[str, float]) -> RayNode:
    total = one["Resources"]
    return RayNode(
        id=one["NodeID"],
        address=one["NodeManagerAddress"],
        alive=one["Alive"],
        cpu=total.get("CPU", 0.0),
        cpu_free=free.get("CPU", 0.0),
        memory=int(total.get("memory", 0)),
        memory_free=int(free.get("memory", 0)),
    )


def _serve(cluster: Cluster, line: socket.socket) -> None:
    with line:
        try:
            ask = msgspec.msgpack.decode(lines.receive(line, time.monotonic() + HUNG), type=Ask)
            answer = cluster.answer(ask)
        except Exception as error:  # noqa: BLE001 - of Ray's many; the server gets it as a sentence
            answer = Answer(trouble=_short(error), is_late=isinstance(error, TimeoutError))
        try:
            lines.send(line, msgspec.msgpack.encode(answer), time.monotonic() + HUNG)
        except OSError:  # nobody waits for it any more
            return


def _expect(connected: Event, line: socket.socket, address: str) -> None:
    if not connected.wait(CONNECTED):
        _give_up(line, address, NO_ANSWER)


def lets_anybody_in(address: str) -> bool:
    """Whoever can start a process of Ray's can do anything on every node, so Ray must ask for its
    token. An operator who set another mode knows."""
    if settings.variables_with({}).get("RAY_AUTH_MODE", "").lower() != "token":
        return False
    asked = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", ASK_AS_A_STRANGER, address],
        env=settings.variables_with({"RAY_AUTH_MODE": "disabled"}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=CONNECTED,
        check=False,
    )
    return asked.returncode == 0


def _refuse_open(line: socket.socket, address: str) -> None:
    if lets_anybody_in(address):
        _give_up(line, address, OPEN)


def _trouble(look: "Future[str | None]", since: float) -> str | None:
    if not look.done():
        return "it does not answer." if time.monotonic() - since > HUNG else None
    error = look.exception()
    return look.result() if error is None else _short(error)


def _give_up(line: socket.socket, address: str, why: str) -> NoReturn:
    line.send(f"Ray at {address} cannot be reached: {why}".encode()[:LAST_WORDS])
    os._exit(1)  # a thread that waits for Ray never ends


def _short(error: BaseException) -> str:
    if isinstance(error, troubles.AuthenticationError):
        return STRANGER
    return _last_line(error)


def _last_line(error: BaseException) -> str:
    """Ray's errors are pages with a traceback; the last line says what happened."""
    said = [one.strip() for one in str(getattr(error, "cause", error)).splitlines()]
    last = next((one for one in reversed(said) if one), "") or type(error).__name__
    return in_plain_words(last)[:400]


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
