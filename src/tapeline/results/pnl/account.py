"""What a model's owner says of its account: how positions are kept, and the capital behind it."""

import time
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import Connection, select

from tapeline.store.tables.core import models
from tapeline.store.tables.tape import tapes
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event
from tapeline.tape.reading import channels

Positions = Literal["signed", "long_only"]

STATE = "account"
"""The name under which a tape keeps what was said last."""

_encode = msgspec.json.Encoder(order="deterministic").encode


class Capital(msgspec.Struct):
    amount: float
    currency: str


class _Words(msgspec.Struct):
    """All that matters of a stored state where only the capital does."""

    capital: Capital | None = None


_words = msgspec.json.Decoder(_Words)


class SettingsChange(msgspec.Struct, kw_only=True):
    """One change of the settings: what it did not change is unset."""

    received_at: float
    positions: Positions | UnsetType = UNSET
    capital: Capital | UnsetType | None = UNSET


class Settings(msgspec.Struct):
    positions: Positions
    capital: Capital | None = None
    """What the owner set; null where nobody did."""

    changes: list[SettingsChange] = []
    """The newest, oldest first."""

    @property
    def long_only(self) -> bool:
        return self.positions == "long_only"


def settings_of(connection: Connection, tape: int) -> Settings:
    said = channels.state(connection, tape, STATE) or {}
    if "positions" not in said:
        said["positions"] = first_positions(connection, tape)
    return from_words(said)


def settings_of_model(connection: Connection, tape: int, model_id: str) -> Settings:
    """The same, also of a model that has no tape yet."""
    if tape:
        return settings_of(connection, tape)
    found = connection.scalar(select(models.c.positions).where(models.c.id == model_id))
    return Settings(_known(found))


def first_positions(connection: Connection, tape: int) -> Positions:
    """How they were kept before anything about it was on the tape."""
    query = select(models.c.positions).join(tapes, tapes.c.model_id == models.c.id)
    return _known(connection.scalar(query.where(tapes.c.no == tape)))


def is_said(connection: Connection, tape: int) -> bool:
    """Whether the tape itself says how positions are kept."""
    return "positions" in (channels.state(connection, tape, STATE) or {})


def names_positions(state: bytes | None) -> bool:
    """The same, of a stored state."""
    return state is not None and "positions" in msgspec.json.decode(state, type=dict[str, Any])


def capital_in(state: bytes | None) -> Capital | None:
    """What the owner set, of a stored state."""
    return None if state is None else _words.decode(state).capital


def event(tape: int, fields: dict[str, Any]) -> Event:
    """A change of the settings, for the tape."""
    now = time.time()
    return Event(tape, kinds.ACCOUNT_SETTINGS, fields, _encode(fields), now, now)


def from_words(said: dict[str, Any]) -> Settings:
    return msgspec.convert(said, Settings)


def _known(positions: str | None) -> Positions:
    return "long_only" if positions == "long_only" else "signed"
