"""Log lines on the screen with their time; standard error is red."""

from typing import Any

from tapeline import moments, terminal_text
from tapeline.cli.terminal.plain import clean
from tapeline.cli.terminal.screen import Screen

STYLES = {"stderr": "red", "error": "red", "warning": "yellow", "system": "cyan"}


def show_line(screen: Screen, line: dict[str, Any], *, times: bool = True) -> None:
    if screen.as_json:
        screen.json_line(line)
        return
    from rich.text import Text  # noqa: PLC0415 - heavy for those who want JSON

    time = f"{_time(line['time'], screen)}  " if times else ""
    text = clean(terminal_text.plain(str(line.get("line", ""))), keep_lines=True)
    shown = Text(time, style="dim")
    below = "\n" + " " * len(time)
    shown.append(text.replace("\n", below), style=STYLES.get(str(line.get("type")), ""))
    # Soft: the terminal wraps long lines, so that they are copied in one piece.
    screen.out.print(shown, soft_wrap=True)


def _time(at: float, screen: Screen) -> str:
    """On a terminal the local time of day; for files the whole moment in UTC."""
    if screen.out.is_terminal:
        return moments.written(at, "%H:%M:%S", None)
    return moments.written(at, "%Y-%m-%dT%H:%M:%SZ")
