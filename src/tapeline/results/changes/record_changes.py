"""What `tapeline verify` says of changes after the fact: a list, and the two figures."""

import msgspec

from tapeline import figures as numbers
from tapeline.moments import written
from tapeline.results.changes import words as in_words
from tapeline.results.changes.change import Change
from tapeline.results.changes.figures import Figure, Figures
from tapeline.results.changes.folding import ChangeCounts
from tapeline.results.changes.of_record import RecordReports

LISTED = 20  # the newest; `--json` has all
SOURCES = {"computed": "", "model": " (as the model itself said)", "off": ""}


class Told(msgspec.Struct, kw_only=True):
    changes: list[Change]
    """In the order of their arrival."""
    counts: ChangeCounts
    figures: Figures | None
    """Null where the record hides something that they are made of."""
    hidden: int
    """Reports that cannot be followed, because the record hides what they are about."""


def told(reports: RecordReports) -> Told:
    folded = reports.folded()
    return Told(
        changes=folded.changes,
        counts=folded.counts(),
        figures=reports.figures(folded),
        hidden=reports.hidden,
    )


def words(found: Told) -> str:
    return "\n".join(["", *_list(found), *_hidden(found), *_figures(found.figures)])


def _list(found: Told) -> list[str]:
    some = found.changes
    if not some:
        return ["Nothing that counts was reported late or changed after the fact."]
    lines = [
        f"- event {one.seq:,}, {written(one.received_at, '%Y-%m-%d %H:%M:%S UTC')}:"
        f" {in_words.subject(one)}: {in_words.said(one)}"
        for one in reversed(some[-LISTED:])
    ]
    rest = [f"- and {len(some) - LISTED:,} more"] if len(some) > LISTED else []
    return [f"Reported late or changed after the fact: {counted(found.counts)}.", *lines, *rest]


def counted(counts: ChangeCounts) -> str:
    """As in: 3 orders, 1 price."""
    names = {
        "orders": "order", "prices": "price", "cash": "cash entry", "positions": "position",
        "own_figures": "change of the model's own figures", "withdrawn": "withdrawn order",
    }  # fmt: skip
    plurals = {"cash entry": "cash entries"} | {
        "change of the model's own figures": "changes of the model's own figures"
    }
    return ", ".join(
        f"{count:,} {name if count == 1 else plurals.get(name, name + 's')}"
        for field, name in names.items()
        if (count := getattr(counts, field))
    )


def _hidden(found: Told) -> list[str]:
    if not found.hidden:
        return []
    return [
        f"This record hides what {found.hidden:,} of its events are about, so it shows their late"
        " arrival and not their changes. The page of the link lists the changes."
    ]


def _figures(found: Figures | None) -> list[str]:
    if found is None or (not found.now.by_currency and not found.first.by_currency):
        return []
    return [
        f"Profit and loss as first reported: {_amounts(found.first)}",
        f"Profit and loss as it stands:      {_amounts(found.now)}",
    ]


def _amounts(figure: Figure) -> str:
    amounts = [numbers.gain(value, name) for name, value in figure.by_currency.items()]
    return (", ".join(amounts) or "nothing") + SOURCES[figure.source]
