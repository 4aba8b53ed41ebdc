"""Renews the leases of this node's runs, all in one request, at any API server.

A run whose lease is not renewed in time is ended by its own shim, which reads the deadlines from a
file and needs nobody. They are counted from before the request, by a clock that never jumps and
goes on while the machine sleeps: a server that answers late gives no time away.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec

from tapeline.clock import BOOT_ID
from tapeline.errors import CannotLaunchNow, Unavailable
from tapeline.logs import Log
from tapeline.runs import heartbeat, leases
from tapeline.runs.node.frames import Server
from tapeline.runs.node.servers import Servers, elapsed

log = Log(__name__)

PATH = "/lease"
FILE = "leases"
MEMORY = Path("/dev/shm")  # noqa: S108 - in a private folder; on a full disk no lease must be lost
NAMES = "^[0-9A-Za-z_-]{1,64}$"
RENEWALS = 3
"""Within one lease."""
BEAT_WITHIN = 5.0  # seconds


class Renewal(msgspec.Struct, frozen=True):
    """The request; by run, the epoch of its launch."""

    runs: dict[Annotated[str, msgspec.Meta(pattern=NAMES)], Annotated[int, msgspec.Meta(ge=0)]]
    left: float = 0.0
    """For how many seconds the longest lease here still lasts: it may have been given when leases
    were longer, and its shim goes by that."""


class Renewed(msgspec.Struct, frozen=True):
    seconds: float
    runs: list[str]
    servers: list[Server]
    """All that there are now."""


class Renewing:
    def __init__(self, folder: Path, servers: Servers, name: str) -> None:
        # Of this start of the machine: the clock of the deadlines begins anew with each.
        self.file = _private(folder, name) / f"{FILE}-{BOOT_ID.read_text().strip()}"
        self.seconds = 6.0
        self.renewed_at: float | None = None
        """By the clock of the deadlines."""
        self.on_servers: Callable[[list[Server]], None] = lambda _servers: None
        self._servers = servers
        self._held = {run: lease for run, lease in _read(self.file).items() if lease[1] > elapsed()}
        self._turn, self._changing = asyncio.Lock(), threading.Lock()
        self.trouble = ""

    async def keep(self) -> None:
        """Until cancelled."""
        while True:
            began = elapsed()
            try:
                if self._servers.are_known:
                    await (self.renew() if self._is_due(began) else self.beat())
            except Unavailable:
                pass  # told; the next time may be better
            except Exception as error:
                log.error("bug", exc_info=error)
            pause = min(heartbeat.EVERY, self.seconds / RENEWALS)
            await asyncio.sleep(max(0.05, began + pause - elapsed()))

    async def grant(self, run_id: str, fence: int) -> None:
        """To a launch that is about to start here."""
        with self._changing:
            self._held[run_id] = (fence, 0.0)
        try:
            await self._grant(run_id, fence)
        except BaseException:  # whatever it was: nothing starts, so nothing is to be renewed
            self.drop(run_id, fence)
            raise

    async def _grant(self, run_id: str, fence: int) -> None:
        try:
            await self.renew()
            self.until(run_id, fence)
        except Unavailable as error:
            why = f"Its node could not get a lease for it: {error.message}"
            raise CannotLaunchNow(why) from error

    def until(self, run_id: str, fence: int) -> float:
        """By when it must have been renewed again."""
        known, until = self._held.get(run_id, (None, 0.0))
        if known != fence or until <= elapsed():
            raise CannotLaunchNow("Its node has no lease for it: it was started elsewhere or anew.")
        return until

    def drop(self, run_id: str, fence: int | None = None) -> None:
        """That launch of it, or whichever there is. From any thread."""
        with self._changing:
            if fence in (None, self._held.get(run_id, (None, 0.0))[0]):
                self._held.pop(run_id, None)

    async def renew(self) -> None:
        async with self._turn:
            began = elapsed()
            with self._changing:
                # What its shim, or the kernel, has ended by now is not renewed any more.
                held = {
                    run: (fence, until)
                    for run, (fence, until) in self._held.items()
                    if until == 0.0 or until > began
                }
            asked = {run: fence for run, (fence, _) in held.items()}
            longest = max((until for _, until in held.values()), default=0.0)
            body = Renewal(asked, max(0.0, longest + leases.MARGIN - began))
            # Less than a lease: an answer that comes later than that renews nothing.
            self._take(asked, began, await self._post(body, self.seconds - leases.MARGIN))

    async def beat(self) -> None:
        """Between two renewals of long leases: a node that says nothing for some seconds counts as
        silent. It keeps no renewal waiting for long."""
        await self._post(Renewal({}), min(BEAT_WITHIN, self.seconds - leases.MARGIN))

    def _is_due(self, now: float) -> bool:
        """Whether the next time would be too late for a renewal."""
        third = self.seconds / RENEWALS
        return self.renewed_at is None or now + heartbeat.EVERY > self.renewed_at + third

    async def _post(self, body: Renewal, within: float) -> Renewed:
        try:
            said = await self._servers.post(PATH, body, within)
        except Unavailable as error:
            self._tell(error.message)
            raise
        self._tell("")
        renewed = msgspec.convert(said, Renewed)
        self.seconds = renewed.seconds
        if renewed.servers:
            self.on_servers(renewed.servers)
        return renewed

    def _take(self, asked: dict[str, int], began: float, said: Renewed) -> None:
        self.renewed_at = began
        until = began + said.seconds - leases.MARGIN
        renewed = set(said.runs)
        with self._changing:
            for run, fence in asked.items():
                known, before = self._held.get(run, (None, 0.0))
                if known != fence:
                    continue  # cleared meanwhile, or started anew
                if run in renewed:
                    # As its shim has it, which leases that have become shorter do not hurry.
                    self._held[run] = (fence, max(before, until))
                else:  # it has ended, or runs elsewhere
                    log.warning("lease_refused", run=run)
                    del self._held[run]
            held = dict(self._held)
        _write(self.file, held)

    def _tell(self, trouble: str) -> None:
        if trouble and not self.trouble:
            log.warning("leases_not_renewed", reason=trouble, runs=len(self._held))
        elif self.trouble and not trouble:
            log.info("leases_renewed_again", runs=len(self._held))
        self.trouble = trouble


def _private(folder: Path, name: str) -> Path:
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return folder
    made = MEMORY / f"tapeline-{name}"
    made.mkdir(mode=0o700, exist_ok=True)
    if made.stat().st_uid != os.geteuid() or made.is_symlink():
        return folder  # somebody else has taken the name
    return made


def _read(file: Path) -> dict[str, tuple[int, float]]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, tuple[int, float]])
    except (OSError, msgspec.DecodeError):
        return {}


def _write(file: Path, held: dict[str, tuple[int, float]]) -> None:
    draft = file.with_name(f".{file.name}")
    draft.write_bytes(msgspec.json.encode(held))
    draft.rename(file)
