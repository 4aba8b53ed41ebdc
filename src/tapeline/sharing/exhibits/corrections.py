"""Changes after the fact as a link shows them: new records, without values that the link hides."""

from typing import Literal

from tapeline.results.changes.change import Change, FieldChange
from tapeline.results.changes.figures import Figure, Figures
from tapeline.sharing.exhibits import reasons
from tapeline.sharing.exhibits.answers import SharedCorrection, SharedReported
from tapeline.sharing.exhibits.finite import finite
from tapeline.sharing.links.choices import Choices
from tapeline.sharing.links.pseudonyms import Names

NO_CAPITAL = "Amounts are hidden, and a percentage needs a capital."
TOO_LARGE = "The numbers that were reported are too large to compute with."
PUBLIC = {"side", "type", "time", "values", "source", "positions"}
"""Fields that every link shows."""


def shown(one: Change, choices: Choices, names: Names) -> SharedCorrection:
    """A field that a late report has for the first time says nothing where its value is hidden; of
    a change it says that there was one."""
    fields = [_field(field, choices, names) for field in one.fields]
    if one.sort in {"late", "early"}:
        fields = [field for field in fields if field.after is not None]
    return SharedCorrection(
        seq=one.seq,
        received_at=one.received_at,
        about=one.about,
        sort=one.sort,
        id=None if one.id is None else names.order(one.id),
        symbol=names.symbol(one.symbol),
        time=one.time,
        late_by=one.late_by,
        fields=fields,
    )


def _field(field: FieldChange, choices: Choices, names: Names) -> FieldChange:
    if field.name == "symbol":
        return FieldChange("symbol", names.symbol(field.before), names.symbol(field.after))
    if field.name == "reason":
        return FieldChange("reason", _reason(field.before, choices), _reason(field.after, choices))
    if field.name in PUBLIC or _shows(choices).get(field.name, False):
        return field
    return FieldChange(field.name, None, None)


def _reason(said: object, choices: Choices) -> str | None:
    return reasons.shown(said, choices) if isinstance(said, str) else None


def _shows(choices: Choices) -> dict[str, bool]:
    """An amount of cash may be in any currency, and so may a fee."""
    return {
        "price": choices.shows_prices,
        "average_price": choices.shows_prices,
        "size": choices.shows_sizes,
        "funds": choices.shows_money,
        "fee": choices.shows_foreign_amounts,
        "amount": choices.shows_foreign_amounts,
        "currency": choices.shows_symbols,
        "fee_currency": choices.shows_symbols,
        "multiplier": choices.shows_symbols,
        "inverse": choices.shows_symbols,
        "value": choices.shows_money,
        "profit": choices.shows_foreign_amounts,
        "capital": choices.shows_foreign_amounts,
        "own_currency": choices.shows_symbols,
    }


def reported(found: Figures, capital: float | None, choices: Choices) -> SharedReported | None:
    """Null before there is anything to report."""
    first, now = _value(found.first, found.first_currency), _value(found.now, found.currency)
    if first is None and now is None:
        return None
    if choices.shows_money:
        other = found.first_currency if found.first_currency != found.currency else None
        shown = other if choices.shows_symbols else None
        return _computed("money", first, now, shown)
    if capital is None:
        return SharedReported(unit="percent", first=None, now=None, reason=NO_CAPITAL)
    return _computed(
        "percent",
        None if first is None else first / capital,
        None if now is None else now / capital,
    )


def _computed(
    unit: Literal["money", "percent"],
    first: float | None,
    now: float | None,
    first_currency: str | None = None,
) -> SharedReported:
    """With the reason where one of them overflowed."""
    shown = finite(first), finite(now)
    return SharedReported(
        unit=unit,
        first=shown[0],
        now=shown[1],
        first_currency=first_currency,
        reason=None if shown == (first, now) else TOO_LARGE,
    )


def _value(figure: Figure, currency: str | None) -> float | None:
    """In the first currency. Nothing that was reported in time is nothing, not unknown."""
    if not figure.by_currency:
        return 0.0 if figure.source == "computed" and currency is not None else None
    name = currency if currency is not None else next(iter(figure.by_currency))
    return figure.by_currency.get(name, 0.0)
