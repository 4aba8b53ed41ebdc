"""Findings about a server or a machine, each with a mark and what to do about it."""

from collections.abc import Iterable
from typing import NamedTuple

from tapeline.cli.terminal.screen import Screen, styled


class Row(NamedTuple):
    mark: str
    style: str
    topic: str
    says: str
    fix: str


def show_findings(out: Screen, rows: Iterable[Row]) -> None:
    """A topic is written once, where it begins."""
    from rich.table import Table  # noqa: PLC0415 - heavy for those who want JSON

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    before = ""
    for one in rows:
        topic = one.topic if one.topic != before else ""
        table.add_row(styled(one.mark, one.style), styled(topic, "bold"), styled(one.says))
        if one.fix:
            table.add_row("", "", styled(f"→ {one.fix}", "cyan"))
        before = one.topic
    out.show(table)
