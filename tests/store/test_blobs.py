"""Blobs: kept whole under their names, in a folder or wherever a URL points."""

import hashlib
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tapeline.errors import CannotStart, StoreUnavailable
from tapeline.store.blobs import FRESH, Blobs
from tests import needs
from tests.store.disk import small_disk


@pytest.fixture(params=["folder", "file URL", "library"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    folder = tmp_path / "blobs"
    if request.param == "folder":
        return Blobs(folder)
    if request.param == "file URL":
        return Blobs(tmp_path / "unused", f"file://{folder}")
    folder.mkdir()
    # Another spelling, so that the library writes, as it does to a bucket.
    return Blobs(tmp_path / "unused", f"file://localhost{folder}")


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def source(tmp_path: Path, content: bytes) -> tuple[str, Path]:
    file = tmp_path / "source"
    file.write_bytes(content)
    return hashlib.sha256(content).hexdigest(), file


def test_what_is_put_can_be_fetched_and_deleted(blobs: Blobs, tmp_path: Path) -> None:
    name, file = source(tmp_path, os.urandom(12_000_000))
    assert not blobs.exists(name)
    blobs.put(name, file)
    blobs.put(name, file)
    assert blobs.exists(name)
    blobs.fetch(name, tmp_path / "fetched")
    assert (tmp_path / "fetched").read_bytes() == file.read_bytes()
    assert names(tmp_path / "blobs") == [name]
    blobs.delete(name)
    blobs.delete(name)
    assert not blobs.exists(name)
    with pytest.raises(FileNotFoundError, match="not on this server") as absent:
        blobs.fetch(name, tmp_path / "again")
    assert str(tmp_path) not in str(absent.value), "tenants read it"
    assert names(tmp_path) == ["blobs", "fetched", "source"]


def test_a_blob_is_read_in_place_as_a_file(
    blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeline.store.blobs.READ_AHEAD", 1_000)
    content = os.urandom(12_345)
    name, file = source(tmp_path, content)
    with pytest.raises(FileNotFoundError, match="not on this server"):
        blobs.find(name)
    blobs.put(name, file)
    found = blobs.find(name)
    assert found.size == len(content)
    with found.open("rb") as stream:
        assert stream.read(10) == content[:10]
        assert stream.seek(-20, os.SEEK_END) == len(content) - 20
        assert (stream.read(), stream.read()) == (content[-20:], b"")
        stream.seek(500)
        assert stream.read(5_000) == content[500:5_500]
        stream.seek(100_000)
        assert stream.read(1) == b""
    blobs.delete(name)
    with pytest.raises(FileNotFoundError, match="not on this server"), found.open() as stream:
        stream.read(1)
    assert names(tmp_path / "blobs") == []


def test_a_second_one_of_the_same_content_is_nothing_to_do_while_the_first_is_young(
    tmp_path: Path,
) -> None:
    blobs = Blobs(tmp_path / "blobs")
    name, file = source(tmp_path, b"content")
    blobs.put(name, file)
    kept = tmp_path / "blobs" / name
    first = kept.stat().st_ino
    blobs.put(name, file)
    assert kept.stat().st_ino == first
    old = time.time() - FRESH - 60
    os.utime(kept, (old, old))
    blobs.put(name, file)
    assert time.time() - kept.stat().st_mtime < 60
    kept.write_bytes(b"cut")  # what a disk may have left of it
    blobs.put(name, file)
    assert kept.read_bytes() == b"content"


def test_a_disk_that_takes_no_more_is_told_and_leaves_no_draft(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    _, file = source(tmp_path, bytes(1_000_000))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(StoreUnavailable):
            blobs.put("name", file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert names(tmp_path / "blobs") == []


def test_an_address_that_means_nothing_is_told_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="nowhere"):
        Blobs(tmp_path, "nowhere://bucket")


@pytest.mark.heavy
def test_a_blob_never_goes_through_memory_whole(tmp_path: Path) -> None:
    file = tmp_path / "large"
    with file.open("wb") as out:
        out.truncate(150_000_000)
    script = (
        "import resource, sys; from pathlib import Path; from tapeline.store.blobs import Blobs;"
        "blobs = Blobs(Path(sys.argv[2])); before = resource.getrusage(resource.RUSAGE_SELF);"
        "blobs.put('x', Path(sys.argv[1])); blobs.fetch('x', Path(sys.argv[2] + '-copy'));"
        "after = resource.getrusage(resource.RUSAGE_SELF);"
        "print(after.ru_maxrss - before.ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(file), str(tmp_path / "blobs")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(done.stdout) < 60_000  # kilobytes


PUT = """
import sys
from pathlib import Path
from tapeline.errors import StoreUnavailable
from tapeline.store.blobs import Blobs
try:
    Blobs(Path(sys.argv[1])).put("name", Path(sys.argv[2]))
except StoreUnavailable as problem:
    print(problem.message)
"""


@needs.root("needs root, for a disk of its own")
def test_a_read_only_disk_is_an_outage_and_not_a_bug(tmp_path: Path) -> None:
    """The draft can be neither written nor removed."""
    (tmp_path / "blobs").mkdir()
    _, file = source(tmp_path, b"content")
    mounted = f'mount -t tmpfs -o ro none {tmp_path}/blobs && exec "$@"'
    here = ["unshare", "--mount", "sh", "-c", mounted, "sh"]
    done = subprocess.run(
        [*here, sys.executable, "-c", PUT, str(tmp_path / "blobs"), str(file)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("The disk of the server is read-only. Nothing was stored")


@needs.root("needs root, for a disk of its own")
def test_the_last_of_a_disk_is_for_events(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", megabytes=20) as disk:
        blobs = Blobs(disk.path / "blobs")
        _, large = source(tmp_path, bytes(15_000_000))
        blobs.put("large", large)
        _, file = source(tmp_path, bytes(5_000_000))
        with pytest.raises(StoreUnavailable, match="almost full"):
            blobs.put("more", file)
        assert names(disk.path / "blobs") == ["large"]
        blobs.delete("large")
        blobs.put("more", file)
