"""Runs models on the nodes of a cluster: the same seam as this machine, asked over frames."""

import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from weakref import WeakValueDictionary

import msgspec

from tapeline.errors import (
    CannotInstall,
    CannotLaunchNow,
    CannotPrepareNow,
    Unavailable,
)
from tapeline.leading import LeadsNoMore
from tapeline.runs.cluster import looks
from tapeline.runs.cluster.fetched_files import FetchedFiles
from tapeline.runs.cluster.looks import Looks
from tapeline.runs.cluster.members import Carrier, Member, Members
from tapeline.runs.engines.engine import (
    Job,
    LaunchSecrets,
    NeedsInstalling,
    Prepared,
    Progress,
    Sights,
)
from tapeline.runs.engines.stopping_here import Launched, Proof
from tapeline.runs.holding.holds import Hold
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.journals.meaning import BacktestOutput
from tapeline.runs.node import frames, sealing
from tapeline.runs.node.frames import NodeFailed
from tapeline.runs.run import Run
from tapeline.store.blobs import Blobs

READ_AT_ONCE = 1_000_000  # bytes of a journal
STARTED_WITHIN, STOPPED_WITHIN = 60.0, 30.0  # seconds
FOLLOWED_EVERY, AVOIDED_FOR = 0.2, 30.0
MEGABYTE = 1024 * 1024


class ClusterEngine:
    def __init__(
        self,
        members: Members,
        carrier: Carrier,
        blobs: Blobs,
        fetched: FetchedFiles,
        patience: float = looks.PATIENCE,
    ) -> None:
        """`patience`: seconds for which a look waits for nodes that do not answer."""
        self._members, self._carrier, self._blobs = members, carrier, blobs
        self._fetched = fetched
        self._looks = Looks(members, patience)
        self._is_closed = threading.Event()
        self._handing_over: WeakValueDictionary[tuple[str | None, str], threading.Lock]
        self._handing_over, self._naming = WeakValueDictionary(), threading.Lock()
        self._avoided: dict[str, dict[str, float]] = {}
        """By run, the nodes that could not start it, and until when they are not asked again."""

    def hosts(self) -> Collection[str]:
        """Those that answer. Of the others nobody can say anything but that their leases end."""
        return self._members.all().keys()

    def trouble(self) -> str | None:
        return self._carrier.trouble()

    def place(self, runs: Sequence[Run], drained: Collection[str]) -> dict[str, str]:
        """Where Ray has room for their plans, among the nodes that can run them."""
        members = self._members.all()
        able = {
            name: one for name, one in members.items() if not one.trouble and name not in drained
        }
        placed = {}
        for run in runs:
            avoided = self._avoided_by(run.id)
            fit = {
                one.ray.id: name
                for name, one in able.items()
                if name not in avoided and _has_python(one, run)
            }
            try:
                found = self._reserve(run, list(fit)) if fit else None
            except Unavailable:
                break  # `trouble` says why; those that have a place keep it
            if found in fit:
                placed[run.id] = fit[found]
        return placed

    def prepare(self, job: Job, progress: Progress | None) -> Prepared:
        host, run_id = job.run.host, job.run.id
        if self._is_closed.is_set():
            raise CannotPrepareNow("The server is stopping.")
        ask = partial(self._members.call, host)
        with self._avoiding(job.run), _told_as_passing():
            self._hand_over(host, job.version.archive)
            body = frames.Prepare(job, may_install=progress is not None)
            said = ask("prepare", body, frames.Preparing)
            if said.needs:
                raise NeedsInstalling(at_once=said.needs == "at once")
            is_told = False
            while said.lock is None and progress is not None:
                if self._is_closed.wait(FOLLOWED_EVERY):
                    raise CannotPrepareNow("The server is stopping.")
                if progress.is_cancelled():
                    ask("cancel", run_id, type(None))
                said = ask("preparing", run_id, frames.Preparing)
                if said.is_installing and not is_told:
                    progress.installing()
                    is_told = True
                if said.lines:
                    progress.lines(said.lines)
        assert said.lock is not None
        return Prepared(said.lock, said.confinement)

    def start(self, job: Job, given: LaunchSecrets) -> None:
        """A node that does not answer may have started it all the same: its lease decides."""
        to = self._members.get(job.run.host).says.public_key
        sealed = sealing.seal(msgspec.msgpack.encode(given), to)
        body = frames.Start(job, sealed)
        try:
            with self._avoiding(job.run):
                self._members.call(job.run.host, "start", body, type(None), STARTED_WITHIN)
        finally:
            self._looks.started(job.run.host, job.run.id)

    def stop(self, run: Run, *, now: bool = False) -> None:
        body = frames.Stop(run, now)
        self._members.call(run.host, "stop", body, type(None), STOPPED_WITHIN)

    def look(self, runs: Sequence[Run], *, closely: bool = False) -> Sights:
        """All nodes at the same time. The runs of one that does not answer soon are unknown."""
        held: dict[str, Mapping[str, Hold]] = {}
        found = Sights({}, {}, {}, held)
        by_host = {name: [run for run in runs if run.host == name] for name in self.hosts()}
        answers = self._looks.closely(by_host) if closely else self._looks.at(by_host)
        for name, said in answers.items():
            if isinstance(said, Exception):
                found.unknown.update({run.id: said for run in by_host[name]})
                continue
            found.of.update(said.of)
            found.unknown.update({run: NodeFailed(why) for run, why in said.unknown.items()})
            found.left.update(dict.fromkeys(said.left, name))
            if said.holds:
                held[name] = said.holds
        return found

    def read(self, run: Run, offset: int, limit_bytes: int = READ_AT_ONCE) -> Chunk:
        body = frames.Read(run, offset, limit_bytes)
        said = self._members.call(run.host, "read", body, frames.ReadOut)
        if said.ending is None:
            return said.chunk
        result = None if said.result_bytes is None else self._fetch(run)
        output = BacktestOutput(said.ending, result)
        return msgspec.structs.replace(said.chunk, output=output)

    def clear(self, host: str, run_id: str) -> None:
        self._fetched.discard_result(run_id)  # first: the node may not answer, now or ever
        self._members.call(host, "clear", run_id, type(None), STOPPED_WITHIN)
        self.give_back([run_id])

    def lift(self, host: str, name: str) -> None:
        self._members.call(host, "lift", name, type(None))
        self._looks.forget(host)  # it may be started again at once

    def close(self) -> None:
        """What a node is preparing goes on there, and the next server that leads follows it."""
        self._is_closed.set()
        self._looks.close()
        self._members.close()
        self._carrier.close()

    def proof(self, run: Run) -> Proof:
        body = Launched(run.id, run.lock_name)
        return self._members.call(run.host, "proof", body, Proof)

    # Rooms

    def keep_rooms(self, runs: Sequence[Run]) -> set[str]:
        """Of what runs: this server, its bridge, or Ray on a node may be new. The runs that have
        one, of which some may have ended."""
        members, known = self._members.all(), self._carrier.reserved()
        for run in runs:
            if run.id not in known and run.host in members:
                self._reserve(run, [members[run.host].ray.id])
        return set(known)

    def give_back(self, runs: Iterable[str]) -> None:
        """Rooms of runs that have ended."""
        over = set(runs)
        self._carrier.release(over)
        for run_id in over:
            self._avoided.pop(run_id, None)

    @contextmanager
    def _avoiding(self, run: Run) -> Iterator[None]:
        """A node that could not prepare or start it is not asked again for a while."""
        try:
            yield
        except (CannotPrepareNow, CannotLaunchNow):
            until = time.monotonic() + AVOIDED_FOR
            self._avoided.setdefault(run.id, {})[run.host or ""] = until
            raise

    def _avoided_by(self, run_id: str) -> set[str]:
        now = time.monotonic()
        return {name for name, until in self._avoided.get(run_id, {}).items() if until > now}

    def _reserve(self, run: Run, among: list[str]) -> str | None:
        cpu, memory = run.cpu_milli / 1000, run.memory_mb * MEGABYTE
        return self._carrier.reserve(run.id, cpu, memory, among)

    # Files

    def _hand_over(self, host: str | None, archive: str) -> None:
        """In pieces, unless the node has it. One at a time: several runs of a new version begin
        together."""
        with self._naming:
            turn = self._handing_over.setdefault((host, archive), threading.Lock())
        with turn:
            if not self._members.call(host, "archive", frames.Piece(archive, 0), bool):
                self._send(host, archive)

    def _send(self, host: str | None, archive: str) -> None:
        with self._fetched.archive(archive) as copy:
            self._blobs.fetch(archive, copy)
            with copy.open("rb") as file:
                offset, size = 0, copy.stat().st_size
                while content := file.read(frames.PIECE):
                    is_last = offset + len(content) >= size
                    piece = frames.Piece(archive, offset, content, is_last)
                    self._members.call(host, "archive", piece, bool)
                    offset += len(content)

    def _fetch(self, run: Run) -> Path:
        """The result of a backtest, until the run is cleared."""
        file, offset = self._fetched.result(run.id), 0
        with file.open("wb") as out:
            while True:
                asked = frames.Piece(run.id, offset)
                piece = self._members.call(run.host, "result", asked, frames.Piece)
                out.write(piece.content)
                offset += len(piece.content)
                if piece.is_last:
                    return file


def _has_python(member: Member, run: Run) -> bool:
    return f'"{run.python_version}"' in member.says.pythons


@contextmanager
def _told_as_passing() -> Iterator[None]:
    """A node that does not answer, or fails, is not the model's fault."""
    try:
        yield
    except LeadsNoMore:
        raise
    except (Unavailable, NodeFailed) as error:
        raise CannotPrepareNow(error.message) from error
    except FileNotFoundError as error:
        raise CannotInstall(str(error)) from error
