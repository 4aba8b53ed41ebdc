"""The process of ours on each node: it runs models for the cluster, and renews their leases.

Started by Ray's agent there, and not a part of Ray: models live on when Ray or its head is gone.
`python -m tapeline.runs.node` starts it; a second one waits a little for the first, and ends.
"""

import asyncio
import fcntl
import os
import signal
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from tapeline import descriptors, logs, settings
from tapeline.background import Background
from tapeline.errors import Unavailable
from tapeline.ids import new_id
from tapeline.logs import Log
from tapeline.polling import poll
from tapeline.runs import host_identity
from tapeline.runs.engines import events_port, older_hosts
from tapeline.runs.engines.bell import Bell
from tapeline.runs.engines.shim_spawner import SHIM_SPAWNER
from tapeline.runs.node import files, frames
from tapeline.runs.node.forwarding import Forwarding
from tapeline.runs.node.work import NodeWork
from tapeline.thread_pools import in_thread, threads

log = Log(__name__)

AT_ONCE = 24  # requests; installations have threads of their own
TIDIED_EVERY, TRIED_EVERY = 3600.0, 60.0  # seconds
REPLACED_WITHIN = 9.0
"""For the process before this one. Less than the time after which the agent starts another."""
FINISHED_WITHIN, LAST_RENEWAL = 2.0, 1.0


def main() -> int:
    data = settings.node_folder()
    os.umask(0o077)
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    (data / "runs").mkdir(mode=0o700, exist_ok=True)
    (data / "keys").mkdir(mode=0o700, exist_ok=True)
    logs.start("info", "text")
    lock = os.open(data / host_identity.LOCK_OF_NODE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if not poll(lambda: _is_taken(lock), within=REPLACED_WITHIN, every=0.02):
        return 0  # the one that is there goes on
    descriptors.raise_limit()
    asyncio.run(_live(data))
    return 0


def _is_taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def _live(data: Path) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    background = Background()
    work = NodeWork(data, _name(data), loop, background)
    work.on_retire = ended.set
    bell = Bell(data / "runs", work.rung, background)

    async def tidy() -> None:
        await asyncio.to_thread(work.tidy)

    background.loop("tidying", tidy, every=TIDIED_EVERY, first_after=TIDIED_EVERY, within=900.0)

    async def try_again() -> None:
        await asyncio.to_thread(work.machine.try_again)

    background.loop("sandbox", try_again, every=TRIED_EVERY, within=900.0)
    older = older_hosts.authority(data / "keys").context()
    forwarding = Forwarding(data / "runs", work.servers, older)
    await forwarding.open()
    work.recall()
    # First of all: leases have run on while no process was here.
    renewing = asyncio.create_task(work.renewing.keep())
    await asyncio.to_thread(work.resume)
    requests = Requests(work)
    serving = await asyncio.start_unix_server(
        requests.answer, sock=events_port.listen(data, files.SOCKET)
    )
    log.info("node_ready", node=work.name)
    async with background.running():
        await ended.wait()
    # Leases are renewed until the end, and whoever calls is answered for as long as this takes.
    await asyncio.to_thread(work.close)
    serving.close()
    work.hush()
    await requests.finish()
    await _renew_once_more(work)
    renewing.cancel()
    bell.close()
    forwarding.close()
    _end()


async def _renew_once_more(work: NodeWork) -> None:
    """So that the next process has a whole lease to begin."""
    with suppress(Unavailable, TimeoutError):
        async with asyncio.timeout(LAST_RENEWAL):
            await work.renewing.renew()


def _end() -> NoReturn:
    """At once: Python would wait for threads, and keep the lock from the next process meanwhile,
    which would then renew nothing."""
    SHIM_SPAWNER.close()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


class Requests:
    """Those that are under way."""

    def __init__(self, work: NodeWork) -> None:
        self._work = work
        self._threads = threads(AT_ONCE, "node")
        self._under_way = set[asyncio.Task[Any]]()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._under_way.add(task)
        try:
            await _answer(self._work, self._threads, reader, writer)
        finally:
            self._under_way.discard(task)

    async def finish(self) -> None:
        """Whoever gets no answer asks the next process."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=FINISHED_WITHIN)


async def _answer(
    work: NodeWork,
    pool: ThreadPoolExecutor,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """One request, and the end of the connection."""
    try:
        (length,) = struct.unpack(">I", await reader.readexactly(frames.LENGTH_BYTES))
        if length <= frames.LARGEST:
            frame = await reader.readexactly(length)
            said = await in_thread(pool, work.answer, frame)
            writer.write(struct.pack(">I", len(said)) + said)
            await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass  # whoever asked is gone
    finally:
        writer.close()


def _name(data: Path) -> str:
    """A copied data directory is another node: the models of its original are not here."""
    file = data / host_identity.FILE
    name = "" if host_identity.is_copied(file) else host_identity.name_in(file)
    if not name:
        name = new_id()
        host_identity.keep(file, name)
    return name


if __name__ == "__main__":
    sys.exit(main())
