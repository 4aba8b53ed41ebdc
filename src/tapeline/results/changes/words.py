"""A change in words, for shared pages, files and `tapeline verify`."""

from tapeline import figures, moments
from tapeline.results.changes.change import Change, FieldChange

SUBJECTS = {
    "order": "Order",
    "price": "Price",
    "cash": "Cash",
    "position": "Position",
    "own_figures": "The model's own figures",
}
FACTS = {
    "order": "the fill",
    "price": "its time",
    "cash": "its time",
    "position": "its time",
    "own_figures": "the first of them",
}
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def subject(one: Change) -> str:
    """What was changed, as far as it has a name."""
    return " ".join(part for part in (SUBJECTS[one.about], one.id, one.symbol) if part)


def said(one: Change) -> str:
    """As in: price changed from 60 to 190, 5 h after the fill."""
    after = length(one.late_by)
    if one.sort == "withdrawn":
        return f"the assumed fill was taken out, {after} after the order"
    if one.about == "own_figures":
        (field,) = one.fields or [FieldChange("values", None, None)]
        count = int(field.after) if isinstance(field.after, float) else 0
        what = "value" if count == 1 else "values"
        return f"{count:,} {what} changed, {after} after {FACTS[one.about]}"
    if one.sort == "late":
        told = ", ".join(
            f"{field.name} {_written(field.name, field.after)}"
            for field in one.fields
            if field.after is not None and field.name not in {"symbol", "time"}
        )
        return f"reported {after} after its time{': ' if told else ''}{told}"
    how = ", ".join(map(_field, one.fields)) or "sent again with other content"
    return f"{how}, {after} after {FACTS[one.about]}"


def length(seconds: float) -> str:
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:,.0f} s"


def _field(field: FieldChange) -> str:
    before, after = (_written(field.name, one) for one in (field.before, field.after))
    if before and after:
        return f"{field.name} changed from {before} to {after}"
    if after:
        return f"{field.name} set to {after}"
    return f"{field.name} {before} taken out" if before else f"{field.name} changed"


def _written(name: str, value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if name == "time":
        return moments.written(value, "%Y-%m-%d %H:%M:%S UTC")
    return figures.quantity(value) if name in {"size", "multiplier"} else figures.price(value)
