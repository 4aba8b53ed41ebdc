"""The nodes of the cluster as the leading server knows them: which there are, what each says of
itself, and how to ask them something."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol, TypeVar

import msgspec

from tapeline import __version__
from tapeline.background import Work
from tapeline.errors import Problem
from tapeline.logs import Log
from tapeline.runs.cluster.bridge import CannotReach, NoAnswer, RayNode
from tapeline.runs.node import frames, sealing
from tapeline.runs.node.frames import Opening, Says
from tapeline.thread_pools import threads

log = Log(__name__)

T = TypeVar("T")

DESCRIBED_WITHIN, OPENED_WITHIN, ANSWERED_WITHIN = 5.0, 120.0, 20.0  # seconds
AT_ONCE = 16


class Carrier(Protocol):
    """How frames reach nodes, and who has room: see `bridge`."""

    def nodes(self) -> list[RayNode]: ...

    def call(self, node_id: str, frame: bytes, timeout: float) -> bytes: ...

    def reserve(self, run_id: str, cpu: float, memory: int, among: Sequence[str]) -> str | None: ...

    def release(self, run_ids: Iterable[str]) -> None: ...

    def reserved(self) -> dict[str, str]: ...

    def trouble(self) -> str | None: ...

    def close(self) -> None: ...


class Member(msgspec.Struct, frozen=True):
    ray: RayNode
    says: Says
    trouble: str
    """Why it takes no models; empty if it does."""


def is_of_node(error: Exception) -> bool:
    """Whether a node, or the way to it, fails, and not this server."""
    return isinstance(error, Problem | OSError | msgspec.MsgspecError)


class Members:
    """Called from threads."""

    def __init__(
        self, carrier: Carrier, opening: Callable[[str], Opening], term: Callable[[], float]
    ) -> None:
        self._carrier, self._opening, self._term = carrier, opening, term
        self._known: dict[str, Member] = {}
        self._threads: ThreadPoolExecutor = threads(AT_ONCE, "nodes")
        # Apart, because it may take minutes on one of them.
        self._opening_threads: ThreadPoolExecutor = threads(AT_ONCE, "opening")
        self._being_opened: dict[str, Future[None]] = {}
        self._refreshing = threading.Lock()
        self._retired: set[str] = set()
        self._met: set[str] = set()
        self._why_never: dict[str, Exception] = {}
        self.refreshed_at = -float("inf")

    def all(self) -> dict[str, Member]:
        """Those that answered when they were last asked, by name."""
        return dict(self._known)

    def get(self, name: str | None) -> Member:
        if name is None or (found := self._known.get(name)) is None:
            raise CannotReach(f"The node {name} does not answer.")
        return found

    def refresh(self, work: Work) -> None:
        """Ask all. One that does not answer is not among them until it does."""
        with self._refreshing:
            there = [one for one in self._carrier.nodes() if one.alive and one.cpu > 0]
            found: dict[str, Member] = {}
            for ray, said in zip(there, self._threads.map(self._meet, there), strict=True):
                if isinstance(said, Exception):
                    why, about = self._reason(ray, said), f"node {ray.address}"
                    work.note(why, about, is_ours=not is_of_node(why))
                elif said.name in found:
                    other = found[said.name].ray.address
                    log.error("two_nodes_of_one_name", node=said.name, at=[other, ray.address])
                else:
                    found[said.name] = Member(ray, said, _why_not(said))
            self._known = found
            self._remember({one.id for one in there})
            self.refreshed_at = time.monotonic()

    def call(
        self, name: str | None, method: str, body: object, type_: type[T],
        within: float = ANSWERED_WITHIN,
    ) -> T:  # fmt: skip
        return self._ask(self.get(name).ray, method, body, type_, within)

    def term(self) -> float:
        """In which this server asks."""
        return self._term()

    def forget(self) -> None:
        """Another server leads by now."""
        self._known = {}

    def close(self) -> None:
        for pool in (self._threads, self._opening_threads):
            pool.shutdown(wait=False, cancel_futures=True)

    def _meet(self, ray: RayNode) -> Says | Exception:
        try:
            said = self._ask(ray, "describe", None, Says, DESCRIBED_WITHIN)
            opening = self._opening(said.name)
            if said.version != __version__:
                self._retire(ray)
            elif said.opened != frames.digest(opening):
                self._open(ray, said, opening)
        except Exception as error:  # noqa: BLE001 - of one node; the others are met
            return error
        return said

    def _reason(self, ray: RayNode, error: Exception) -> Exception:
        """One that has never answered has no row that says why, only the log. It may fail sooner or
        later than we wait, in turns, and that it is late explains nothing."""
        if ray.id in self._met or not isinstance(error, NoAnswer):
            self._why_never[ray.id] = error
        return self._why_never.get(ray.id, error)

    def _remember(self, there: set[str]) -> None:
        self._met = (self._met | {one.ray.id for one in self._known.values()}) & there
        self._retired &= there
        for by_id in (self._why_never, self._being_opened):
            for gone in by_id.keys() - there:
                del by_id[gone]

    def _open(self, ray: RayNode, said: Says, opening: Opening) -> None:
        """Beside everything else, and not twice at the same time. What came of the last time is the
        answer of this one."""
        before = self._being_opened.get(ray.id)
        if before is not None and not before.done():
            return
        sealed = sealing.seal(msgspec.msgpack.encode(opening), said.public_key)
        self._being_opened[ray.id] = self._opening_threads.submit(
            self._ask, ray, "open", sealed, type(None), OPENED_WITHIN
        )
        if before is not None:
            before.result()

    def _retire(self, ray: RayNode) -> None:
        """A process of another version ends. Once for each time that Ray was started there: if that
        is what is installed, it comes back."""
        if ray.id not in self._retired:
            self._retired.add(ray.id)
            self._ask(ray, "retire", None, type(None), DESCRIBED_WITHIN)

    def _ask(self, ray: RayNode, method: str, body: object, type_: type[T], within: float) -> T:
        frame = frames.ask(method, self._term(), body)
        return frames.answered(self._carrier.call(ray.id, frame, within), type_)


def _why_not(said: Says) -> str:
    if said.version != __version__:
        return f"it runs Tapeline {said.version}, and the servers run {__version__}"
    return said.trouble or ("" if said.opened else "it is being made ready")
