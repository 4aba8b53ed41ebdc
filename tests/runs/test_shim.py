"""How a launch lives and ends: exits, signals, stops, restarts, and what it says."""

import os
import signal
import socket
import time

import pytest

from tapeline.errors import CannotLaunch
from tapeline.runs.engines import shims
from tapeline.runs.sandbox.box import Policy
from tapeline.runs.shim import restarting
from tests.runs.conftest import STUBBORN, Pad, alive


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
        try:
            print("up")
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
    # A shim that does not get to it within some seconds is killed itself.
    assert [one["outcome"] for one in launched.states("finished")] in ([], ["stopped"])


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
        told, tells = os.pipe()
        if os.fork() == 0:
            os.write(1, b"last words")
            os.write(tells, b".")
            time.sleep(1000)
        os.read(told, 1)
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
