"""What a node runs models with: the engine of one machine, made as the leading server says.

Models can be stopped, looked at and cleared as soon as there is an engine. They are started only
once a sandbox was tried and works, which is tried again from time to time.
"""

import os
import threading
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from tapeline.background import Background
from tapeline.errors import Problem
from tapeline.logs import Log
from tapeline.runs.engines import host_check, making
from tapeline.runs.engines.host_check import Host
from tapeline.runs.engines.local import LocalEngine
from tapeline.runs.environments import interpreters
from tapeline.runs.environments.interpreters import Found
from tapeline.runs.node.frames import NodeFailed
from tapeline.runs.run import Run
from tapeline.runs.sandbox.box import LeaseTerms
from tapeline.settings import Settings
from tapeline.store.blobs import Blobs

log = Log(__name__)

NOT_TOLD = "This node has not been told yet how to run models."
NOT_TRIED = "This node has not tried a sandbox yet."


class Machine:
    def __init__(
        self,
        data: Path,
        name: str,
        archives: Path,
        background: Background,
        lease: Callable[[Run], LeaseTerms | None],
    ) -> None:
        self.found = Found([], [])
        self._data, self._name, self._archives = data, name, archives
        self._background, self._lease = background, lease
        self._given: dict[str, Any] | None = None
        self._host: Host | None = None
        self._engine: LocalEngine | None = None
        self._unable = NOT_TRIED
        self._making = threading.Lock()

    @property
    def engine(self) -> LocalEngine:
        """To look at models and to end them, whatever else does not work here."""
        if self._engine is None:
            raise NodeFailed(NOT_TOLD)
        return self._engine

    def able_engine(self, refusal: type[Problem]) -> LocalEngine:
        """To start models as well."""
        if self._unable:
            raise refusal(self._unable)
        return self.engine

    @property
    def confinement(self) -> str:
        return "" if self._host is None else self._host.confinement()

    def trouble(self) -> str:
        """Why it takes no models; empty if it does."""
        if self._engine is None:
            return NOT_TOLD
        return self._unable or self._engine.trouble() or ""

    def take_over(self, given: dict[str, Any]) -> None:
        """After a restart: be able to end models at once. A sandbox is tried later."""
        with self._making:
            self._given = given
            self._make(_settings(self._data, given), None)

    def work_by(self, given: dict[str, Any]) -> None:
        """By the settings of the leading server."""
        with self._making:
            if given != self._given or self._unable:
                self._given = given
                self._try()

    def try_again(self) -> None:
        """If a sandbox did not work: what it lacks may have been installed since then, or the
        machine was only too busy."""
        with self._making:
            if self._given is not None and self._unable:
                self._try()

    def close(self) -> None:
        """Installations end; models live on, for as long as their leases do."""
        if self._engine is not None:
            self._engine.close()

    def tidy(self) -> None:
        """From time to time: free disk space by deleting files that can be made again."""
        if self._engine is not None:
            self._engine.clean_up()

    def look_for_pythons(self) -> None:
        self.found = interpreters.of_host(Settings(data=self._data))
        if self._engine is not None:
            self._engine.interpreters = self.found

    def _try(self) -> None:
        assert self._given is not None
        settings = _settings(self._data, self._given)
        if self._engine is None:
            self._make(settings, None)
        try:
            self._host = host_check.examine(settings)
        except OSError as error:  # such as a full disk
            self._unable = host_check.explained(str(error))
            return
        if self._host.networked:
            self._make(settings, self._host)
        self._unable = "" if self._host.networked else " ".join(self._host.problems)

    def _make(self, settings: Settings, host: Host | None) -> None:
        engine = making.local_engine(
            settings,
            Blobs(self._archives),
            self.found,
            self._name,
            host or _untried(),
            self._background,
            None,
            is_alone=True,
        )
        engine.lease = self._lease
        self._engine = engine  # now, because a full disk may refuse the rest: it can end models
        engine.begin(settings.port)


def _untried() -> Host:
    return Host(
        bwrap=None, slirp4netns=None, cgroup=None, is_root=os.geteuid() == 0, sandboxed=False,
        networked=False, problems=[],
    )  # fmt: skip


def _settings(data: Path, given: dict[str, Any]) -> Settings:
    """Those that this version has: a process of an earlier one may have kept them."""
    known = {one.name for one in fields(Settings)} - {"data"}
    if strange := sorted(given.keys() - known - {"data"}):
        log.warning("settings_unknown", names=strange)
    return Settings(data=data, **{name: given[name] for name in given.keys() & known})
