"""Command output: aligned tables, short times, colours only on a terminal; JSON for scripts.

Text from a server may hold control characters that would move a terminal's cursor or
worse; everything that is printed goes through `terminal/plain.py`, which takes them out.
"""

import json
import sys
import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tapeline import figures, moments
from tapeline.cli.terminal import plain
from tapeline.cli.terminal.plain import clean

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

BARS = "▁▂▃▄▅▆▇█"
STATES = {
    "running": "green", "installing": "cyan", "pending": "cyan", "starting": "cyan",
    "restarting": "yellow", "stopping": "yellow", "unreachable": "yellow", "crashed": "red",
    "failed": "red", "exited": "dim", "stopped": "dim", "never ran": "dim", "done": "green",
}  # fmt: skip
# Wider than any terminal: a pipe or a file gets every column in full.
UNBOUNDED = 100_000
GAP, NARROWEST = 2, 10
SIGNS = "?~>="


class Screen:
    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    @cached_property
    def out(self) -> "Console":
        return _console(to_stderr=False)

    @cached_property
    def err(self) -> "Console":
        return _console(to_stderr=True)

    @property
    def is_lively(self) -> bool:
        """Whether a person is watching: progress bars, spinners and questions make sense."""
        return sys.stderr.isatty() and not self.as_json

    def json(self, value: Any) -> None:
        plain.write_json(json.dumps(value, indent=2, ensure_ascii=False))

    def json_line(self, value: Any) -> None:
        plain.write_json(json.dumps(value, ensure_ascii=False))

    def say(self, text: str = "", style: str | None = None) -> None:
        """A line on standard output."""
        self.out.print(clean(text), style=style, markup=False, highlight=False)

    def say_lines(self, text: str) -> None:
        """Text that has lines of its own, such as a traceback: never with names in it."""
        self.out.print(clean(text, keep_lines=True), markup=False, highlight=False)

    def note(self, text: str, style: str | None = "dim") -> None:
        """A remark that is not the answer: on standard error, so that pipes stay clean."""
        if not self.as_json:
            self.err.print(clean(text), style=style, markup=False, highlight=False)

    def done(self, text: str, answer: Any = None) -> None:
        """The result of a change: a sentence, or with --json the server's answer."""
        if self.as_json:
            self.json({"status": "success"} if answer is None else answer)
        else:
            self.say(text)

    def show(self, what: "RenderableType") -> None:
        self.out.print(what)

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, empty: str = ""
    ) -> None:
        """Columns: `?name` is left out and `~name` cut short when the terminal is too narrow,
        `>name` is for numbers, `=name` an id that keeps its case."""
        filled = [list(row) for row in rows]
        if filled:
            self.show(table_of(columns, filled, self.out.width))
        else:
            self.note(empty)


def table_of(columns: Sequence[str], rows: Iterable[Sequence[Any]], width: int) -> "RenderableType":
    from rich.table import Table  # noqa: PLC0415 - takes longer to import than most commands run

    cells = [[_text(cell) for cell in row] for row in rows]
    kept = _kept(columns, cells, width)
    columns = [columns[place] for place in kept]
    cells = [[row[place] for place in kept] for row in cells]
    made = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for column, taken in zip(columns, _shrunk(columns, cells, width), strict=True):
        made.add_column(
            _heading(column),
            justify="right" if ">" in _signs(column) else "left",
            no_wrap=True,
            overflow="ellipsis",
            width=taken,
        )
    for row in cells:
        made.add_row(*row)
    return made


def _kept(columns: Sequence[str], rows: list[list[Any]], width: int) -> list[int]:
    """Columns with content; optional ones are dropped from the right until the rest fits."""
    kept = [
        place
        for place, column in enumerate(columns)
        if any(row[place] for row in rows) or not _heading(column)
    ]
    widths = [
        min(one, NARROWEST) if "~" in _signs(column) else one
        for one, column in zip(_widths(columns, rows), columns, strict=True)
    ]
    for place in reversed(kept.copy()):
        needed = sum(widths[one] for one in kept) + GAP * (len(kept) - 1)
        if needed > width and "?" in _signs(columns[place]):
            kept.remove(place)
    return kept


def _widths(columns: Sequence[str], rows: list[list[Any]]) -> list[int]:
    return [
        max([len(_heading(column)), *(row[place].cell_len for row in rows)])
        for place, column in enumerate(columns)
    ]


def _shrunk(columns: Sequence[str], rows: list[list[Any]], width: int) -> list[int]:
    """Every column as wide as its longest cell; flexible ones shrink until the rest fits."""
    wanted = _widths(columns, rows)
    flexible = [place for place, column in enumerate(columns) if "~" in _signs(column)]
    excess = sum(wanted) + GAP * (len(columns) - 1) - width
    while excess > 0 and flexible:
        widest = max(flexible, key=lambda place: wanted[place])
        if wanted[widest] <= NARROWEST:
            break
        wanted[widest] -= 1
        excess -= 1
    return wanted


def _heading(column: str) -> str:
    name = column.lstrip(SIGNS)
    return name if "=" in _signs(column) else name.upper()


def _signs(column: str) -> str:
    return column[: len(column) - len(column.lstrip(SIGNS))]


def _text(cell: Any) -> Any:
    from rich.text import Text  # noqa: PLC0415

    if isinstance(cell, Text):
        return cell
    return Text("" if cell is None else clean(str(cell)))


def styled(text: str, style: str = "") -> Any:
    from rich.text import Text  # noqa: PLC0415

    return Text(clean(text), style=style)


def state(word: str) -> Any:
    return styled(word, STATES.get(word, ""))


def better(text: str, *, is_best: bool) -> Any:
    return styled(text, "green" if is_best else "")


def signed(value: float | None, currency: str | None = None) -> Any:
    """A gain in green, a loss in red."""
    if value is None:
        return styled("-", "dim")
    text = figures.signed_amount(value, currency)
    return styled(_ascii(text), {"gain": "green", "loss": "red", "": ""}[figures.tone(text)])


def short_moment(at: float | None) -> str:
    """Without the year, which a person knows."""
    return "-" if at is None else moments.written(at, "%m-%d %H:%M:%S", None)


def moment(at: float | None) -> str:
    """The local time to the second."""
    return "-" if at is None else moments.written(at, "%Y-%m-%d %H:%M:%S", None)


def day(at: float | None) -> str:
    return "-" if at is None else moments.written(at, "%Y-%m-%d")


def ago(at: float | None) -> str:
    """In the largest unit alone."""
    return "-" if at is None else f"{span(max(0.0, time.time() - at)).partition(' ')[0]} ago"


def span(seconds: float) -> str:
    """The two largest units: 3d 4h, 5m 12s."""
    whole = int(seconds)
    units = [(86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")]
    parts: list[str] = []
    for size, letter in units:
        if whole >= size or (size == 1 and not parts):
            parts.append(f"{whole // size}{letter}")
            whole %= size
    return " ".join(parts[:2])


def size(count: float | None) -> str:
    if count is None:
        return "-"
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit in {"B", "KB"} else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError("the last unit takes all")


def number(value: Any) -> str:
    """As many digits as it takes and no more."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return _ascii(figures.quantity(value))


def price(value: float | None) -> str:
    return "-" if value is None else _ascii(figures.price(value))


def amount(value: float, currency: str | None) -> str:
    return _ascii(figures.amount(value, currency))


def _ascii(text: str) -> str:
    """Terminals and programs that read a table expect the plain minus."""
    return text.replace(figures.MINUS, "-")


def metric(value: Any, kind: str | None) -> str:
    """A percent is a share, a time is in epoch seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "-" if value is None else str(value)
    written = {
        "percent": f"{value * 100:,.2f}%",
        "money": amount(value, None),
        "days": f"{number(round(value, 1))} d",
        "count": number(value),
    }
    if kind in written:
        return written[kind]
    if kind == "time":
        return day(value)
    return number(value) if abs(value) >= 1000 else f"{value:.3g}"


def sparkline(values: Sequence[float], width: int) -> str:
    """A curve in one line of text."""
    if not values:
        return ""
    count = min(len(values), max(width, 1))
    taken = [values[place * (len(values) - 1) // max(count - 1, 1)] for place in range(count)]
    low, high = min(taken), max(taken)
    reach = (high - low) or 1.0
    return "".join(BARS[round((value - low) / reach * (len(BARS) - 1))] for value in taken)


def _console(*, to_stderr: bool) -> "Console":
    from rich.console import Console  # noqa: PLC0415

    stream = sys.stderr if to_stderr else sys.stdout
    width = None if stream.isatty() else UNBOUNDED
    return Console(stderr=to_stderr, width=width, soft_wrap=False, highlight=False, emoji=False)
