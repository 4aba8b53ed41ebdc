"""Help that can be trusted, on a command that answers at once."""

import inspect
import os
import resource
import subprocess
import sys

import pytest

from tapeline.cli import main, rows
from tapeline.cli.terminal.lazily import LazyGroup, Row
from tests.acceptance.conftest import Home
from tests.waiting import A_PROGRAM

ROWS = {row.name: row for row in rows.ROWS}
# What takes long to import, and is for those who do something.
HEAVY = {
    "sqlalchemy", "uvicorn", "starlette", "cryptography", "numpy", "alembic", "msgspec", "ssl",
    "http.client",
}  # fmt: skip
QUICK = 0.3  # seconds of processor time


def imported_by(*arguments: str) -> set[str]:
    """The modules in memory when the command is done."""
    program = (
        "import sys\nfrom tapeline.cli.main import _run\n"
        f"sys.argv = ['tapeline', *{list(arguments)!r}]\n"
        "_run()\nprint('MODULES', *sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": os.defpath, "HOME": "/nonexistent", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=A_PROGRAM,
        check=True,
    )
    return set(ended.stdout.rpartition("MODULES")[2].split())


@pytest.mark.parametrize("row", rows.ROWS, ids=lambda row: row.name)
def test_every_command_has_an_example_and_the_sentence_of_the_table(row: Row) -> None:
    function = row.function()
    summary = (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")
    assert summary == row.says
    command = row.load()
    assert command.epilog
    assert f"tapeline {row.name}" in command.epilog
    options = [flag for one in command.params for flag in one.opts]
    assert len(options) == len(set(options))
    for one in command.params:
        assert getattr(one, "help", "x"), f"{row.name}: {one.name} has no help"


def test_all_but_the_server_itself_speak_json() -> None:
    for name, row in ROWS.items():
        options = [flag for one in row.load().params for flag in one.opts]
        assert ("--json" in options) == (name != "up"), name


def test_help_is_answered_at_once(home: Home) -> None:
    def spent() -> float:
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime

    home.run("--help")
    before = spent()
    assert home.run("--help").returncode == 0
    assert spent() - before < QUICK * 2, "twice what it takes on a machine with nothing else to do"
    assert not imported_by("--help") & HEAVY


@pytest.mark.parametrize("command", ["ps", "logs", "deploy", "secrets set"])
def test_a_command_that_asks_a_server_needs_nothing_of_one(command: str) -> None:
    assert not imported_by(*command.split(), "--help") & (HEAVY - {"ssl", "http.client", "msgspec"})


def test_help_is_for_people_in_every_group(home: Home) -> None:
    shown = home.run("--help").stdout
    group = main.command()
    assert isinstance(group, LazyGroup)
    for word in group.order:
        assert f" {word} " in shown
    assert home.run("secrets").stdout.count("secrets") >= 1
    assert "Example:" in home.run("secrets", "rm", "--help").stdout
    assert home.run("--version").stdout == home.run("version").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete(home: Home, shell: str) -> None:
    script = home.run("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert script.returncode == 0, script.stderr
    assert "_TAPELINE_COMPLETE" in script.stdout


def test_commands_complete(home: Home) -> None:
    ended = home.run(_TAPELINE_COMPLETE="complete_bash", COMP_WORDS="tapeline ver", COMP_CWORD="1")
    assert set(ended.stdout.split()) == {"verify", "versions", "version"}
    ended = home.run(
        _TAPELINE_COMPLETE="complete_bash", COMP_WORDS="tapeline secrets s", COMP_CWORD="2"
    )
    assert ended.stdout.split() == ["set"]
    ended = home.run(
        _TAPELINE_COMPLETE="complete_bash", COMP_WORDS="tapeline logs --fo", COMP_CWORD="2"
    )
    assert ended.stdout.split() == ["--follow"]
