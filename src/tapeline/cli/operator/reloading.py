"""SIGHUP to a running server: its settings are read again, and those that can change do.

All parts of a server are made from its settings at the start, so most need a restart. The log says
which ones.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import fields, replace

from tapeline import logs
from tapeline.errors import Problem
from tapeline.settings import Settings

log = logs.Log(__name__)

AT_ONCE = ("log_level", "log_format")


class Reloading:
    def __init__(self, chosen: Settings, read: Callable[[], Settings]) -> None:
        self._now = chosen
        self._read = read
        self._had_terminal = os.isatty(0)

    def is_hung_up(self) -> bool:
        """Whether the signal means that the terminal was closed: nobody asks for a reload."""
        return self._had_terminal and not os.isatty(0)

    def reload(self) -> None:
        """An invalid setting changes nothing."""
        try:
            read = self._read()
        except Problem as problem:
            log.error("settings_not_reloaded", reason=problem.message)
            return
        changed = [
            one.name
            for one in fields(Settings)
            if getattr(read, one.name) != getattr(self._now, one.name)
        ]
        self._now = replace(self._now, **{name: getattr(read, name) for name in AT_ONCE})
        logs.start(self._now.log_level, self._now.log_format)
        log.warning(  # shown at nearly every level: somebody is waiting for it
            "settings_reloaded",
            changed=_listed(name for name in changed if name in AT_ONCE),
            need_a_restart=_listed(name for name in changed if name not in AT_ONCE),
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
