"""Files that hold a secret are whole, whoever writes them at the same moment."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tapeline import private_files


def test_threads_that_write_one_file_leave_what_one_of_them_wrote(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    contents = [bytes([number]) * 10_000 for number in range(8)]

    def write(content: bytes) -> None:
        for _ in range(20):
            private_files.write(file, content)

    with ThreadPoolExecutor(len(contents)) as threads:
        list(threads.map(write, contents))
    assert file.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [file]
    assert file.stat().st_mode & 0o777 == 0o600


def test_drafts_of_killed_processes_are_cleared_and_those_of_living_ones_stay(
    tmp_path: Path,
) -> None:
    killed = subprocess.Popen(["sleep", "600"])
    living = tmp_path / f".secret.key.{os.getpid()}.1"
    drafts = [tmp_path / f".secret.key.{killed.pid}.{number}" for number in range(2)]
    kept = [living, tmp_path / "secret.key", tmp_path / ".hidden"]
    for file in (*drafts, *kept):
        file.touch()
    private_files.clear_drafts(tmp_path)
    assert all(file.exists() for file in drafts)
    killed.kill()
    killed.wait()
    private_files.clear_drafts(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(kept)
