"""Helper processes for work that is too large for the event loop: a few at a time, first come,
first served.

`Helpers.run` starts `python -m MODULE FOLDER` and waits. The module ends with `serve`, which prints
its result as JSON, or a problem, which is raised here again.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from tapeline import errors
from tapeline.errors import Problem
from tapeline.logs import Log

log = Log(__name__)

HELPED_WITHIN = 300.0  # seconds: one that hangs must not keep its place forever


class _Reply(msgspec.Struct):
    found: msgspec.Raw = msgspec.Raw(b"null")
    problem: str = ""
    """The name of its class."""
    message: str = ""
    field: str | None = None


class Helpers:
    def __init__(self, most: int) -> None:
        self._places = asyncio.Semaphore(most)

    async def run(self, module: str, folder: Path) -> msgspec.Raw:
        async with self._places:
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-m", module, str(folder), stdout=asyncio.subprocess.PIPE
            )
            try:
                async with asyncio.timeout(HELPED_WITHIN):
                    printed, _ = await child.communicate()
            finally:
                if child.returncode is None:  # nobody waits for it any more
                    with suppress(ProcessLookupError):
                        child.kill()
                    await child.wait()
        if child.returncode != 0:
            log.error("helper_failed", helper=module, exit_code=child.returncode)
            raise Problem
        word = msgspec.json.decode(printed, type=_Reply)
        if word.problem:
            kind: type[Problem] = getattr(errors, word.problem)
            raise kind(word.message, field=word.field)
        return word.found


def serve(act: Callable[[Path], Any]) -> None:
    """The child's side."""
    os.nice(5)  # other requests are more urgent than a large one
    try:
        word = _Reply(msgspec.Raw(msgspec.json.encode(act(Path(sys.argv[1])))))
    except Problem as problem:
        word = _Reply(problem=type(problem).__name__, message=problem.message, field=problem.field)
    sys.stdout.buffer.write(msgspec.json.encode(word))
