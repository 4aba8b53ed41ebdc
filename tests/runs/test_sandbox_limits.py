"""A model that takes all it can get: memory, processes, disk, log and processor are bounded."""

import pytest

from tapeline.runs.box import Policy
from tests.runs.conftest import Pad


def test_memory_beyond_the_plan_is_out_of_memory(pad: Pad) -> None:
    launched = pad.run(
        "import time; x = bytearray(400_000_000); time.sleep(5)",
        memory_mb=128,
        policy=Policy(restart=False),
    )
    end = launched.states("ended")[0]
    assert (end["cause"], end["signal"]) == ("out_of_memory", 9)
    assert launched.lines() == []


def test_a_kill_within_the_plan_is_not_out_of_memory(pad: Pad) -> None:
    launched = pad.run("import os; os.kill(os.getpid(), 9)")
    assert launched.states("ended")[0]["cause"] == "signal"


def test_forking_without_end_ends(pad: Pad) -> None:
    launched = pad.run(
        """
        import os, time
        count = 0
        try:
            while True:
                if os.fork() == 0:
                    time.sleep(1000)
                count += 1
        except OSError as error:
            print(count < 32, error.errno)
        """,
        pids=32,
    )
    assert launched.lines() == ["True 11"]


def test_the_disk_is_bounded(pad: Pad) -> None:
    launched = pad.run(
        """
        import time
        for number in range(6):
            with open(f"file{number}", "wb") as file:
                file.write(bytes(8_000_000))
        print("written")
        time.sleep(1000)
        """,
        disk_mb=20,
    )
    finished = launched.states("finished")[0]
    assert (finished["outcome"], finished["cause"]) == ("crashed", "disk_full")


@pytest.mark.heavy
def test_files_without_a_name_count_too(pad: Pad) -> None:
    launched = pad.run(
        """
        import os, time
        kept = []
        for number in range(6):
            file = open("file", "wb")
            file.write(bytes(8_000_000))
            file.flush()
            os.unlink("file")
            kept.append(file)
        time.sleep(1000)
        """,
        disk_mb=20,
    )
    assert launched.states("finished")[0]["cause"] == "disk_full"


def test_one_file_cannot_outgrow_the_disk_and_scratch_is_bounded(pad: Pad) -> None:
    launched = pad.run(
        """
        for path in ("file", "/tmp/file", "/dev/shm/file", "/home/model/file"):
            try:
                with open(path, "wb") as file:
                    for _ in range(100):
                        file.write(bytes(1_000_000))
                print("written")
            except OSError as error:
                print(error.errno)
            import os
            os.truncate(path, 0)
        """,
        disk_mb=50,
        tmp_mb=8,
    )
    assert launched.lines() == ["27", "28", "28", "28"]


def test_filling_the_log_is_bounded_and_told(pad: Pad) -> None:
    launched = pad.run(
        """
        import sys
        for number in range(40000):
            sys.stdout.write(f"{number} {'x' * 100}\\n")
        """,
        policy=Policy(restart=False, journal_bytes=1_000_000),
    )
    sizes = [one.stat().st_size for one in (launched.folder / "journal").iterdir()]
    assert sum(sizes) <= 1_000_000
    cuts = launched.states("cut")
    assert cuts
    assert launched.lines()[-1].startswith("39999 ")
    assert launched.states("finished")[0]["outcome"] == "exited"


def test_the_processor_is_shared_by_plan(pad: Pad) -> None:
    launched = pad.run(
        """
        import time
        begun = time.monotonic()
        while time.process_time() < 0.2:
            pass
        print(time.monotonic() - begun)
        """,
        cpu_milli=250,
    )
    assert float(launched.lines()[0]) > 0.4
