"""What events about an account may carry: money that is no order, positions, values, settings."""

from typing import Any

from tapeline.errors import Invalid, MissingField
from tapeline.tape.events.values import Values, flag, number, optional_text, positive, text

FLOWS = ("deposit", "withdrawal")
"""These change the capital; all other types change profit and loss."""
EARNINGS = ("funding", "dividend", "interest", "rebate", "fee", "tax", "adjustment")
CASH_TYPES = (*FLOWS, *EARNINGS)
INSTRUMENTS = ("spot", "margin", "future", "perpetual", "option", "cfd")
POSITIONS = ("signed", "long_only")


def cash(values: Values, _lenient: bool) -> dict[str, Any]:
    kind = _word(values, "type", CASH_TYPES)
    amount = number(_required(values, "amount"), "amount")
    if kind == "deposit" and amount <= 0:
        raise Invalid("A deposit must be greater than zero; see `withdrawal`.", field="amount")
    if kind == "withdrawal" and amount >= 0:
        raise Invalid(
            "A withdrawal must be less than zero: `amount` is what the account gained.",
            field="amount",
        )
    kept: dict[str, Any] = {"type": kind, "amount": amount}
    _add_currency(kept, values, "currency")
    for key in ("symbol", "id"):
        if values.get(key) not in (None, ""):
            kept[key] = text(values, key)
    if values.get("annotation") is not None:
        kept["annotation"] = optional_text(values, "annotation")
    return kept


def position(values: Values, lenient: bool) -> dict[str, Any]:
    kept: dict[str, Any] = {
        "symbol": text(values, "symbol"),
        "size": number(_required(values, "size"), "size"),
    }
    if kept["size"] or values.get("average_price") not in (None, ""):
        kept["average_price"] = positive(_required(values, "average_price"), "average_price")
    _add_currency(kept, values, "quote")
    return {**kept, **contract(values, lenient)}


def account_value(values: Values, _lenient: bool) -> dict[str, Any]:
    kept: dict[str, Any] = {"value": number(_required(values, "value"), "value")}
    _add_currency(kept, values, "currency")
    return kept


def contract(values: Values, lenient: bool) -> dict[str, Any]:
    """What an order or a position says about the contract that it trades."""
    kept: dict[str, Any] = {}
    if values.get("multiplier") not in (None, ""):
        kept["multiplier"] = positive(values["multiplier"], "multiplier")
    if values.get("instrument") not in (None, ""):
        kept["instrument"] = _word(values, "instrument", INSTRUMENTS)
    if values.get("inverse") not in (None, ""):
        kept["inverse"] = flag(values["inverse"], "inverse", lenient=lenient)
    _add_currency(kept, values, "fee_currency")
    return kept


def account_settings(values: Values, _lenient: bool) -> dict[str, Any]:
    """A change by the owner: what is absent stays, a capital of null takes it away."""
    kept: dict[str, Any] = {}
    if "positions" in values:
        kept["positions"] = _word(values, "positions", POSITIONS)
    if "capital" in values:
        kept["capital"] = _capital(values["capital"])
    if not kept:
        raise MissingField("Send `positions`, `capital` or both.", field="positions")
    return kept


def _capital(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Invalid("`capital` must be an object of amount and currency.", field="capital")
    if value.get("amount") in (None, ""):
        raise MissingField("`capital.amount` is required.", field="capital.amount")
    kept: dict[str, Any] = {"amount": positive(value["amount"], "capital.amount")}
    _add_currency(kept, value, "currency")
    if "currency" not in kept:
        raise MissingField("`capital.currency` is required.", field="capital.currency")
    return kept


def _required(values: Values, key: str) -> Any:
    if values.get(key) in (None, ""):
        raise MissingField(f"`{key}` is required.", field=key)
    return values[key]


def _word(values: Values, key: str, known: tuple[str, ...]) -> str:
    found = text(values, key).lower()
    if found not in known:
        raise Invalid(f"`{key}` must be one of {', '.join(known)}, not {values[key]!r}.", field=key)
    return found


def _add_currency(kept: dict[str, Any], values: Values, key: str) -> None:
    if values.get(key) not in (None, ""):
        found = text(values, key).strip().upper()
        if not found:
            raise Invalid(f"`{key}` must name a currency, such as USD.", field=key)
        kept[key] = found
