"""What a node does when the leading server asks: one method for each kind of request.

Called from threads. The node has no database and decides nothing: it runs what it is told to run,
and takes no orders from a server that leads no more.
"""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from tapeline import __version__, private_files
from tapeline.background import Background
from tapeline.errors import (
    CannotLaunchNow,
    CannotPrepareNow,
    OnHold,
    Problem,
    Unavailable,
)
from tapeline.leading import LeadsNoMore
from tapeline.logs import Log
from tapeline.runs import pythons_of_hosts
from tapeline.runs.engines import model_files, stopping_here
from tapeline.runs.engines.engine import LaunchSecrets, NeedsInstalling
from tapeline.runs.engines.installing import NoProgress
from tapeline.runs.engines.local import LocalEngine
from tapeline.runs.engines.model_files import Doomed, Remains
from tapeline.runs.engines.stopping_here import Launched
from tapeline.runs.holding import holds
from tapeline.runs.holding.server_holds import ServerHolds
from tapeline.runs.node import files, frames, sealing
from tapeline.runs.node.archives import Archives
from tapeline.runs.node.frames import NodeFailed, Opening, Says
from tapeline.runs.node.machine import Machine
from tapeline.runs.node.preparing import Preparations
from tapeline.runs.node.renewing import Renewing
from tapeline.runs.node.servers import Servers
from tapeline.runs.run import Run
from tapeline.runs.sandbox.box import LeaseTerms

log = Log(__name__)

OPENING, KEY, TERM = "opening", "sealing.key", "term"
GRANTED_WITHIN, LONGEST_WAIT, LAST_ANSWER = 30.0, 30.0, 0.5  # seconds


class NodeWork:
    def __init__(
        self, data: Path, name: str, loop: asyncio.AbstractEventLoop, background: Background
    ) -> None:
        self.name = name
        self.servers = Servers(name)
        self.renewing = Renewing(data / "runs", self.servers, name)
        self.renewing.on_servers = self._meet
        self.on_retire: Callable[[], None] = lambda: None
        self._data, self._loop = data, loop
        self._holds = ServerHolds(data, background)
        self._key = private_files.read_or_make(data / KEY, sealing.new_key)
        self._opening: Opening | None = None
        self._archives = Archives(data / "archives")
        self.machine = Machine(data, name, self._archives.folder, background, self._lease)
        self._preparations = Preparations()
        self._lock, self._keeping = threading.Lock(), threading.Lock()
        self._started: dict[str, int] = {}
        """By run, the epoch of its launch here."""
        self._starting = threading.Lock()
        self._rung: set[str] = set()
        self._rung_now = threading.Condition()
        self._is_hushed = False
        self._term = self._kept_term = _read_term(data / TERM)

    def recall(self) -> None:
        """After a restart: what is needed to renew the leases of the models that run."""
        file = self._data / OPENING
        try:
            opening = msgspec.msgpack.decode(file.read_bytes(), type=Opening)
        except FileNotFoundError:
            return
        except (OSError, msgspec.MsgspecError) as error:  # an earlier version may have written it
            log.warning("opening_not_used", reason=str(error))
            return
        self._take(opening)

    def resume(self) -> None:
        """Take over the models that run. What fails is tried again from time to time."""
        self.machine.look_for_pythons()
        if self._opening is not None:
            try:
                self.machine.take_over(self._opening.settings)
            except Exception as error:
                log.error("node_not_resumed", exc_info=error)

    def close(self) -> None:
        self._holds.close()
        self.machine.close()

    def hush(self) -> None:
        """Let nobody wait for news any longer: this process ends."""
        with self._rung_now:
            self._is_hushed = True
            self._rung_now.notify_all()

    def tidy(self) -> None:
        """From time to time."""
        self.machine.tidy()
        self.machine.look_for_pythons()
        self._keep_term()
        files.shorten_log(self._data)

    def rung(self, names: set[str]) -> None:
        """By their shims."""
        with self._rung_now:
            self._rung |= names
            self._rung_now.notify_all()

    def answer(self, frame: bytes) -> bytes:
        try:
            request = frames.read(frame, frames.Request)
            self._obey(request.term)
            act: Callable[[bytes], Any] = getattr(self, f"do_{request.method}")
            return frames.answer(act(request.body))
        except Exception as error:
            if not isinstance(error, Problem):
                log.error("bug", exc_info=error)
            return frames.refusal(error)

    # Requests

    def do_describe(self, _body: bytes) -> Says:
        return Says(
            name=self.name,
            machine=socket.gethostname(),
            version=__version__,
            pythons=pythons_of_hosts.described(self.machine.found.interpreters),
            confinement=self.machine.confinement,
            trouble=self._trouble(),
            public_key=sealing.public_part(self._key),
            opened="" if self._opening is None else frames.digest(self._opening),
        )

    def do_retire(self, _body: bytes) -> None:
        """End, so that the agent starts the version that is installed now. Models live on."""
        log.info("node_retires", version=__version__)
        # Not before whoever asked has its answer.
        self._loop.call_soon_threadsafe(self._loop.call_later, LAST_ANSWER, self.on_retire)

    def do_open(self, body: bytes) -> None:
        sealed = frames.read(body, bytes)
        opening = frames.read(sealing.unseal(sealed, self._key), Opening)
        with _even_on_a_full_disk("opening_not_kept"):
            private_files.write(self._data / OPENING, msgspec.msgpack.encode(opening))
        self._take(opening)
        self.machine.work_by(opening.settings)
        with suppress(Unavailable):  # told as a trouble
            self._in_loop(self.renewing.renew())

    def do_archive(self, body: bytes) -> bool:
        """A piece of an archive; with no content, whether it is here."""
        piece = frames.read(body, frames.Piece)
        name = _plain(piece.name)
        return self._archives.take(name, piece) if piece.content else self._archives.has(name)

    def do_prepare(self, body: bytes) -> frames.Preparing:
        """At once if nothing has to be installed. Else it begins, and `preparing` says how far it
        is."""
        said = frames.read(body, frames.Prepare)
        engine = self.machine.able_engine(CannotPrepareNow)
        if not said.may_install:
            try:
                prepared = engine.prepare(said.job, None)
            except NeedsInstalling as needs:
                return frames.Preparing(needs="at once" if needs.at_once else "a place")
            return frames.Preparing(lock=prepared.lock, confinement=prepared.confinement)
        self._preparations.begin(engine.prepare, said.job)
        return frames.Preparing()

    def do_preparing(self, body: bytes) -> frames.Preparing:
        return self._preparations.state(frames.read(body, str))

    def do_cancel(self, body: bytes) -> None:
        self._preparations.cancel(frames.read(body, str))

    def do_start(self, body: bytes) -> None:
        said = frames.read(body, frames.Start)
        engine = self.machine.able_engine(CannotLaunchNow)
        try:
            content = sealing.unseal(said.sealed, self._key)
        except sealing.NotSealedToUs:
            raise CannotLaunchNow("Its secrets are sealed to an earlier key of the node.") from None
        given = msgspec.msgpack.decode(content, type=LaunchSecrets)
        run = said.job.run
        assert run.fence is not None
        self._refuse_held(run)
        with self._starting:
            if self._started.get(run.id) == run.fence:
                return  # asked twice: a start empties the run's folders
            # First: it is renewed from now on, however long its folders take to copy.
            self._in_loop(self.renewing.grant(run.id, run.fence))
            self._started[run.id] = run.fence
        try:
            engine.prepare(said.job, NoProgress())  # this process may be new, or its cache empty
            engine.start(said.job, given)
            self._end_if_held(engine, run)
        except BaseException:
            self.renewing.drop(run.id, run.fence)
            with self._starting:
                if self._started.get(run.id) == run.fence:  # and not a later launch of it
                    del self._started[run.id]
            raise

    def do_stop(self, body: bytes) -> None:
        said = frames.read(body, frames.Stop)
        self.machine.engine.stop(said.run, now=said.now)

    def do_look(self, body: bytes) -> frames.Seen:
        said, engine = frames.read(body, frames.Look), self.machine.engine
        found = engine.look(said.runs, closely=said.closely)
        unknown = {run: f"{type(error).__name__}: {error}" for run, error in found.unknown.items()}
        held = dict(self._holds.all())  # after the look: see `Sights.holds`
        return frames.Seen(found.of, unknown, sorted(found.left), held)

    def do_lift(self, body: bytes) -> None:
        self._holds.lift(_plain(frames.read(body, str)))

    def do_read(self, body: bytes) -> frames.ReadOut:
        said = frames.read(body, frames.Read)
        chunk = self.machine.engine.read(said.run, said.offset, said.limit_bytes)
        output = chunk.output
        bare = msgspec.structs.replace(chunk, output=None)
        if output is None:
            return frames.ReadOut(bare, None, None)
        size = None if output.result is None else output.result.stat().st_size
        return frames.ReadOut(bare, output.ending, size)

    def do_result(self, body: bytes) -> frames.Piece:
        piece = frames.read(body, frames.Piece)
        file = self._data / "runs" / _plain(piece.name) / "out" / "result.json"
        with file.open("rb") as opened:
            opened.seek(piece.offset)
            content = opened.read(frames.PIECE)
        return frames.Piece(piece.name, piece.offset, content, len(content) < frames.PIECE)

    def do_news(self, body: bytes) -> list[str]:
        """Runs whose journals have grown since the last time; it waits for some."""
        until = time.monotonic() + min(LONGEST_WAIT, frames.read(body, float))
        with self._rung_now:
            while not (self._rung or self._is_hushed) and (left := until - time.monotonic()) > 0:
                self._rung_now.wait(left)
            names, self._rung = sorted(self._rung), set()
        return names

    def do_clear(self, body: bytes) -> None:
        run_id = frames.read(body, str)
        self.renewing.drop(run_id)
        self._preparations.forget(run_id)
        self._started.pop(run_id, None)
        engine = self.machine.engine
        engine.clear(self.name, run_id)

    def do_remains(self, _body: bytes) -> Remains:
        """What lies here, of which the server knows what was deleted."""
        return model_files.found(self._data)

    def do_discard(self, body: bytes) -> None:
        some = frames.read(body, Doomed)
        for name in (*some.models, *some.archives, *some.environments):
            _plain(name)
        failed = model_files.discard(self._data, some)
        if failed:
            why = "; ".join(f"{about}: {error}" for about, error in failed.items())
            raise NodeFailed(f"Files could not be removed. {why}")

    def do_proof(self, body: bytes) -> stopping_here.Proof:
        return stopping_here.proof(self._data, frames.read(body, Launched))

    # Inside

    def _obey(self, term: float) -> None:
        with self._lock:
            if term < self._term:
                raise LeadsNoMore
            is_new, self._term = term > self._term, term
        if is_new:
            self._keep_term()

    def _keep_term(self) -> None:
        """On the disk, because this process may be started anew between two servers. If that is
        full, the server that leads must be obeyed all the same: it may have models to stop."""
        with self._keeping, _even_on_a_full_disk("term_not_kept"):
            if self._kept_term < self._term:
                private_files.write(self._data / TERM, repr(self._term).encode())
                self._kept_term = self._term

    def _refuse_held(self, run: Run) -> None:
        """Not as a launch that is impossible for now: it would be given to another node, and
        whoever stopped it here wants it to stay stopped. The next look tells the server why."""
        held = self._holds.all()
        if hold := held.get(holds.ALL) or held.get(run.lock_name):
            raise OnHold(f"The node {self.name} is {hold.sentence()}")

    def _end_if_held(self, engine: LocalEngine, run: Run) -> None:
        """`tapeline halt --here` may have looked for processes just before this one began."""
        try:
            self._refuse_held(run)
        except OnHold:
            engine.stop(run)
            raise

    def _take(self, opening: Opening) -> None:
        self._opening = opening
        self.renewing.seconds = opening.lease_seconds
        self._meet(opening.servers)

    def _lease(self, run: Run) -> LeaseTerms:
        """When it is launched: nothing starts here without a lease."""
        assert run.fence is not None
        until = self.renewing.until(run.id, run.fence)
        return LeaseTerms(file=str(self.renewing.file), fence=run.fence, until=until)

    def _in_loop(self, act: Coroutine[Any, Any, None]) -> None:
        future = asyncio.run_coroutine_threadsafe(act, self._loop)
        try:
            future.result(GRANTED_WITHIN)
        finally:
            future.cancel()  # does nothing if it is done

    def _meet(self, servers: list[frames.Server]) -> None:
        if self._opening is not None:
            self.servers.set(self._opening.token, servers)

    def _trouble(self) -> str:
        if hold := self._holds.on_all():
            return f"It is {hold.sentence()}"
        if self._opening is not None and self.renewing.trouble:
            return self.renewing.trouble
        return self.machine.trouble()


@contextmanager
def _even_on_a_full_disk(event: str) -> Iterator[None]:
    """What is written only for the next start must not keep a server from ending models."""
    try:
        yield
    except OSError as error:
        log.error(event, reason=str(error))


def _plain(name: str) -> str:
    """A name that leads nowhere else, whoever sent it."""
    if not name or name.startswith(".") or "/" in name:
        raise NodeFailed("This is not a name.")
    return name


def _read_term(file: Path) -> float:
    try:
        return float(file.read_text())
    except (OSError, ValueError):
        return 0.0
