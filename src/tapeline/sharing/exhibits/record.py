"""The record of a link: the tape up to the delay, with commitments in place of hidden parts."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from tapeline.results.rules import rises
from tapeline.sharing.exhibits import redaction
from tapeline.sharing.links import delay
from tapeline.sharing.links.choices import Choices
from tapeline.sharing.links.delay import Cut
from tapeline.sharing.links.links import Share
from tapeline.store import bulk
from tapeline.tape import tapes
from tapeline.tape.events import kinds
from tapeline.tape.events.account_bodies import CASH_TYPES, POSITIONS
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof.checkpoints import Checkpoint
from tapeline.tape.record.writing import Shows

DAY = 86_400.0

# A part's checkpoints, and the one before them.
_SIGNED = """
select seq, link, at, key_id, signature from checkpoints where tape = ? and seq <= ? and seq >=
    coalesce((select max(seq) from checkpoints where tape = ? and seq <= ?), 0)
order by seq
"""

SYMBOLS = ("symbol", "exchange", "currency", "quote", "fee_currency", "instrument")
PRICES = ("price", "active", "average_price", "multiplier", *rises.PRICES)
SIZES = ("size", "filled_size")
MONEY = ("funds",)
FEES = rises.FEES  # in any currency: `fee_currency` may come with an earlier or a later event
AMOUNTS = ("amount", "value")  # in the currency that their event names, or in the model's own
TEXTS = ("id", "annotation")
_WORDS = {
    "side": redaction.SIDES,
    "status": redaction.STATUSES,
    "type": set(CASH_TYPES),
    "positions": set(POSITIONS),
}


def shows(share: Share) -> Shows:
    """Known names and kinds of values only: a model's additional fields stay commitments."""
    choices = share.choices
    numbers = {
        *rises.TIMES,
        *(PRICES if choices.shows_prices else ()),
        *(SIZES if choices.shows_sizes else ()),
        *(MONEY if choices.shows_money else ()),
        *(FEES if choices.shows_foreign_amounts else ()),
    }
    texts = {
        *(SYMBOLS if choices.shows_symbols else ()),
        *(TEXTS if choices.shows_texts else ()),
    }

    def field(name: str, fields: Mapping[str, Any]) -> bool:
        value = fields[name]
        if name == "capital":  # an amount and its currency, or null where it was taken away
            return value is None or choices.shows_sizes
        if name == "inverse":
            return choices.shows_symbols and isinstance(value, bool)
        if name in AMOUNTS:
            foreign = "currency" in fields and not choices.shows_foreign_amounts
            return choices.shows_money and not foreign and redaction.number(value) is not None
        if name in numbers:
            return redaction.number(value) is not None
        if name in texts:
            return isinstance(value, str)
        known = _WORDS.get(name, set())
        return isinstance(value, str) and value.lower() in known

    shown = _kinds(share)
    return Shows(
        lambda record: _is_shown(record, shown, share.backtest_id),
        field,
        orders=share.backtest_id is None,  # a backtest's link shows nothing of live trading
    )


def end(connection: Connection, found: tapes.Reading, choices: Choices) -> Cut:
    """The last event of the record, always a signed one; with a delay, the last before it."""
    moment = delay.cut(connection, found, choices).moment
    return Cut(delay.checkpoint_before(connection, found.tape, moment), moment)


def daily_checkpoints(
    connection: Connection, tape: int, after: int, until: int, last: int
) -> list[Checkpoint]:
    """Of a part of a tape: the first of each day, and the one at the record's end."""
    found: list[Checkpoint] = []
    day = None
    for seq, link, at, key_id, signature in bulk.fetch(
        connection, _SIGNED, (tape, until, tape, after)
    ):
        if seq > after and (at // DAY != day or seq == last):
            found.append(Checkpoint(seq, bytes(link).hex(), at, key_id, bytes(signature).hex()))
        day = at // DAY
    return found


def _kinds(share: Share) -> set[int]:
    """Kinds of plain events that are shown whole."""
    choices = share.choices
    shown = {kinds.AUTO_PNL}
    if choices.shows_symbols:
        shown |= {kinds.USED_SYMBOL, kinds.USED_EXCHANGE, kinds.MARK_PRICE}
    if choices.shows_texts:
        shown |= {
            kinds.LIFECYCLE,
            kinds.STATEMENT,
            kinds.LOG,
            kinds.SET_PNL,
            kinds.SET_CUSTOM_METRIC,
        }
    if share.backtest_id is not None:
        shown = set(kinds.OF_BACKTESTS) if choices.shows_texts else set()
    return {kind.number for kind in shown}


def _is_shown(record: StoredEvent, shown: set[int], backtest_id: str | None) -> bool:
    if record.kind not in shown:
        return False
    return backtest_id is None or record.backtest_id == backtest_id
