"""Logs: one event per line, whatever a client sends and whatever a library says."""

import json
import logging
import re
import subprocess
import sys

import pytest

from tapeline import logs

NASTY = 'two\nlines "quoted" a=b \x1b[31m \ud800 é'


def record(message: str, *, level: int = logging.INFO, **facts: object) -> logging.LogRecord:
    made = logging.LogRecord("tapeline.test", level, "", 0, message, (), None)
    made.facts = facts
    return made


def with_error(message: str) -> logging.LogRecord:
    made = record(message, level=logging.ERROR)
    try:
        int("wrong\nin two lines")
    except ValueError:
        made.exc_info = sys.exc_info()
    return made


def test_a_text_line_has_time_level_event_and_facts() -> None:
    line = logs.TextLines().format(record("user_added", email="ada@example.com", count=2))
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info    user_added email=ada@example.com count=2",
        line,
    )


@pytest.mark.parametrize("value", [NASTY, "", "a b", 'say "x"', "a=b", "\r\n2026 error forged"])
def test_a_fact_cannot_break_its_line_or_forge_another(value: str) -> None:
    line = logs.TextLines().format(record("request", path=value))
    assert len(line.splitlines()) == 1
    assert line.isprintable()
    assert json.loads(line.partition("path=")[2]) == value


def test_a_librarys_message_cannot_break_its_line_either() -> None:
    line = logs.TextLines().format(record("bad header\n2026-01-01T00:00:00.000Z error forged"))
    assert len(line.splitlines()) == 1


def test_only_lines_that_start_with_a_time_are_events() -> None:
    lines = logs.TextLines().format(with_error("bug")).splitlines()
    assert lines[0].endswith("error   bug")
    assert any("ValueError: invalid" in line for line in lines)
    assert all(line.startswith("    ") for line in lines[1:])


@pytest.mark.parametrize("made", [record(NASTY, path=NASTY, odd={1, 2}), with_error("bug")])
def test_a_json_line_is_one_object(made: logging.LogRecord) -> None:
    line = logs.JsonLines().format(made)
    assert len(line.splitlines()) == 1
    event = json.loads(line)
    assert {"time", "level", "logger", "event"} <= event.keys()
    assert event["logger"] == "tapeline.test"
    assert ("traceback" in event) == (made.exc_info is not None)


def test_libraries_speak_only_when_something_is_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = logging.getLogger()
    ours = logging.getLogger("tapeline")
    before = (root.handlers[:], root.level, ours.level)
    try:
        logs.start("debug", "text")
        logging.getLogger("a_library").info("chatter")
        logging.getLogger("a_library").warning("trouble")
        logs.Log("tapeline.test").debug("seen", of="ours")
    finally:
        root.handlers[:], root.level, ours.level = before
    said = capsys.readouterr().err
    assert "chatter" not in said
    assert "trouble" in said
    assert "seen of=ours" in said


WARNS = """
import warnings
from tapeline import logs
logs.start("info", "json")
warnings.warn("overflow\\nin two lines", RuntimeWarning)
"""


def test_a_warning_of_python_is_one_event_like_any_other() -> None:
    done = subprocess.run([sys.executable, "-c", WARNS], capture_output=True, text=True, check=True)
    (line,) = done.stderr.splitlines()
    said = json.loads(line)
    assert said["level"] == "warning"
    assert "RuntimeWarning: overflow" in said["event"]


def test_a_repeated_complaint_is_counted_instead_of_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    throttle, now = logs.Throttle(), [100.0]
    monkeypatch.setattr(logs, "monotonic", lambda: now[0])

    def shown(event: str, level: int = logging.ERROR, **facts: object) -> bool:
        return throttle.filter(record(event, level=level, **facts))

    assert [shown("host_fault", path=f"/{n}") for n in range(50)] == [True] * 20 + [False] * 30
    assert shown("model_crashed", model="one"), "another complaint"
    assert all(shown("request", logging.INFO) for _ in range(50)), "not a complaint"
    assert [shown("model_crashed", model="two") for _ in range(21)][-1] is False
    assert shown("model_crashed", model="three"), "about another model"
    now[0] += 10
    again = record("host_fault", level=logging.ERROR)
    assert throttle.filter(again)
    assert again.__dict__["facts"]["not_shown"] == 30
