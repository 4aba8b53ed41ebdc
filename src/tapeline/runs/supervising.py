"""What supervises runs, whichever engine has them: it reads, decides, carries out and samples."""

import asyncio
import os
from contextlib import suppress
from typing import NamedTuple

from tapeline.background import Background
from tapeline.runs import run as run_records
from tapeline.runs.engines.engine import Engine
from tapeline.runs.holding.server_holds import ServerHolds
from tapeline.runs.supervision.collector import Collector
from tapeline.runs.supervision.executor import Executor
from tapeline.runs.supervision.install_places import Queue
from tapeline.runs.unreleased_copy import Copy
from tapeline.runs.upkeep.sampling import Sampling
from tapeline.settings import Settings
from tapeline.store.encryption import Cipher
from tapeline.store.store import Store
from tapeline.tape.append.appending import Appender
from tapeline.tape.append.quotas import Quotas
from tapeline.tape.append.watchers import Watchers
from tapeline.tape.backtest_results.staging import Staging


class Means(NamedTuple):
    """The parts of a server that supervision needs."""

    settings: Settings
    store: Store
    cipher: Cipher
    appender: Appender
    watchers: Watchers
    staging: Staging
    quotas: Quotas
    background: Background

    def collector(self, engine: Engine) -> Collector:
        return Collector(
            self.store,
            engine,
            self.appender,
            self.watchers,
            self.staging,
            self.quotas,
            self.background,
        )


class Supervising:
    def __init__(
        self,
        means: Means,
        engine: Engine,
        collector: Collector,
        server_holds: ServerHolds,
        copy: Copy | None = None,
        *,
        lease: float | None = None,
        once: bool = False,
    ) -> None:
        """`lease` is for how many seconds a launch may live without a renewal. With `once`, only
        the server that leads supervises."""
        self._store = means.store
        self._engine = engine
        self._collector = collector
        settings = means.settings
        self._executor = Executor(
            means.store,
            engine,
            collector,
            means.cipher,
            means.background,
            slots=settings.backtest_slots or os.cpu_count() or 1,
            grace=float(settings.stop_seconds),
            server_holds=server_holds,
            copy=copy,
            lease=lease,
            once=once,
        )
        Sampling(means.store, engine, means.background, days=settings.sample_days, once=once)

    def trouble(self, *run_ids: str) -> str | None:
        """Why desired changes, or those of one of these runs, are not carried out at the moment."""
        about = [self._executor.trouble(), *map(self._executor.trouble_with, run_ids)]
        return next((one for one in about if one), None)

    def journal_lag(self) -> dict[str, int]:
        """By run of our hosts: how many bytes of its journal are not on the tape yet."""
        launched = self._store.read_now(run_records.launched_on, *self._engine.hosts())
        if not launched or self._engine.trouble() is not None:
            return {}
        found = self._engine.look(launched, closely=True)
        return {run_id: sight.lag for run_id, sight in found.of.items()}

    def install_queue(self) -> Queue:
        """How many installations run, and how many wait for their turn."""
        return self._executor.installations.queue()

    def set_slots(self, slots: int) -> None:
        """How many backtests may run at the same time from now on."""
        self._executor.slots = slots

    def wake(self) -> None:
        self._executor.wake()

    def close(self) -> None:
        """Models keep running, and the next start finds them again."""
        self._executor.close()
        self._collector.close()

    async def stop_models(self) -> None:
        """Stop the models of our hosts, and bring their last output onto the tape."""
        with suppress(asyncio.CancelledError):
            await self._executor.stop_all()
