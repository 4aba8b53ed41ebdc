"""Wall clocks that are wrong: each node has one of its own, which a test can set.

Our process alone goes by it, through libfaketime. Ray keeps the real time, and the models do, which
inherit nothing from a node. A server has too many threads for that library: it dies now and then.
"""

import json
from pathlib import Path

from tests.acceptance import wall_clock

VARIABLE = "TEST_CLOCK"
# Python runs it before anything else. Our process is begun again with the library.
_CUSTOM = f"""
import os, sys
from json import loads
is_ours = sys.orig_argv[1:] == ["-m", "tapeline.runs.node"]
if is_ours and "LD_PRELOAD" not in os.environ:
    os.environ.update(loads(os.environ["{VARIABLE}"]))
    os.execv(sys.executable, sys.orig_argv)
if is_ours:
    {wall_clock.SLEEP.strip().replace(chr(10), chr(10) + "    ")}
"""


class Clock:
    def __init__(self, folder: Path, modules: str) -> None:
        """`modules` is where else Python finds some."""
        folder.mkdir()
        self._ahead = folder / "ahead"
        self.set(0)
        (folder / "sitecustomize.py").write_text(_CUSTOM)
        self.variables = {
            VARIABLE: json.dumps(wall_clock.settings(self._ahead)),
            "PYTHONPATH": f"{folder}:{modules}",
        }
        """Of whoever goes by it."""

    def set(self, seconds: int) -> None:
        """So far ahead of the real time, or behind it."""
        wall_clock.put_ahead(self._ahead, seconds)
