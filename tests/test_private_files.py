"""Files that hold a secret are whole, whoever writes them at the same moment."""

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
