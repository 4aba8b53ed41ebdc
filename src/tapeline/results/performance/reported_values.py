"""An account's value as the exchange said it: read from the tape, never computed with."""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
from sqlalchemy import Connection

from tapeline.results.metrics.account import Floats
from tapeline.tape.events import kinds
from tapeline.tape.reading import channels

PORTION = 5_000
MOST = 200_000  # the newest that are looked at


class _Said(msgspec.Struct):
    value: float
    currency: str | None = None


_said = msgspec.json.Decoder(_Said)


def reported(
    connection: Connection, tape: int, currency: str | None, before: int | None = None
) -> tuple[Floats, Floats]:
    """Times and values in one currency, in the order of their times. `before`: only events that
    arrived before this one."""
    found = list(_values(connection, tape, currency, before))
    if not found:
        return np.empty(0), np.empty(0)
    found.sort(key=lambda one: one[:2])
    times, _, values = np.array(found).T
    return times, values


def _values(
    connection: Connection, tape: int, currency: str | None, before: int | None
) -> Iterator[tuple[float, int, float]]:
    for _ in range(MOST // PORTION):
        some: Any = channels.newest(
            connection, tape, kinds.ACCOUNT_VALUE.channel, before=before, limit=PORTION
        )
        for record in some.records:
            said = _said.decode(record.body)
            if said.currency in (None, currency):
                # Nobody says today what an exchange will say tomorrow: dated into the future, a
                # value would stay the newest until then, whatever is reported meanwhile.
                yield min(record.time, record.received_at), record.seq, said.value
        before = some.next
        if before is None:
            return
