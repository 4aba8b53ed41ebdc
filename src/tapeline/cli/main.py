"""The command `tapeline`, and where errors end up."""

import re
import signal
import sys
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from tapeline import __version__, host_faults
from tapeline.cli.rows import GROUPS, ROWS, USUAL
from tapeline.cli.terminal import plain
from tapeline.cli.terminal.failures import INTERRUPTED, MISUSED, REFUSED, exit_code_of
from tapeline.cli.terminal.lazily import application
from tapeline.errors import Problem

SUGGESTIONS = re.compile(r"\(?(Did you mean|Possible options)[^?)]*[?)]*")

app = application(
    ROWS,
    GROUPS,
    USUAL,
    name="tapeline",
    help="Deploy trading models, watch them trade, keep an honest tape.",
    pretty_exceptions_enable=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        plain.write(__version__)
        raise typer.Exit


@app.callback()
def root(
    debug: bool = typer.Option(
        False,
        "--debug",
        help="Show each request, and where the command failed.",
        show_default=False,
    ),
    version: bool = typer.Option(
        False,
        "--version",
        help="Print the version.",
        callback=_print_version,
        is_eager=True,
        show_default=False,
    ),
) -> None:
    """Options of the command itself."""


def command() -> TyperGroup:
    made = get_command(app)
    assert isinstance(made, TyperGroup)
    return made


def main() -> None:
    if sys.argv[1:2] == ["up"]:
        # A reload must not end a server that has not yet imported the rest of itself.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    sys.exit(_run())


def _run() -> int:
    """Return the exit status. Every failure is one sentence on standard error."""
    debug = "--debug" in sys.argv
    try:
        ended = command()(prog_name="tapeline", standalone_mode=False)
        return ended if isinstance(ended, int) else 0
    except Problem as problem:
        return _fail(problem.message, exit_code_of(problem), debug)
    except (KeyboardInterrupt, typer.Abort):
        plain.write(to_stderr=True)
        return INTERRUPTED
    except BrokenPipeError:
        _leave_quietly()
        return REFUSED
    except Exception as error:  # noqa: BLE001 - the last resort: a sentence, never a traceback
        return _unexpected(error, debug)


def _unexpected(error: Exception, debug: bool) -> int:
    usage: Any = error
    if hasattr(error, "format_message") and hasattr(error, "ctx"):
        said = str(usage.format_message()).replace("\n", " ").strip()
        if not said:
            return 0  # a command without arguments: its help is on the screen
        tried = f" Try: {usage.ctx.command_path} --help" if usage.ctx else ""
        return _fail(f"{_sentence(said)}{tried}", MISUSED, debug)
    if isinstance(error, OSError) and (fault := host_faults.fault_of(error)):
        where = error.filename or "A file"
        return _fail(f"{where} cannot be used: {error.strerror}. {fault.cure}.", REFUSED, debug)
    if fault := host_faults.fault_of(error):
        return _fail(f"{fault.says} {fault.cure}.", REFUSED, debug)
    what = f"{type(error).__name__}: {error}".replace("\n", " ")
    return _fail(
        f"Something unexpected happened ({what}). Run it again with --debug to see where.",
        REFUSED,
        debug,
    )


def _sentence(said: str) -> str:
    """As one sentence with a full stop, and its suggestions in plain words."""
    meant = SUGGESTIONS.search(said)
    if meant:
        names = re.findall(r"'([^']+)'", meant[0]) or re.findall(r"--[\w-]+", meant[0])
        before = said[: meant.start()].rstrip(" .")
        said = f"{before}. Did you mean {' or '.join(names)}?"
    return said if said.endswith(("?", "!", ".")) else f"{said}."


def _fail(message: str, code: int, debug: bool) -> int:
    if debug:
        plain.write_traceback()
    plain.write(f"tapeline: {' '.join(message.splitlines())}", to_stderr=True)
    return code


def _leave_quietly() -> None:
    """The reader of our output is gone; Python must not complain about that at exit."""
    sys.stdout = open("/dev/null", "w")  # noqa: SIM115, PTH123
