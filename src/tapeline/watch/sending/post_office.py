"""Hands messages to the process that sends them (`sender.py`), which exists while there are some.

It is started with the first message and ends some minutes after the last: Apprise takes a second to
load and 60 MB to keep. Tenants take turns, and none of them has all of its places.
"""

import asyncio
import os
import sys
from contextlib import suppress
from typing import NamedTuple

import msgspec

from tapeline.background import Background
from tapeline.errors import Overloaded
from tapeline.fair_line import Owner
from tapeline.tape.fair_budget import FairBudget
from tapeline.watch.sending.jobs import AT_ONCE, LONGEST_LINE, Job, Order, Outcome

NAME = "sender of messages"
IDLE = 300.0  # seconds without a message, after which the process ends
LOADED_WITHIN = 30.0  # seconds that loading Apprise may add to the first message
OF_A_TENANT = 3
"""Messages of one tenant that are sent at the same time: services that hang keep their places."""
BUSY = "Too many messages are being sent at the moment."
ENDED = (OSError, RuntimeError)
"""What writing to a process raises that has just ended; the second is of a loop that knows."""
FAILED = "The process that sends messages ended; the server's log may say why."


class _Sender(NamedTuple):
    process: asyncio.subprocess.Process
    answers: "dict[str, asyncio.Future[Outcome]]"
    """Of the jobs that this process has, and no other."""


class PostOffice:
    def __init__(self, allowed: str, background: Background, public_url: str = "") -> None:
        self._allowed, self._public_url, self._background = allowed, public_url, background
        self._places = FairBudget(AT_ONCE)
        self._of_tenants: dict[str, FairBudget] = {}
        self._sender: _Sender | None = None
        self._starting = asyncio.Lock()

    async def send(self, job: Job, owner: Owner) -> Outcome:
        """Never raises for what the other side does, nor for its own process."""
        own = self._of_tenants.setdefault(owner.tenant, FairBudget(OF_A_TENANT))
        try:
            async with own.reserve(owner, 1), self._places.reserve(owner, 1):
                return await self._sent(job)
        except Overloaded:
            return Outcome(id=job.id, arrived=False, message=BUSY)
        finally:
            if own.free == OF_A_TENANT and not own.waiting:
                self._of_tenants.pop(owner.tenant, None)

    async def _sent(self, job: Job) -> Outcome:
        answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        sender = await self._running(job.id, answer)
        try:
            async with asyncio.timeout(job.seconds + LOADED_WITHIN):
                assert sender.process.stdin is not None
                sender.process.stdin.write(msgspec.json.encode(job) + b"\n")
                await sender.process.stdin.drain()
                return await answer
        except TimeoutError:
            return Outcome(id=job.id, arrived=False, message="The service did not answer in time.")
        except ENDED:
            return Outcome(id=job.id, arrived=False, message=FAILED)
        finally:
            sender.answers.pop(job.id, None)

    async def _running(self, job: str, answer: "asyncio.Future[Outcome]") -> _Sender:
        """The process, which does not end before this is answered."""
        async with self._starting:
            if self._sender is None:
                self._sender = _Sender(await self._started(), {})
                self._background.begin(NAME, self._listen(self._sender))
            self._sender.answers[job] = answer
            return self._sender

    async def _started(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-m", "tapeline.watch.sending.sender"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            env={},  # a library of others has no use for our secrets, nor for our proxies
        )
        assert process.stdin is not None
        order = Order(os.getpid(), self._allowed, self._public_url)
        with suppress(*ENDED):  # whoever listens to it notices
            process.stdin.write(msgspec.json.encode(order) + b"\n")
        return process

    async def _listen(self, sender: _Sender) -> None:
        """Until it ends; for whatever reason that was, nobody waits for it in vain."""
        try:
            while line := await self._line(sender):
                found = msgspec.json.decode(line, type=Outcome)
                if (waiting := sender.answers.get(found.id)) and not waiting.done():
                    waiting.set_result(found)
        finally:
            if self._sender is sender:
                self._sender = None
            for job, waiting in sender.answers.items():
                if not waiting.done():
                    waiting.set_result(Outcome(id=job, arrived=False, message=FAILED))
            await _ended(sender.process)

    async def _line(self, sender: _Sender) -> bytes:
        """What it says next; empty when it ended, or when there was no message for a while."""
        assert sender.process.stdout is not None
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(IDLE):
                    return await sender.process.stdout.readline()
            if not sender.answers:
                self._sender = None  # from now on, a message starts another one
                return b""


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Not interrupted by whoever ends the server meanwhile: nobody else would wait for it, and a
    process that was killed ends at once."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
    while process.returncode is None:
        with suppress(asyncio.CancelledError):
            await process.wait()
    process._transport.close()  # type: ignore[attr-defined]
