"""Every command there is, walked through: help with an example, errors in one sentence."""

import json
import os
import subprocess
import sys

import pytest

from tapeline.cli import rows
from tests.acceptance.conftest import free_port
from tests.waiting import A_PROGRAM

pytestmark = pytest.mark.heavy

# One process for all of them: most of the time a command takes is Python's start.
WALKER = """
import contextlib, io, json, sys
from tapeline.cli.main import _run
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["tapeline", *words]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = _run()
    print(json.dumps([words, code, out.getvalue(), err.getvalue()]))
"""
ISSUED = {
    "login", "logout", "whoami", "init", "deploy", "backtest", "ps", "logs", "stop", "start",
    "rollback", "versions", "orders", "pnl", "backtests", "share", "secrets", "keys", "projects",
    "members", "verify", "export", "open", "doctor", "up", "user", "demo",
}  # fmt: skip
SIGNING = {"login", "logout", "init", "legacy-proxy"}  # nobody need be signed in for these
GIVEN = {
    "rollback": ["1"], "delete": ["m"], "secrets set": ["A"], "secrets rm": ["A"],
    "keys rm": ["k"], "projects new": ["P"], "projects use": ["P"], "projects rm": ["P"],
    "members withdraw": ["i"], "members join": ["i"], "members role": ["a@example.com", "viewer"],
    "members rm": ["a@example.com"], "backtests show": ["b"], "backtests compare": ["a", "b"],
    "pull": ["1"], "models new": ["m"], "models publish": ["s"], "models unpublish": ["s"],
    "channels add": ["c"], "channels test": ["c"], "channels remove": ["c"],
    "rules show": ["r"], "rules add": ["n", "--when", "crashed"], "rules rm": ["r"],
    "rules mute": ["r", "--for", "1h"], "incidents show": ["i"], "incidents ack": ["i"],
    "share rm": ["l"], "share change": ["l", "--percent-only"],
}  # fmt: skip


def walk(ways: list[list[str]], **variables: str) -> list[tuple[list[str], int, str, str]]:
    ended = subprocess.run(
        [sys.executable, "-c", WALKER, json.dumps(ways)],
        env={"PATH": os.defpath, "HOME": "/nonexistent", "COLUMNS": "100", **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=A_PROGRAM,
        check=True,
    )
    return [tuple(json.loads(line)) for line in ended.stdout.splitlines()]


def names() -> list[list[str]]:
    return [row.name.split() for row in rows.ROWS]


def test_every_command_that_was_promised_is_there() -> None:
    assert {words[0] for words in names()} >= ISSUED


def test_help_has_an_example_of_every_command() -> None:
    walked = walk([[*words, "--help"] for words in names()])
    assert len(walked) == len(rows.ROWS)
    for words, code, out, err in walked:
        assert (code, err) == (0, ""), words
        assert "Example" in out
        assert f"tapeline {' '.join(words[:-1])}" in out.partition("Example")[2], words


def test_a_command_written_wrongly_is_one_sentence() -> None:
    for words, code, out, err in walk([[*words, "--nonsense"] for words in names()]):
        assert (code, out) == (2, ""), words
        assert err.startswith("tapeline: No such option: --nonsense"), err
        assert err.rstrip().endswith(f"Try: tapeline {' '.join(words[:-1])} --help"), err
        assert err.count("\n") == 1


def test_who_is_not_signed_in_and_whose_server_is_gone_is_told_in_one_sentence() -> None:
    asking = [
        [*row.name.split(), *GIVEN.get(row.name, [])]
        for row in rows.ROWS
        if "server" in row.function().__dict__["options"] and row.name not in SIGNING
    ]
    assert len(asking) > 30
    for words, code, _, err in walk(asking):
        assert code == 3, (words, err)
        assert err.startswith("tapeline: You are not signed in to "), err
        assert err.count("\n") == 1
    gone = f"http://127.0.0.1:{free_port()}"
    for words, code, _, err in walk(asking, TAPELINE_URL=gone, TAPELINE_TOKEN="a.b.c"):
        looks_first = "Which model?" in err or "There is no platform.json" in err
        assert looks_first or (code == 5 and f"{gone} cannot be reached" in err), (words, err)
        assert "Traceback" not in err
        assert err.count("\n") == 1
