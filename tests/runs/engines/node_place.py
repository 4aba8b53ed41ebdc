"""A node of a cluster with its real process, for the contract tests. Frames go to its socket
directly; an API server that renews every lease stands for the real ones of `tests/cluster`."""

import asyncio
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from tapeline.background import Work
from tapeline.polling import poll
from tapeline.runs import host_identity
from tapeline.runs.cluster import looks, meeting_point
from tapeline.runs.cluster.bridge import CannotReach, RayNode
from tapeline.runs.cluster.cluster_engine import ClusterEngine
from tapeline.runs.cluster.fetched_files import FOLDER, FetchedFiles
from tapeline.runs.cluster.members import Members
from tapeline.runs.node import renewing
from tapeline.runs.node.frames import LENGTH_BYTES, Opening, Server
from tapeline.runs.node.renewing import Renewal, Renewed
from tapeline.store.blobs import Blobs

NAME = f"host{os.getpid()}"  # its leases are in a folder of that name, for the whole machine
SETTINGS = {"stop_seconds": 1, "port": 8700}


class LeaseServer:
    """Renews whatever a node asks for, in a thread of its own."""

    def __init__(self, seconds: float = 60.0) -> None:
        self.seconds = seconds
        self.refuses = False
        self.asked: list[dict[str, int]] = []
        self.left: list[float] = []
        self.first_lines: list[str] = []
        self._loop = asyncio.new_event_loop()
        with tempfile.TemporaryDirectory() as folder:
            context, certificate = meeting_point.certificate(Path(folder) / "pem")

        async def listen() -> asyncio.Server:
            return await asyncio.start_server(self._answer, "127.0.0.1", 0, ssl=context)

        self._server = self._loop.run_until_complete(listen())
        port = self._server.sockets[0].getsockname()[1]
        self.where = Server("127.0.0.1", port, certificate)
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.first_lines.append((await reader.readuntil(b"\n")).decode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = next(
                int(line[15:]) for line in head.split("\r\n") if line.startswith("content-length:")
            )
            asked = msgspec.json.decode(await reader.readexactly(length), type=Renewal)
            self.asked.append(asked.runs)
            self.left.append(asked.left)
            renewed = [] if self.refuses else sorted(asked.runs)
            said = msgspec.json.encode(Renewed(self.seconds, renewed, [self.where]))
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(said), said))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def close(self) -> None:
        async def end() -> None:
            self._server.close()
            await asyncio.sleep(0.05)  # for connections that are about to close

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Direct:
    """Carries frames to the socket of one node."""

    def __init__(self, data: Path) -> None:
        self._socket = data / "node.sock"

    def nodes(self) -> list[RayNode]:
        return [
            RayNode(
                id="1", address="127.0.0.1", alive=True, cpu=2.0, cpu_free=2.0,
                memory=1 << 30, memory_free=1 << 30,
            )
        ]  # fmt: skip

    def call(self, node_id: str, frame: bytes, timeout: float) -> bytes:
        assert node_id == "1"
        with socket.socket(socket.AF_UNIX) as way:
            way.settimeout(timeout)
            try:
                way.connect(str(self._socket))
                way.sendall(struct.pack(">I", len(frame)) + frame)
                (length,) = struct.unpack(">I", _exactly(way, LENGTH_BYTES))
                return _exactly(way, length)
            except OSError as error:
                raise CannotReach(str(error)) from error

    def reserve(
        self,
        run_id: str,  # noqa: ARG002
        cpu: float,  # noqa: ARG002
        memory: int,  # noqa: ARG002
        among: Sequence[str],
    ) -> str | None:
        return next(iter(among), None)

    def release(self, run_ids: Iterable[str]) -> None: ...

    def reserved(self) -> dict[str, str]:
        return {}

    def trouble(self) -> str | None:
        return None

    def close(self) -> None: ...


class Node:
    def __init__(self, folder: Path) -> None:
        self.data = folder / "node"
        self.data.mkdir(mode=0o700)
        host_identity.keep(self.data / host_identity.FILE, NAME)
        self.blobs = Blobs(folder / "blobs")
        self.leases = LeaseServer()
        self.start()

    def start(self) -> None:
        environment = {**os.environ, "TAPELINE_DATA": str(self.data)}
        with (self.data / "node.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tapeline.runs.node"], env=environment, stderr=log
            )
        assert poll((self.data / "node.sock").exists, within=60.0, every=0.05)

    def forget(self) -> None:
        """The environments that it has made for an earlier test."""
        for folder in ("made", "requests"):
            for one in (self.data / "environments" / folder).glob("*"):
                shutil.rmtree(one) if one.is_dir() else one.unlink()

    def engine(self) -> ClusterEngine:
        carrier = Direct(self.data)
        opening = Opening(SETTINGS, "t" * 64, self.leases.seconds, [self.leases.where])
        members = Members(carrier, lambda _name: opening, lambda: 1.0)
        work = Work("nodes", patience=60.0)

        def is_there() -> bool:
            members.refresh(work)
            return any(not one.trouble for one in members.all().values())

        assert poll(is_there, within=60.0, every=0.1), members.all()
        # A look in a test is an answer, however busy the machine is.
        fetched, patience = FetchedFiles(self.data.parent / FOLDER), looks.ANSWERED_WITHIN
        return ClusterEngine(members, carrier, self.blobs, fetched, patience)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        self.leases.close()
        shutil.rmtree(renewing.MEMORY / f"tapeline-{NAME}", ignore_errors=True)


def _exactly(way: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        if not (some := way.recv(min(1 << 20, length - len(found)))):
            raise ConnectionError("it ended early")
        found += some
    return found
