"""What counts as alive when there is no server to ask."""

import fcntl
from pathlib import Path

from tapeline.runs.engines.stopping_here import Launched, launched


def test_a_held_lock_counts_as_alive_even_without_a_shim_or_a_sandbox(tmp_path: Path) -> None:
    folder, lock = tmp_path / "runs" / "r1", tmp_path / "runs" / "locks" / "m1"
    for one in (folder, lock.parent):
        one.mkdir(parents=True)
    (folder / "lock").write_text(lock.name)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert launched(tmp_path) == [Launched("r1", "m1")]
    assert launched(tmp_path) == []
