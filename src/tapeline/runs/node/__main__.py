"""The process of ours on each node: it runs models for the cluster, and renews their leases.

Started by Ray's agent there, and not a part of Ray: models live on when Ray or its head is gone.
`python -m tapeline.runs.node` starts it; a second one ends at once.
"""

import asyncio
import fcntl
import os
import signal
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tapeline import descriptors, logs, settings
from tapeline.background import Background, threads
from tapeline.ids import new_id
from tapeline.logs import Log
from tapeline.runs import host_identity
from tapeline.runs.engines import events_port, older_hosts
from tapeline.runs.engines.bell import Bell
from tapeline.runs.node import frames
from tapeline.runs.node.forwarding import Forwarding
from tapeline.runs.node.work import NodeWork

log = Log(__name__)

SOCKET = "node.sock"
LOCK = "node.lock"
AT_ONCE = 24  # requests; installations have threads of their own
STARTED_AGAIN = 0
TIDIED_EVERY = 3600.0  # seconds


def main() -> int:
    data = settings.node_folder()
    os.umask(0o077)
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    (data / "runs").mkdir(mode=0o700, exist_ok=True)
    (data / "keys").mkdir(mode=0o700, exist_ok=True)
    logs.start("info", "text")
    lock = os.open(data / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return STARTED_AGAIN  # the one that is there goes on
    descriptors.raise_limit()
    asyncio.run(_live(data))
    return 0


async def _live(data: Path) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    background, pool = Background(), threads(AT_ONCE, "node")
    work = NodeWork(data, _name(data), loop, background)
    work.on_retire = ended.set
    bell = Bell(data / "runs", work.rung, background)

    async def tidy() -> None:
        await asyncio.to_thread(work.tidy)

    background.loop("tidying", tidy, every=TIDIED_EVERY, first_after=TIDIED_EVERY, within=900.0)
    older = older_hosts.authority(data / "keys").context()
    forwarding = Forwarding(data / "runs", work.servers, older)
    await forwarding.open()
    await asyncio.to_thread(work.resume)
    renewing = asyncio.create_task(work.renewing.keep())
    serving = await asyncio.start_unix_server(
        lambda reader, writer: _answer(work, pool, reader, writer),
        sock=events_port.listen(data, SOCKET),
    )
    log.info("node_ready", node=work.name)
    async with background.running():
        await ended.wait()
    serving.close()
    bell.close()
    forwarding.close()
    renewing.cancel()
    work.close()
    pool.shutdown(wait=False, cancel_futures=True)


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
            said = await asyncio.get_running_loop().run_in_executor(pool, work.answer, frame)
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
