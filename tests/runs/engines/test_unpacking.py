"""Unpacked versions: nobody waits for another's archive, and they take only so much of the disk."""

import hashlib
import io
import os
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tapeline.runs.engines.unpacking import Unpacked
from tapeline.store.blobs import Blobs

HELD = 1_000_000
WITHIN = 60.0


class HeldBlobs(Blobs):
    """One of them arrives only when it may."""

    slow = ""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked, self.may_arrive = threading.Event(), threading.Event()
        self.fetched: list[str] = []

    def fetch(self, name: str, file: Path) -> None:
        self.fetched.append(name)
        if name == self.slow:
            self.asked.set()
            assert self.may_arrive.wait(WITHIN)
        super().fetch(name, file)


@pytest.fixture
def blobs(tmp_path: Path) -> HeldBlobs:
    return HeldBlobs(tmp_path / "blobs")


@pytest.fixture
def unpacked(tmp_path: Path, blobs: Blobs) -> Unpacked:
    made = Unpacked(tmp_path / "versions", blobs, most=3 * HELD + HELD // 2)
    made.start()
    return made


def keep(blobs: Blobs, tmp_path: Path, *, size: int = 10) -> str:
    """The name of a new archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("model/model.py", os.urandom(size))
    file = tmp_path / "upload"
    file.write_bytes(content.getvalue())
    name = hashlib.sha256(content.getvalue()).hexdigest()
    blobs.put(name, file)
    return name


def use(unpacked: Unpacked, name: str) -> bytes:
    with unpacked.model(name) as folder:
        return (folder / "model.py").read_bytes()


def names(tmp_path: Path) -> set[str]:
    return {one.name for one in (tmp_path / "versions").iterdir()}


def test_nobody_waits_for_the_archive_of_another(
    unpacked: Unpacked, blobs: HeldBlobs, tmp_path: Path
) -> None:
    blobs.slow = keep(blobs, tmp_path)
    quick = keep(blobs, tmp_path)
    with ThreadPoolExecutor(3) as threads:
        slow = [threads.submit(use, unpacked, blobs.slow) for _ in range(2)]
        assert blobs.asked.wait(WITHIN)
        try:
            assert threads.submit(use, unpacked, quick).result(WITHIN)
            assert not any(one.done() for one in slow)
        finally:
            blobs.may_arrive.set()
        assert slow[0].result(WITHIN) == slow[1].result(WITHIN)
    assert blobs.fetched.count(blobs.slow) == 1, "unpacked once for both"


def test_what_was_not_used_for_longest_goes_first(
    unpacked: Unpacked, blobs: HeldBlobs, tmp_path: Path
) -> None:
    made = [keep(blobs, tmp_path, size=HELD) for _ in range(5)]
    for seconds, name in enumerate(made[:3]):
        use(unpacked, name)
        os.utime(tmp_path / "versions" / name, (seconds, seconds))
    assert names(tmp_path) == set(made[:3])
    use(unpacked, made[0])
    use(unpacked, made[3])
    assert names(tmp_path) == {made[0], made[2], made[3]}
    assert use(unpacked, made[1]), "made again when it is needed"


def test_what_is_used_stays(unpacked: Unpacked, blobs: HeldBlobs, tmp_path: Path) -> None:
    used = keep(blobs, tmp_path, size=HELD)
    with unpacked.model(used) as folder:
        os.utime(folder, (1, 1))
        for _ in range(6):
            use(unpacked, keep(blobs, tmp_path, size=HELD))
        assert (folder / "model.py").stat().st_size == HELD
        assert len(names(tmp_path)) == 3
    use(unpacked, keep(blobs, tmp_path, size=HELD))
    assert used not in names(tmp_path)
