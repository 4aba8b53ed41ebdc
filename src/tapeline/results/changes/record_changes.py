"""What `tapeline verify` says of changes after the fact: a list, and the two figures."""

import msgspec

from tapeline import figures as numbers
from tapeline.moments import written
from tapeline.results.changes import words as in_words
from tapeline.results.changes.change import Change, FieldChange
from tapeline.results.changes.figures import Figure, Figures
from tapeline.results.changes.listing import ChangeCounts
from tapeline.results.changes.of_record import RecordReports
from tapeline.tape.record.outcome import Checked
from tapeline.tape.record.quoting import quoted

LISTED = 20  # the newest; `--json` has more
SOURCES = {"computed": "", "model": " (as the model itself said)", "off": ""}


class Told(msgspec.Struct, kw_only=True):
    changes: list[Change]
    """The newest, in the order of their arrival."""
    unlisted: int
    """How many older ones there are."""
    counts: ChangeCounts
    figures: Figures | None
    """Null where the file does not show everything: what it hides may be an order."""
    hidden: int
    """Reports that cannot be followed, because the record hides what they are about."""
    upto: int
    """The last event that is signed."""
    unsigned: int
    """Events after it. They count for nothing, whatever they say."""
    not_shown: int
    """Signed events that are hidden, or said to be removed: they may be of any kind."""
    partly: int
    """Events with hidden fields."""


def told(reports: RecordReports, found: Checked) -> Told | None:
    """None if nothing is signed, or the record is broken."""
    if found.last is None or not found.is_whole:
        return None
    folded, figures = reports.assessed(is_partial=found.is_partial)
    return Told(
        changes=folded.changes,
        unlisted=folded.unlisted,
        counts=folded.counts,
        figures=figures,
        hidden=reports.hidden,
        upto=found.last.seq,
        unsigned=found.unsigned,
        not_shown=found.not_shown,
        partly=found.partly,
    )


def words(found: Told) -> str:
    some = [*_list(found), *_hidden(found), *_not_shown(found), *_figures(found.figures)]
    return "\n".join(["", *_scope(found), *some])


def _scope(found: Told) -> list[str]:
    if not found.unsigned:
        return []
    return [f"Of the signed events 1 to {found.upto:,} only; those after them are not counted:"]


def _list(found: Told) -> list[str]:
    some = found.changes
    if not some and (found.not_shown or found.partly):
        return []  # what is hidden may be late, or changed
    if not some:
        return ["Nothing that counts was reported late or changed after the fact."]
    lines = [
        f"- event {one.seq:,}, {written(one.received_at, '%Y-%m-%d %H:%M:%S UTC')}:"
        f" {in_words.subject(one)}: {in_words.said(one)}"
        for one in map(_quoted, reversed(some[-LISTED:]))
    ]
    left = max(0, len(some) - LISTED) + found.unlisted
    rest = [f"- and {left:,} more"] if left else []
    return [f"Reported late or changed after the fact: {counted(found.counts)}.", *lines, *rest]


def _quoted(one: Change) -> Change:
    """Ids, symbols and other texts are the model's: a line break in one would forge a line here."""
    return msgspec.structs.replace(
        one,
        id=_text(one.id),
        symbol=_text(one.symbol),
        fields=[
            FieldChange(quoted(field.name), _value(field.before), _value(field.after))
            for field in one.fields
        ],
    )


def _text(value: str | None) -> str | None:
    return quoted(value) if value else value


def _value(value: float | str | None) -> float | str | None:
    return _text(value) if isinstance(value, str) else value


def counted(counts: ChangeCounts) -> str:
    """As in: 3 orders, 1 price."""
    names = {
        "orders": "order", "prices": "price", "cash": "cash entry", "positions": "position",
        "own_figures": "change of the model's own figures", "account": "change of the account",
        "symbols": "symbol that is not computed any more", "withdrawn": "withdrawn order",
        "early": "report dated into the future",
    }  # fmt: skip
    plurals = {
        "cash entry": "cash entries",
        "change of the model's own figures": "changes of the model's own figures",
        "change of the account": "changes of the account",
        "symbol that is not computed any more": "symbols that are not computed any more",
        "report dated into the future": "reports dated into the future",
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


def _not_shown(found: Told) -> list[str]:
    if not found.not_shown and not found.partly:
        return []
    return [
        f"Profit and loss cannot be computed from this file: {found.not_shown:,} of its events are"
        f" hidden or removed, and {found.partly:,} are shown in part. They may be orders, and they"
        " may have been late or changed after the fact."
    ]


def _figures(found: Figures | None) -> list[str]:
    if found is None or (not found.now.by_currency and not found.first.by_currency):
        return []
    return [
        f"Profit and loss as first reported: {_amounts(found.first)}",
        f"Profit and loss as it stands:      {_amounts(found.now)}",
    ]


def _amounts(figure: Figure) -> str:
    amounts = [numbers.gain(value, quoted(name)) for name, value in figure.by_currency.items()]
    return (", ".join(amounts) or "nothing") + SOURCES[figure.source]
