"""Wall clocks that are wrong: each node and each server has one of its own, which a test can set.

Our processes alone go by it, through libfaketime. Ray keeps the real time, and the models do, which
inherit nothing from a node.
"""

import json
from pathlib import Path

from tests.acceptance import wall_clock

VARIABLE = "TEST_CLOCK"
# Python runs it before anything else. A process of ours is begun again with the library, and one of
# Ray's that inherits it without.
_CUSTOM = f"""
import os, sys
from json import loads
is_ours = "tapeline.runs.node" in sys.orig_argv or sys.orig_argv[1:4] == ["-m", "tapeline", "up"]
if is_ours != ("LD_PRELOAD" in os.environ):
    for name, value in loads(os.environ["{VARIABLE}"]).items():
        os.environ.pop(name, None)
        if is_ours:
            os.environ[name] = value
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
