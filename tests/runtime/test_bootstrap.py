"""A backtest is started, watched and told about without the model's help."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.runtime.conftest import RUNTIME, Backtest, environment

pytestmark = pytest.mark.heavy


def test_a_function_gets_the_arguments_and_its_dictionary_is_the_result(backtest: Backtest) -> None:
    ended = backtest(
        "def backtest(to, cash=1):\n    print('running')\n"
        "    return {'to': to, 'cash': cash, 'backtest_id': 'mine'}\n"
        "if __name__ == '__main__':\n    raise SystemExit('must not run')\n",
        arguments={"to": "1y"},
    )
    assert (ended.code, ended.out, ended.err) == (0, "running\n", "")
    assert ended.result == {"to": "1y", "cash": 1, "backtest_id": "the-run"}
    assert ended.status is not None
    assert ended.status.pop("time_elapsed") >= 0
    assert ended.status == {
        "successful": True,
        "status_summary": "Completed",
        "status_details": "",
        "mode": "function",
    }


def test_values_that_json_lacks_are_tolerated(backtest: Backtest) -> None:
    ended = backtest(
        "import datetime, decimal\n"
        "def backtest():\n"
        "    day = datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)\n"
        "    return {'start_time': day, 'x': float('nan'), 'd': decimal.Decimal('0.5'), 1: {2}}\n"
    )
    assert ended.result == {
        "start_time": 1_767_312_000.0, "x": None, "d": 0.5, "1": [2], "backtest_id": "the-run",
    }  # fmt: skip


def test_a_coroutine_is_awaited(backtest: Backtest) -> None:
    ended = backtest("async def backtest(n):\n    return {'n': n}\n", arguments={"n": 3})
    assert ended.result == {"n": 3, "backtest_id": "the-run"}


def test_a_function_that_returns_nothing_leaves_no_result(backtest: Backtest) -> None:
    ended = backtest("def backtest():\n    pass\n")
    assert ended.result is None
    assert ended.status is not None
    assert ended.status["successful"]


def test_a_function_elsewhere_can_be_named(backtest: Backtest, tmp_path: Path) -> None:
    folder = tmp_path / "model" / "tests_of_time"
    folder.mkdir(parents=True)
    (folder / "runner.py").write_text(
        "import neighbour, bot\ndef go():\n    return {'n': neighbour.N, 'm': bot.M}\n"
    )
    (folder / "neighbour.py").write_text("N = 5\n")
    ended = backtest("M = 6\n", function="tests_of_time/runner.py:go")
    assert ended.result == {"n": 5, "m": 6, "backtest_id": "the-run"}


@pytest.mark.parametrize("function", ["bot.py:missing", "nowhere.py:go"])
def test_a_named_function_that_is_not_there_is_said(backtest: Backtest, function: str) -> None:
    ended = backtest("M = 6\n", function=function)
    assert ended.code == 1
    assert ended.status is not None
    assert not ended.status["successful"]
    assert function.split(":", maxsplit=1)[0] in ended.status["status_summary"]


def test_a_failure_is_told_with_the_models_own_traceback(backtest: Backtest) -> None:
    ended = backtest("def backtest():\n    raise ValueError('no prices')\n")
    assert ended.code == 1
    assert ended.status is not None
    assert ended.status["status_summary"] == "ValueError: no prices"
    details = ended.status["status_details"]
    assert details.startswith("Traceback (most recent call last):\n")
    assert "bootstrap" not in details
    assert "importlib" not in details
    assert "raise ValueError('no prices')" in details
    assert ended.err == details


@pytest.mark.parametrize(
    ("script", "summary"),
    [
        ("def backtest():\n    pass\nimport nowhere_at_all\n", "ModuleNotFoundError: No module"),
        ("def backtest(:\n", "SyntaxError: "),
        ("def backtest(a):\n    pass\n", "TypeError: backtest() missing 1 required"),
    ],
)
def test_a_script_that_cannot_begin_is_a_failure(
    backtest: Backtest, script: str, summary: str
) -> None:
    ended = backtest(script)
    assert ended.code == 1
    assert ended.status is not None
    assert ended.status["status_summary"].startswith(summary)
    assert "bootstrap.py" not in ended.status["status_details"]


def test_a_script_without_a_function_runs_as_itself(backtest: Backtest, tmp_path: Path) -> None:
    ended = backtest(
        "import sys, pickle, os\n"
        "class Thing:\n    pass\n"
        "if __name__ == '__main__':\n"
        "    pickle.loads(pickle.dumps(Thing()))\n"
        "    print(sys.argv, os.path.basename(__file__), os.path.basename(sys.path[0]))\n"
    )
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "['bot.py'] bot.py model\n"
    assert ended.status is not None
    assert (ended.status["mode"], ended.status["successful"]) == ("script", True)


@pytest.mark.parametrize(
    ("leaving", "code", "summary", "err"),
    [
        ("sys.exit()", 0, "Completed", ""),
        ("sys.exit(0)", 0, "Completed", ""),
        ("sys.exit(3)", 3, "Exited with status 3", ""),
        ("sys.exit('no money')", 1, "no money", "no money\n"),
    ],
)
def test_leaving_means_what_python_means_by_it(
    backtest: Backtest, leaving: str, code: int, summary: str, err: str
) -> None:
    for script in (f"import sys\n{leaving}\n", f"import sys\ndef backtest():\n    {leaving}\n"):
        ended = backtest(script)
        assert (ended.code, ended.err) == (code, err)
        assert ended.status is not None
        assert ended.status["status_summary"] == summary
        assert ended.status["successful"] is (code == 0)


def test_the_status_waits_for_threads(backtest: Backtest) -> None:
    ended = backtest(
        "import threading, time, atexit, os\n"
        "atexit.register(lambda: print('model exits'))\n"
        "def work():\n"
        "    while threading.main_thread().is_alive():\n        time.sleep(0.01)\n"
        "    time.sleep(0.2)\n"
        "    print('worked', os.path.exists('../out/status.json'))\n"
        "threading.Thread(target=work).start()\n"
    )
    assert (ended.code, ended.out) == (0, "worked False\nmodel exits\n")
    assert ended.status is not None
    assert ended.status["time_elapsed"] > 0.2


def test_a_thread_that_fails_makes_the_backtest_fail(backtest: Backtest) -> None:
    ended = backtest(
        "import threading, time\n"
        "class Work(threading.Thread):\n"
        "    def run(self):\n        time.sleep(0.1)\n        raise ValueError('in the back')\n"
        "Work(name='worker').start()\n"
    )
    assert ended.code == 1
    assert ended.status is not None
    assert ended.status["status_summary"] == "ValueError: in the back (in thread worker)"
    assert "in the back" in ended.status["status_details"]
    assert "Exception in thread worker" in ended.err


def test_a_daemon_that_fails_is_the_models_own_business(backtest: Backtest) -> None:
    ended = backtest(
        "import threading\n"
        "def fail():\n    1 / 0\n"
        "t = threading.Thread(target=fail, daemon=True)\nt.start()\nt.join()\n"
    )
    assert ended.code == 0


def test_a_child_of_the_model_writes_no_status(backtest: Backtest) -> None:
    ended = backtest(
        "import os, sys\n"
        "child = os.fork()\n"
        "if child == 0:\n    sys.exit(5)\n"
        "os.waitpid(child, 0)\nprint(os.path.exists('../out/status.json'))\n"
    )
    assert (ended.code, ended.out) == (0, "False\n")


@pytest.mark.parametrize("where", ["time.sleep(60)", "threading.Thread(target=work).start()"])
def test_an_interrupt_is_told(tmp_path: Path, where: str) -> None:
    (tmp_path / "bot.py").write_text(
        "import time, threading\n"
        "def work():\n    time.sleep(3)\n"
        f"print('ready', flush=True)\n{where}\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(RUNTIME / "bootstrap.py"), "--out", str(tmp_path), "bot.py", ""],
        cwd=tmp_path,
        env=environment(None),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    process.stdout.close()
    assert '"Interrupted"' in (tmp_path / "status.json").read_text()
