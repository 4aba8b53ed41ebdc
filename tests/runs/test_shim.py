"""How a launch lives and ends: exits, signals, stops, restarts, and never twice."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tapeline.errors import AlreadyRunning, CannotLaunch
from tapeline.runs.engines import shims
from tapeline.runs.sandbox import bubblewrap, cgroups
from tapeline.runs.sandbox.box import Policy
from tapeline.runs.shim import restarting, tree
from tests.runs.conftest import Launched, Pad, alive

STUBBORN = """
    import signal, time
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    print("up")
    time.sleep(1000)
"""


def test_what_a_process_says_comes_before_its_end(pad: Pad) -> None:
    launched = pad.run("""
        import os, sys
        print("out")
        print("err", file=sys.stderr)
        os.write(1, b"no end of line")
    """)
    assert launched.lines() == ["out", "no end of line"]
    assert launched.lines("stderr") == ["err"]
    events = [one.state["event"] if one.state else one.kind for one in launched.records()]
    assert events[0] == "started"
    assert events[-2:] == ["ended", "finished"]
    assert launched.states("finished") == [
        {
            "event": "finished",
            "outcome": "exited",
            "cause": "exit",
            "exit_code": 0,
            "signal": None,
            "restarts": 0,
            "reason": "Exited.",
        }
    ]


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize(
    ("code", "exit_code", "number", "cause"),
    [
        ("import sys; sys.exit(3)", 3, None, "exit"),
        ("raise ValueError('bad')", 1, None, "exit"),
        ("import os; os.kill(os.getpid(), 11)", None, 11, "signal"),
        ("import os; os.kill(os.getpid(), 9)", None, 9, "signal"),
    ],
)
def test_how_it_ended_is_told(
    pad: Pad, unsafe: bool, code: str, exit_code: int | None, number: int | None, cause: str
) -> None:
    end = pad.run(code, unsafe=unsafe).states("ended")[0]
    assert (end["exit_code"], end["signal"], end["cause"]) == (exit_code, number, cause)


def test_a_program_that_is_not_there_was_never_started(pad: Pad) -> None:
    finished = pad.run("", argv=["/no/such/program"]).states("finished")[0]
    assert finished["outcome"] == "not_started"
    assert "/no/such/program" in finished["reason"]


def test_a_folder_that_is_not_there_refuses_the_launch(pad: Pad) -> None:
    with pytest.raises(CannotLaunch, match="/no/such/folder is not there"):
        pad.launch("", readonly=[("/no/such/folder", "/folder")])


@pytest.mark.parametrize("unsafe", [False, True])
def test_a_polite_model_says_goodbye(pad: Pad, unsafe: bool) -> None:
    launched = pad.launch(
        """
        import time
        print("up")
        try:
            time.sleep(1000)
        except KeyboardInterrupt:
            print("bye")
        """,
        unsafe=unsafe,
    )
    launched.until_line("up")
    finished = launched.stop()
    assert launched.lines() == ["up", "bye"]
    assert (finished["outcome"], finished["cause"], finished["exit_code"]) == (
        *("stopped", "stopped"),
        0,
    )


@pytest.mark.parametrize("unsafe", [False, True])
def test_a_stubborn_model_is_ended_after_its_grace(pad: Pad, unsafe: bool) -> None:
    launched = pad.launch(STUBBORN, unsafe=unsafe, policy=Policy(restart=True, grace=0.5))
    launched.until_line("up")
    begun = time.monotonic()
    finished = launched.stop()
    assert time.monotonic() - begun > 0.4
    assert (finished["outcome"], finished["signal"]) == ("stopped", signal.SIGKILL)


def test_a_stop_at_any_moment_of_the_start_stops(pad: Pad) -> None:
    for moment in range(8):
        launched = pad.launch(
            STUBBORN, name=f"early{moment}", policy=Policy(restart=True, grace=0.3)
        )
        time.sleep(moment * 0.01)
        assert launched.stop()["outcome"] == "stopped"


def test_a_kill_does_not_wait_for_anybodys_grace(pad: Pad) -> None:
    launched = pad.launch(STUBBORN, policy=Policy(restart=True, grace=100))
    launched.until_line("up")
    begun = time.monotonic()
    shims.kill(launched.folder, launched.lock)
    assert time.monotonic() - begun < 60
    assert launched.states("finished")[0]["outcome"] == "stopped"


def test_children_that_hide_do_not_survive_a_stop(pad: Pad) -> None:
    launched = pad.launch("""
        import os, signal, time
        for number in range(3):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    signal.signal(signal.SIGINT, signal.SIG_IGN)
                    os.write(1, b"hidden\\n")
                    time.sleep(1000)
                os._exit(0)
        time.sleep(1000)
    """)
    launched.until(lambda one: one.lines().count("hidden") == 3)
    members = launched.members()
    assert len(members) >= 5
    launched.stop()
    assert not [one for one in members if alive(one)]


def test_what_a_left_behind_child_wrote_last_still_arrives(pad: Pad) -> None:
    launched = pad.run("""
        import os, time
        if os.fork() == 0:
            os.write(1, b"last words")
            time.sleep(1000)
        time.sleep(0.2)
    """)
    assert launched.lines() == ["last words"]
    assert launched.states("finished")[0]["outcome"] == "exited"


def test_a_time_limit_ends_it(pad: Pad) -> None:
    finished = pad.run(STUBBORN, policy=Policy(restart=True, time_limit=0.5)).states("finished")[0]
    assert (finished["outcome"], finished["cause"]) == ("crashed", "time_limit")


def test_a_crash_is_followed_by_a_restart_and_an_exit_by_none(pad: Pad) -> None:
    launched = pad.run(
        """
        import os, sys
        if not os.path.exists("again"):
            open("again", "w").close()
            sys.exit("oh no")
        print("recovered")
        """,
        policy=Policy(restart=True),
    )
    assert launched.states("restarting") == [
        {"event": "restarting", "attempt": 2, "after": 1.0, "restarts": 1}
    ]
    assert [one["attempt"] for one in launched.states("ended")] == [1, 2]
    assert launched.states("finished")[0]["restarts"] == 1
    assert launched.lines() == ["recovered"]


def test_a_stop_during_the_wait_ends_at_once(pad: Pad) -> None:
    launched = pad.launch("raise SystemExit(1)", policy=Policy(restart=True))
    launched.until(lambda one: len(one.states("restarting")) == 2)
    assert launched.stop()["outcome"] == "stopped"
    assert len(launched.states("ended")) == 2, "there was no third attempt"


@pytest.mark.heavy
def test_a_model_that_only_crashes_is_given_up(pad: Pad) -> None:
    launched = pad.run("raise KeyError('no price')", policy=Policy(restart=True))
    assert [one["after"] for one in launched.states("restarting")] == [1.0, 2.0, 4.0, 8.0]
    finished = launched.states("finished")[0]
    assert (finished["outcome"], finished["exit_code"], finished["restarts"]) == ("crashed", 1, 4)
    assert finished["reason"].endswith("Its last line: KeyError: 'no price'")


def _replay(lives: list[float]) -> list[float | None]:
    now, history, waits = 0.0, [], []
    for life in lives:
        history.append((now, now + life))
        now += life
        waits.append(restarting.decide(history, now))
        now += waits[-1] or 0.0
    return waits


@pytest.mark.parametrize(
    ("lives", "waits"),
    [
        ([0.0] * 5, [1.0, 2.0, 4.0, 8.0, None]),
        ([700.0] * 4, [1.0] * 4),
        ([200.0] * 8, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]),
        ([0.0, 0.0, 0.0, 700.0, 0.0], [1.0, 2.0, 4.0, 1.0, 2.0]),
        ([130.0] * 5, [1.0, 2.0, 4.0, 8.0, None]),
    ],
)
def test_the_wait_doubles_and_health_resets_it(
    lives: list[float], waits: list[float | None]
) -> None:
    assert _replay(lives) == waits


def test_a_lock_is_held_by_one(pad: Pad) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    assert shims.is_held(launched.lock)
    with pytest.raises(AlreadyRunning):
        shims.launch(launched.spec)
    assert len(launched.states("started")) == 1
    launched.until_line("up")


def test_of_many_launches_at_once_one_wins(pad: Pad) -> None:
    launched = pad.launch("", name="first")
    launched.finished()
    spec = pad.spec(STUBBORN, name="contested")
    contested = Launched(spec)
    pad.launched.append(contested)

    def attempt(_number: int) -> bool:
        try:
            shims.launch(spec)
        except AlreadyRunning:
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(attempt, range(6))) == 1
    contested.until_line("up")
    assert len(contested.states("started")) == 1


@pytest.mark.heavy
def test_no_two_instances_ever_overlap(pad: Pad) -> None:
    """Each takes a lock of the model's own, which an old one that still lived would hold."""
    code = """
        import fcntl, os, time
        own = open("own", "w")
        try:
            fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(1, b"alone\\n")
        except BlockingIOError:
            os.write(1, b"TWICE\\n")
        ballast = bytearray(60_000_000)
        os.write(1, b"up\\n")
        time.sleep(1000)
    """
    launched = pad.launch(code)
    for number in range(1, 15):
        while launched.lines().count("up") < number:
            time.sleep(0.01)
        os.kill(launched.shim_pid(), signal.SIGKILL)
        while True:
            try:
                shims.launch(launched.spec)
                break
            except AlreadyRunning:
                continue
    launched.until(lambda one: one.lines().count("up") == 15)
    assert launched.lines().count("alone") == 15


def test_asking_who_holds_a_lock_does_not_keep_a_launch_from_taking_it(pad: Pad) -> None:
    spec = pad.spec("print('up')")
    Path(spec.lock).parent.mkdir()
    Path(spec.lock).touch()
    asking = f"""
import contextlib, fcntl, time
print("asking", flush=True)
while True:
    time.sleep(0.0002)
    with open({spec.lock!r}) as file, contextlib.suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
"""
    with subprocess.Popen([sys.executable, "-c", asking], stdout=subprocess.PIPE) as asker:
        assert asker.stdout is not None
        asker.stdout.readline()
        launched = Launched(spec)
        pad.launched.append(launched)
        try:
            shims.launch(spec)
        finally:
            asker.kill()
    launched.finished()


@pytest.mark.heavy
def test_nothing_outlives_a_shim_that_is_killed(pad: Pad) -> None:
    """At many moments: before, while and after the sandbox is made."""
    for moment in range(12):
        launched = pad.launch(STUBBORN, name=f"killed{moment}", network="open", events_port=8700)
        time.sleep(moment * 0.008)
        members = launched.members()
        os.kill(launched.shim_pid(), signal.SIGKILL)
        if not shims.wait_free(launched.lock, 1.0):
            shims.end_orphan(launched.folder)  # the server's part, where bubblewrap came too late
        assert shims.wait_free(launched.lock, 5.0)
        _until_gone(members)  # slirp4netns among them, which holds no lock


def test_only_what_a_dead_shim_left_is_ended(pad: Pad, tmp_path: Path) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    shims.end_orphan(launched.folder)
    assert shims.is_held(launched.lock)
    folder, lock = tmp_path / "runs" / "early", tmp_path / "runs" / "locks" / "early"
    for one in (folder, lock.parent):
        one.mkdir(parents=True)
    title = f"bwrap-{folder.name}"
    sleeper = ["bash", "-c", f"exec -a {title} sleep 1000"]
    with lock.open("w") as held:
        command = ["unshare", "--user", "--pid", "--fork", *sleeper]
        orphan = subprocess.Popen(command, pass_fds=[held.fileno()])
    with orphan:
        while not tree.first_titled(title):
            time.sleep(0.001)
        assert not shims.end_orphan(tmp_path / "copy" / "runs" / folder.name)
        assert shims.end_orphan(folder)
        assert orphan.wait() != 0


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_copy_of_a_data_directory_ends_nothing_of_its_original(
    pad: Pad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, unsafe: bool, grouped: bool
) -> None:
    """It has the same runs, titles, notes and locks."""
    if not grouped:
        monkeypatch.setattr(cgroups, "find", lambda _runs: None)
    launched = pad.launch(STUBBORN, unsafe=unsafe)
    launched.until_line("up")
    copy = tmp_path / "copy"
    shutil.copytree(pad.data, copy)
    folder, lock = copy / "runs" / launched.spec.name, copy / "runs" / "locks" / launched.lock.name
    monkeypatch.setattr(shims, "wait_free", lambda _lock, _seconds: False)
    shims.stop(folder)
    shims.kill(folder, lock)
    assert not shims.end_orphan(folder)
    assert not shims.is_running(folder)
    assert shims.is_running(launched.folder)
    assert [pid for pid in launched.members() if alive(pid)]
    assert not launched.states("ended")


def test_a_directory_in_the_place_of_one_that_was_moved_away_ends_nothing_of_it(pad: Pad) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    away = pad.data.with_name("away")
    pad.data.rename(away)
    try:
        pad.runs.mkdir(parents=True)
        cgroups.clean(pad.runs, keep=set())
        (pad.runs / launched.spec.name).mkdir()
        assert not shims.end_orphan(launched.folder)
        assert shims.is_running(away / "runs" / launched.spec.name)
    finally:
        shutil.rmtree(pad.data)
        away.rename(pad.data)
    assert shims.is_running(launched.folder)
    assert not launched.states("ended")


def test_a_run_is_found_where_its_directory_has_another_name_or_was_moved(pad: Pad) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    link, away = pad.data.with_name("a link"), pad.data.with_name("a name, with spaces")
    link.symlink_to(pad.data)
    assert shims.is_running(link / "runs" / launched.spec.name)
    assert shims.has_sandbox(link / "runs" / launched.spec.name)
    pad.data.rename(away)
    try:
        assert shims.is_running(away / "runs" / launched.spec.name)
        assert shims.has_sandbox(away / "runs" / launched.spec.name)
    finally:
        away.rename(pad.data)


def test_a_sandbox_under_another_title_is_found_by_its_mounts(pad: Pad) -> None:
    folder = pad.runs / "renamed-orphan"
    (folder / "work").mkdir(parents=True)
    program = str(bubblewrap.bwrap_path())
    box = [program, "--dev-bind", "/", "/", "--bind", str(folder / "work"), "/mnt"]
    command = ["sh", "-c", "echo up; exec sleep 1000"]
    with subprocess.Popen([*box, *command], stdout=subprocess.PIPE, text=True) as orphan:
        assert orphan.stdout is not None
        assert orphan.stdout.readline() == "up\n"
        assert shims.end_orphan(folder)
        assert orphan.wait() != 0
    assert not shims.end_orphan(folder)


def test_a_sandbox_cannot_change_what_its_lock_says(pad: Pad) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    held = [
        file
        for pid in launched.members()
        for file in Path(f"/proc/{pid}/fd").iterdir()
        if file.readlink() == launched.lock
    ]
    assert held
    for file in held:
        about = file.parents[1] / "fdinfo" / file.name
        (flags,) = re.findall(r"flags:\s+(\d+)", about.read_text())
        assert int(flags, 8) & os.O_ACCMODE == os.O_RDONLY


def test_the_lock_is_held_until_the_last_of_the_sandbox_is_gone(pad: Pad) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    members = launched.members()
    os.kill(launched.shim_pid(), signal.SIGKILL)
    while shims.is_held(launched.lock):
        time.sleep(0.0005)
    assert not [one for one in members if alive(one)]


def test_without_a_sandbox_too_a_lock_outlives_its_shim_with_what_is_left(pad: Pad) -> None:
    launched = pad.launch(
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            os.write(1, b"hidden\\n")
        time.sleep(1000)
        """,
        unsafe=True,
    )
    launched.until_line("hidden")
    members = launched.members()
    os.kill(launched.shim_pid(), signal.SIGKILL)
    time.sleep(0.1)
    assert shims.is_held(launched.lock)
    if cgroups.find(pad.runs):
        shims.kill(launched.folder, launched.lock)
        assert not shims.is_held(launched.lock)
    for one in filter(alive, members):
        os.kill(one, signal.SIGKILL)


def test_a_launch_can_follow_one_whose_shim_was_killed(pad: Pad) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    os.kill(launched.shim_pid(), signal.SIGKILL)
    assert shims.wait_free(launched.lock, 5.0)
    before = launched.records()
    shims.launch(launched.spec)
    launched.until(lambda one: one.lines() == ["up", "up"])
    assert launched.records()[: len(before)] == before


def test_a_stop_is_for_the_shim_alone_that_was_started(pad: Pad) -> None:
    """A process id of another process, as after a reboot, is left in peace."""
    folder = pad.runs / "other"
    folder.mkdir()
    with subprocess.Popen(["/bin/sleep", "100"]) as other:
        (folder / "shim.json").write_text(f'{{"pid": {other.pid}, "started": 1}}')
        shims.stop(folder)
        shims.kill(folder, pad.runs / "nolock")
        time.sleep(0.1)
        assert other.poll() is None
        other.kill()
    shims.stop(pad.runs / "nobody")


def test_the_server_hears_a_bell_when_the_journal_grows(pad: Pad) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bell:
        descriptor = os.open(pad.runs, os.O_PATH)
        bell.bind(f"/proc/self/fd/{descriptor}/bell")
        os.close(descriptor)
        bell.settimeout(10)
        launched = pad.launch("print('ding')", name="bellringer")
        assert bell.recv(100) == b"bellringer"
        launched.finished()


def test_secrets_do_not_reach_the_journal(pad: Pad) -> None:
    launched = pad.run(
        """
        import os, sys, time
        os.write(1, b"key=swordf")
        time.sleep(0.1)
        os.write(1, b"ish!\\n")
        print("BEGIN\\nline-of-a-key\\nEND", file=sys.stderr)
        print("x" * 995 + "swordfish" + "y" * 100)
        """,
        masked=["swordfish", "BEGIN\nline-of-a-key\nEND", "", "ab"],
        policy=Policy(restart=False, line_bytes=1000),
    )
    assert launched.lines() == ["key=***!", "x" * 995 + "***yy [cut]"]
    assert launched.lines("stderr") == ["***", "***", "END"]
    raw = b"".join(one.read_bytes() for one in (launched.folder / "journal").iterdir())
    assert b"swordfish" not in raw


def test_long_lines_are_cut_and_binary_is_kept_apart(pad: Pad) -> None:
    launched = pad.run(
        r"""
        import os
        os.write(1, b"a" * 300000 + b"\nshort\r\n\n\xff\xfe\x00ok\n")
        """,
        policy=Policy(restart=False, line_bytes=65536),
    )
    assert launched.lines() == ["a" * 65536 + " [cut]", "short", "", "\ufffd\ufffd\x00ok"]


@pytest.mark.heavy
def test_a_hundred_thousand_lines_at_once_are_all_kept_in_their_order(pad: Pad) -> None:
    launched = pad.run("""
        for number in range(100000):
            print("line", number, "of a model that talks a lot about what it does")
    """)
    assert [int(line.split()[1]) for line in launched.lines()] == list(range(100_000))


def test_the_rest_of_the_environment_stays_outside(pad: Pad) -> None:
    launched = pad.run("import os; print(sorted(os.environ))", unsafe=True)
    assert set(eval(launched.lines()[0])) <= {"GREETING", "LC_CTYPE"}


def _until_gone(pids: list[int]) -> None:
    until = time.monotonic() + 60
    while [one for one in pids if alive(one)]:
        assert time.monotonic() < until
        time.sleep(0.01)
