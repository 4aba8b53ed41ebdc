"""Whatever a command prints, no text from elsewhere moves the cursor, adds a line or turns it."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapeline import cli
from tapeline.cli.terminal import plain
from tapeline.cli.terminal.findings import Row, show_findings
from tapeline.cli.terminal.screen import Screen, better, state, styled

NASTY = "a\n\x1b[1A\x1b[2K\x9b2J\x7f\u202e\u2066\u2028\ud800z"
HARMLESS = "a[1A[2K2Jz"

ROOT = Path(str(cli.__file__)).parent
WRITERS = {
    "print", "typer.echo", "typer.secho", "typer.prompt", "typer.confirm", "sys.stdout.write",
    "sys.stderr.write", "sys.stdout.writelines", "sys.stderr.writelines", "traceback.print_exc",
    "traceback.print_exception", "os.write",
}  # fmt: skip
WITHOUT_TEXT = {"rich.live", "rich.progress"}


def test_only_the_terminal_folder_writes_to_the_terminal() -> None:
    modules = [one for one in ROOT.rglob("*.py") if one.parent.name != "terminal"]
    found = {f"{one.name}: {what}" for one in modules for what in past_the_one_way(one.read_text())}
    assert len(modules) > 40
    assert not found


@pytest.mark.parametrize(
    "code",
    ["typer.echo(name)", "print(name)", "from rich.text import Text", "import rich", "import click",
     "session.screen.out.print(name)", "sys.stderr.write(name)", "from typer import echo"],
)  # fmt: skip
def test_a_module_that_writes_by_itself_is_found(code: str) -> None:
    assert list(past_the_one_way(code))


def past_the_one_way(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in WRITERS or called.endswith((".out.print", ".err.print")):
                yield called
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
        if set(names) & (WRITERS | {"click"}):
            yield ", ".join(names)
        if names and names[0].partition(".")[0] == "rich" and names[0] not in WITHOUT_TEXT:
            yield names[0]


def test_every_way_of_the_terminal_takes_out_what_moves_the_cursor(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = Screen()
    out.say(NASTY)
    out.done(NASTY)
    out.note(NASTY)
    out.table(
        ["name", "state"], [[NASTY, state(NASTY)], [styled(NASTY), better("1", is_best=True)]]
    )
    show_findings(out, [Row("!", "red", NASTY, NASTY, NASTY)])
    plain.write(NASTY)
    plain.write(NASTY, to_stderr=True)
    said, noted = capsys.readouterr()
    assert said.count(HARMLESS) == 9
    assert len(said.splitlines()) == len(said.split("\n")) - 1 == 8
    assert noted.splitlines() == [HARMLESS, HARMLESS]


def test_json_holds_the_same_value_with_every_control_character_escaped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Screen().json({"name": NASTY, "plain": "é"})
    Screen().json_line({"name": NASTY})
    whole = capsys.readouterr().out
    assert plain.clean(whole, keep_lines=True) == whole
    assert "é" in whole
    assert len(whole.splitlines()) == 5
    assert json.loads(whole.splitlines()[-1]) == {"name": NASTY}


def test_a_traceback_is_shown_without_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    try:
        Path("\x1b[2Jgone\x9b").with_name("\x9b/")
    except ValueError:
        plain.write_traceback()
    said = capsys.readouterr().err
    assert "ValueError" in said
    assert plain.clean(said, keep_lines=True) == said
