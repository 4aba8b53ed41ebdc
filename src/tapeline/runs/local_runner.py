"""Everything that carries out desired runs on this machine, as one part that is opened and
closed."""

import asyncio
from functools import partial

from tapeline.errors import CannotRunModels
from tapeline.logs import Log
from tapeline.runs import (
    host_identity,
    one_installation,
    pythons_of_hosts,
    unreleased_copy,
)
from tapeline.runs.cluster import one_engine
from tapeline.runs.engines import host_check as hosts
from tapeline.runs.engines import making, stopping_here
from tapeline.runs.engines.bell import Bell
from tapeline.runs.engines.host_check import Host
from tapeline.runs.engines.local import LocalEngine
from tapeline.runs.engines.model_files import keep_removing
from tapeline.runs.engines.stopping_here import Launched, Proof
from tapeline.runs.environments.interpreters import Found
from tapeline.runs.heartbeat import Heartbeat
from tapeline.runs.holding import holds
from tapeline.runs.holding.holds import Hold
from tapeline.runs.holding.server_holds import ServerHolds
from tapeline.runs.run import Run
from tapeline.runs.runner import refuse
from tapeline.runs.shared_keys import SharedKeys
from tapeline.runs.supervising import Means, Supervising
from tapeline.runs.supervision.install_places import Queue
from tapeline.runs.unreleased_copy import Copy
from tapeline.runs.upkeep.cleanup import Cleanup
from tapeline.runs.upkeep.failing_over import FailingOver
from tapeline.runs.upkeep.forgetting import Forgetting
from tapeline.runs.upkeep.giving_back import GivingBack
from tapeline.store.blobs import Blobs

log = Log(__name__)

LOOKED_EVERY, WITHIN = 10.0, 60.0  # seconds, while there is no sandbox


class LocalRunner:
    def __init__(self, means: Means, blobs: Blobs, interpreters: Found) -> None:
        settings, store, background = means.settings, means.store, means.background
        self._settings, self._store, self._background = settings, store, background
        self._blobs, self._interpreters, self._means = blobs, interpreters, means
        self._supervising: Supervising | None = None
        parts = (store, means.appender, means.watchers, background, settings.data)
        Forgetting(*parts)
        if store.database.file is None:  # on SQLite there is no other host
            FailingOver(*parts, float(settings.lease_seconds))
        GivingBack(store, background, settings.data)
        self.host: Host | None = None
        self.host_name = ""
        """What this host is called in the rows of its runs."""

    def open(self, port: int) -> None:
        """Find out what this host can do, and get ready to run models if it can.

        Before the first request is served; `port` is where models will reach us.
        """
        file = self._settings.data / host_identity.FILE
        one_engine.require(self._store, host_identity.name_in(file), "local", is_named=False)
        holds.mark_elsewhere(self._settings.data, are_elsewhere=False)
        self.host = hosts.examine(self._settings)
        if self._may_run(self.host):
            self._begin(self._ready(self.host, port))
        else:
            turn = partial(self._look_again, port)
            self._background.loop(
                "sandbox", turn, every=LOOKED_EVERY, first_after=LOOKED_EVERY, within=WITHIN
            )

    async def _look_again(self, port: int) -> None:
        """The disk may have been full, or the system may have been set up since."""
        if self._supervising is not None:
            return
        host = await asyncio.to_thread(hosts.examine, self._settings)
        if self._may_run(host):
            self._begin(await asyncio.to_thread(self._ready, host, port))
            log.info("sandbox_available", confinement=host.confinement())
        self.host = host

    def _ready(self, host: Host, port: int) -> LocalEngine:
        engine = self._engine(host)
        engine.begin(port)
        return engine

    def _begin(self, engine: LocalEngine) -> None:
        """All work around the models of this host."""
        data, store, background = self._settings.data, self._store, self._background
        self._holds = ServerHolds(data, background)
        self.host_name = engine.host
        collector = self._means.collector(engine)
        self._copy = Copy(data / host_identity.FILE, store, engine, collector.update)
        self._supervising = Supervising(self._means, engine, collector, self._holds, self._copy)
        Heartbeat(
            store,
            engine.host,
            background,
            self.is_untouched_copy,
            self.trouble,
            partial(one_installation.digests, data / "keys"),
            pythons_of_hosts.described(self._interpreters.interpreters),
        )
        SharedKeys(store, data / "keys", self._means.cipher, engine.host, background)
        self._bell = Bell(engine.folder, collector.rung, background)
        Cleanup(store, background, engine.clean_up)
        keep_removing(background, store, data)

    def require(self) -> None:
        """Raise why models cannot run here, before a run is recorded that nobody can start."""
        if problem := self.unable():
            raise CannotRunModels(
                f"This server cannot run models, because the sandbox is not available: {problem}"
            )
        refuse(self.hold(), self.trouble())

    def unable(self) -> str | None:
        """Why no model can run on this machine, if that is so."""
        if self.host is None or self._may_run(self.host):
            return None
        return " ".join(self.host.problems)

    def journal_lag(self) -> dict[str, int]:
        """By run of this host: how many bytes of its journal are not on the tape yet."""
        return {} if self._supervising is None else self._supervising.journal_lag()

    def install_queue(self) -> Queue:
        """How many installations run on this host, and how many wait for their turn."""
        return Queue() if self._supervising is None else self._supervising.install_queue()

    def trouble(self, *run_ids: str) -> str | None:
        """Why desired changes, or those of one of these runs, are not carried out at the moment."""
        if self._supervising is None:
            return None
        if run_ids and self.is_untouched_copy():
            return "this server is a copy on hold, and its original may still have the run"
        return self._supervising.trouble(*run_ids)

    def hold(self) -> Hold | None:
        """Why nothing runs on this server, if an operator or a copy has put it on hold."""
        if self._supervising is None:
            return holds.on_all(self._settings.data)
        return self._holds.on_all()

    def is_untouched_copy(self) -> bool:
        """Whether its runs may be those of another installation, from which it was copied."""
        return self._supervising is not None and self._copy.is_one

    def has(self, run: Run) -> bool:
        """Whether this server can say whether anything of the run is left."""
        return run.host == self.host_name

    def proof_of_end(self, run: Run) -> Proof:
        """What this machine's kernel says of a run that was here. In a thread."""
        return stopping_here.proof(self._settings.data, Launched(run.id, run.lock_name))

    def wake(self) -> None:
        if self._supervising is not None:
            self._supervising.wake()

    def leave(self) -> None:
        """There is no other machine."""

    def close(self) -> None:
        """Models keep running, and the next start finds them again."""
        if self._supervising is not None:
            self._supervising.close()
            self._bell.close()
            self._holds.close()

    async def stop_models(self) -> None:
        """Stop the models on this host, and bring their last output onto the tape."""
        if self._supervising is not None:
            await self._supervising.stop_models()

    def _may_run(self, host: Host) -> bool:
        return host.sandboxed or self._settings.unsafe_no_sandbox

    def _named(self) -> str:
        data, database = self._settings.data, self._store.database
        file = data / host_identity.FILE
        name = host_identity.settle(file, database.claim, database.give_back)
        unreleased_copy.hold_if_unreleased(data)
        if not host_identity.is_copied(file):
            one_engine.require(self._store, name, "local", is_named=True)
        return name

    def _engine(self, host: Host) -> LocalEngine:
        return making.local_engine(
            self._settings,
            self._blobs,
            self._interpreters,
            self._named(),
            host,
            self._background,
            self._store.clock,
            is_alone=self._store.database.file is not None,
        )
