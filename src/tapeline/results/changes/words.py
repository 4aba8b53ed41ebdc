"""A change in words, for shared pages, files and `tapeline verify`."""

from tapeline import figures, moments
from tapeline.results.changes.change import Change, FieldChange

SUBJECTS = {
    "order": "Order",
    "price": "Price",
    "cash": "Cash",
    "position": "Position",
    "own_figures": "The model's own figures",
    "account": "Account",
    "symbol": "Symbol",
}
FACTS = {
    "order": "the fill",
    "price": "its time",
    "cash": "its time",
    "position": "its time",
    "own_figures": "the first of them",
    "account": "the first report",
    "symbol": "its first report",
}
SOURCES = {"computed": "computed", "model": "the model's own", "off": "none"}
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def subject(one: Change) -> str:
    """What was changed, as far as it has a name."""
    return " ".join(part for part in (SUBJECTS[one.about], one.id, one.symbol) if part)


def said(one: Change) -> str:
    """As in: price changed from 60 to 190, 5 h after the fill."""
    after = length(one.late_by)
    if one.sort == "withdrawn":
        return f"the assumed fill was taken out, {after} after the order"
    if one.sort == "early":
        ahead = length(one.time - one.received_at)
        told = _told(one.fields)
        return f"dated {ahead} into the future{': ' if told else ''}{told}"
    if one.about == "own_figures":
        return f"{_own(one.fields)}, {after} after {FACTS[one.about]}"
    if one.about == "symbol":
        return f"not computed any more, {after} after {FACTS[one.about]}: {_told(one.fields)}"
    if one.sort == "late":
        told = _told(one.fields)
        return f"reported {after} after its time{': ' if told else ''}{told}"
    how = ", ".join(map(_field, one.fields)) or "sent again with other content"
    return f"{how}, {after} after {FACTS[one.about]}"


def length(seconds: float) -> str:
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:,.0f} s"


def _told(fields: list[FieldChange]) -> str:
    """What a first report says."""
    return ", ".join(
        _count(field) if field.name == "values" else f"{_name(field)}{_written(field.name, value)}"
        for field in fields
        if (value := field.after) is not None and field.name not in {"symbol", "time"}
    )


def _own(fields: list[FieldChange]) -> str:
    """As in: figures changed from computed to the model's own, the last value set to 50.00."""
    parts = []
    for field in fields:
        if field.name == "source":
            before, after = (SOURCES.get(str(it), "") for it in (field.before, field.after))
            parts.append(f"figures changed from {before} to {after}")
        elif field.name == "values":
            parts.append(f"{_count(field)} changed")
        elif field.before is not None or field.after is not None:
            parts.append(_field(FieldChange("the last value", field.before, field.after)))
    return ", ".join(parts) or "changed"


def _count(field: FieldChange) -> str:
    count = int(field.after) if isinstance(field.after, float) else 0
    return f"{count:,} {'value' if count == 1 else 'values'}"


def _name(field: FieldChange) -> str:
    return "" if field.name == "reason" else f"{field.name.replace('_', ' ')} "


def _field(field: FieldChange) -> str:
    before, after = (_written(field.name, one) for one in (field.before, field.after))
    name = field.name.replace("_", " ")
    if before and after:
        return f"{name} changed from {before} to {after}"
    if after:
        return f"{name} set to {after}"
    return f"{name} {before} taken out" if before else f"{name} changed"


def _written(name: str, value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if name == "time":
        return moments.written(value, "%Y-%m-%d %H:%M:%S UTC")
    return figures.quantity(value) if name in {"size", "multiplier"} else figures.price(value)
