"""Helper processes for work that is too large for the event loop: a few at a time, and
projects take turns.

`Helpers.run` starts `python -m MODULE FOLDER` and waits. The module ends with `serve`, which prints
its result as JSON, or a problem, which is raised here again.
"""

import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from tapeline import errors, memory
from tapeline.errors import Overloaded, Problem
from tapeline.fair_line import Owner
from tapeline.logs import Log
from tapeline.tape.fair_budget import FairBudget
from tapeline.tape.memory_budget import MemoryBudget

log = Log(__name__)

AT_REST = 25_000_000  # bytes of memory of a helper before it has read anything
KILLED = (
    "The process that prepared this was ended, probably because memory ran out. Nothing was stored;"
    " send less at a time, or try again later."
)
HELPED_WITHIN = 300.0  # seconds: one that hangs must not keep its place forever


class _Reply(msgspec.Struct):
    found: msgspec.Raw = msgspec.Raw(b"null")
    problem: str = ""
    """The name of its class."""
    message: str = ""
    field: str | None = None


class Helpers:
    def __init__(self, most: int, memory: MemoryBudget) -> None:
        self._places = FairBudget(most, patience=HELPED_WITHIN)
        self._memory = memory

    async def run(self, module: str, folder: Path, owner: Owner, *, times: int) -> msgspec.Raw:
        """It needs so many times the size of the folder's files in memory."""
        needed = AT_REST + times * _size(folder)
        async with self._places.reserve(owner, 1), self._memory.need(owner, needed):
            code, printed = await outcome(module, folder, HELPED_WITHIN)
        if code != 0:
            log.error("helper_failed", helper=module, exit_code=code)
            raise Overloaded(KILLED) if code == -signal.SIGKILL else Problem
        word = msgspec.json.decode(printed, type=_Reply)
        if word.problem:
            kind: type[Problem] = getattr(errors, word.problem)
            raise kind(word.message, field=word.field)
        return word.found


async def outcome(module: str, folder: Path, seconds: float) -> tuple[int, bytes]:
    """How `python -m MODULE FOLDER` ended, and what it printed. It does not outlive the wait."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-m", module, str(folder), stdout=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(seconds):
            printed, _ = await child.communicate()
    finally:
        if child.returncode is None:  # nobody waits for it any more
            with suppress(ProcessLookupError):
                child.kill()
        code = await child.wait()
    return code, printed


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def serve(act: Callable[[Path], Any]) -> None:
    """The child's side."""
    memory.be_expendable()
    try:
        word = _Reply(msgspec.Raw(msgspec.json.encode(act(Path(sys.argv[1])))))
    except Problem as problem:
        word = _Reply(problem=type(problem).__name__, message=problem.message, field=problem.field)
    sys.stdout.buffer.write(msgspec.json.encode(word))
