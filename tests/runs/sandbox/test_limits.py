"""A model that takes all it can get: memory, processes, disk, log and processor are bounded."""

import pytest

from tapeline.runs.sandbox.box import Policy
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


def test_a_live_model_that_fills_the_disk_is_not_started_again(pad: Pad) -> None:
    launched = pad.run(
        """
        import time
        for number in range(100):
            with open(f"file{number}", "wb") as file:
                file.write(bytes(8_000_000))
        time.sleep(1000)
        """,
        disk_mb=20,
        policy=Policy(restart=True),
    )
    finished = launched.states("finished")[0]
    assert (finished["outcome"], finished["cause"], finished["restarts"]) == (
        "crashed", "disk_full", 0
    )  # fmt: skip
    assert "run_disk" in finished["reason"]


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


def test_files_that_are_only_mapped_count_too(pad: Pad) -> None:
    launched = pad.run(
        """
        import mmap, os, time
        kept = []
        for number in range(6):
            with open("file", "wb+") as file:
                file.write(bytes(8_000_000))
                file.flush()
                kept.append(mmap.mmap(file.fileno(), 4096, access=mmap.ACCESS_READ))
            os.unlink("file")
        for one in kept:
            os.close(next(n for n in range(3, 100) if os.path.exists(f"/proc/self/fd/{n}")))
        time.sleep(1000)
        """,
        disk_mb=20,
    )
    assert launched.states("finished")[0]["cause"] == "disk_full"


def test_room_is_not_taken_without_writing(pad: Pad) -> None:
    """fallocate takes terabytes in a moment; what stands in for it is as slow as writing."""
    launched = pad.run(
        """
        import ctypes, errno, os
        libc = ctypes.CDLL(None, use_errno=True)
        with open("file", "wb") as file:
            got = libc.fallocate(file.fileno(), 0, ctypes.c_long(0), ctypes.c_long(1 << 20))
            print(got, ctypes.get_errno() == errno.EOPNOTSUPP)
            os.posix_fallocate(file.fileno(), 0, 1 << 20)
        print(os.path.getsize("file"))
        """,
        disk_mb=20,
    )
    assert launched.lines() == ["-1 True", str(1 << 20)], launched.lines("stderr")


MAKES_ROOM = """
    import os, time
    if os.path.exists("old"):
        os.unlink("old")
    with open("new", "wb") as file:
        file.write(bytes(10_000_000))
    time.sleep(1.5)
    print("made room")
"""


def left_before(pad: Pad, size: int) -> None:
    """What the launch before took."""
    work = pad.runs / "run0" / "work"
    work.mkdir(parents=True)
    (work / "old").write_bytes(bytes(size))


def test_a_launch_that_begins_a_little_over_may_make_room(pad: Pad) -> None:
    left_before(pad, 22_000_000)
    launched = pad.run(MAKES_ROOM, disk_mb=20)
    assert launched.states("finished")[0]["outcome"] == "exited"
    assert launched.lines() == ["made room"]


def test_a_launch_that_begins_far_over_does_not_go_on(pad: Pad) -> None:
    left_before(pad, 60_000_000)
    launched = pad.run("import time; time.sleep(1000)", disk_mb=20)
    assert launched.states("finished")[0]["cause"] == "disk_full"


def test_output_beyond_the_quota_is_dropped_and_told_in_one_line(pad: Pad) -> None:
    launched = pad.run(
        """
        for number in range(20_000):
            print(number, "x" * 80)
        """,
        policy=Policy(restart=False, output_bytes=500_000),
    )
    kept = launched.lines()
    assert [line.split()[0] for line in kept[:3]] == ["0", "1", "2"]
    assert sum(len(line) for line in kept) < 500_000
    (over,) = launched.states("over")
    written = sum(len(f"{number} ") + 81 for number in range(20_000))
    assert over["bytes"] > written - 500_000
    assert launched.states("finished")[0]["outcome"] == "exited"


def test_a_model_that_prints_beyond_its_quota_waits_at_its_prints(pad: Pad) -> None:
    launched = pad.run(
        """
        import sys, time
        began = time.monotonic()
        for number in range(10_000):
            print("x" * 80)
        sys.exit(0 if time.monotonic() - began > 0.3 else 3)
        """,
        policy=Policy(restart=False, output_bytes=100_000),
    )
    assert launched.states("finished")[0]["exit_code"] == 0


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
