"""Notes of a shared page about the account: what was reported late, which settings changed."""

from typing import NamedTuple

from tapeline import figures
from tapeline.results.pnl.late_entries import Late
from tapeline.sharing.exhibits.answers import SharedHead, SharedSettings


class SettingsNote(NamedTuple):
    at: float
    words: str


def late(found: Late) -> str:
    """What besides orders; empty if nothing."""
    parts = [
        _counted(found.prices, "price", "prices"),
        _counted(found.cash, "cash entry", "cash entries"),
        _counted(found.positions, "position", "positions"),
    ]
    known = [one for one in parts if one]
    was = "was" if found.prices + found.cash + found.positions == 1 else "were"
    said = [f"{_listed(known)} {was} reported late."] if known else []
    if found.replaced_cash:
        was = "was" if found.replaced_cash == 1 else "were"
        what = _counted(found.replaced_cash, "cash entry", "cash entries")
        said.append(f"{what} {was} replaced afterwards.")
    return " ".join(said)


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def settings(head: SharedHead) -> list[SettingsNote]:
    return [SettingsNote(one.received_at, _changed(one)) for one in head.settings]


def _changed(one: SharedSettings) -> str:
    said = []
    if one.positions is not None:
        said.append("positions are long only" if one.positions == "long_only" else
                    "positions are signed")  # fmt: skip
    if one.capital_change is not None:
        amount = figures.money(one.capital, one.currency)
        said.append(f"the capital was {one.capital_change}{f' to {amount}' if amount else ''}")
    return ", ".join(said)


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}" if count else ""
