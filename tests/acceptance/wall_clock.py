"""A wall clock that a test can set while a real server runs, through libfaketime."""

from pathlib import Path

from tests.acceptance.conftest import Home, Server
from tests.waiting import wait_for

FAKETIME = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/local/lib/faketime/libfaketimeMT.so.1")

# Debian's libfaketime 0.9.10 breaks the call that Python sleeps with, when that clock is not faked.
SLEEP = """import select, time
time.sleep = lambda seconds: select.select([], [], [], seconds) and None
"""


def settings(ahead: Path) -> dict[str, str]:
    """The variables of a process that goes by the clock of this file."""
    return {
        "LD_PRELOAD": str(_libfaketime()),
        "FAKETIME_TIMESTAMP_FILE": str(ahead),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
    }


def put_ahead(ahead: Path, seconds: int) -> None:
    """So far ahead of the real time, or behind it, from the next second on."""
    ahead.with_suffix(".new").write_text(f"{seconds:+d}")
    ahead.with_suffix(".new").rename(ahead)


class WallClock:
    def __init__(self, home: Home) -> None:
        self._ahead = home.path / "ahead"
        put_ahead(self._ahead, 0)
        (home.path / "sitecustomize.py").write_text(SLEEP)
        own = {"PYTHONPATH": home.path} | settings(self._ahead)
        self.around = ("env", *(f"{name}={value}" for name, value in own.items()))
        """Starts a server that goes by it."""

    def jump_to(self, seconds: int, server: Server) -> None:
        """So far ahead of the real time, or back; until the server has noticed."""
        before = _noticed(server)
        put_ahead(self._ahead, seconds)
        wait_for(lambda: _noticed(server) == before + 1)


def _noticed(server: Server) -> int:
    return server.log.count(" clock_jumped ")


def _libfaketime() -> Path:
    found = [one for pattern in FAKETIME for one in Path("/").glob(pattern[1:])]
    assert found, "Missing: libfaketime. Install it with: sudo apt-get install libfaketime"
    return found[0]
