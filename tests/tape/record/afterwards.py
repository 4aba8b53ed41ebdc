"""Records that nobody tampered with, of models that changed what they had reported."""

import random
from collections.abc import Iterator
from typing import Any

from tapeline.tape.events import kinds
from tapeline.tape.events.kinds import Kind
from tests.tape.record.case import Case
from tests.tape.record.good import FIRST, HOUR, KNOWN, file
from tests.tape.record.making import START, Tape, rotated

HISTORIES, LENGTH = 100, 18
ORDER: dict[str, Any] = {"symbol": "A-USD", "exchange": "x", "side": "buy", "size": 2.0}
POSTS = (kinds.SPOT_MARKET, kinds.SPOT_LIMIT, kinds.SPOT_STOP)
BEHIND = (0.0, 0.0, 0.0, 30.0, 299.0, 400.0, 2 * HOUR, -2 * HOUR)
PAUSES = (1.0, 20.0, 200.0, 400.0, 3 * HOUR)
STATUSES = ("filled", "canceled", "open", "rejected", "FILLED ", "canceled\x1c", "\x1cfilled")


def cases() -> Iterator[Case]:
    for name, said in (
        ("a price that is rewritten after hours", {"executionPrice": 190.0}),
        ("a side that is turned around after hours", {"side": "sell"}),
        ("a fill that is dated back after hours", {"executionTime": START}),
        ("a loss that is cancelled after hours", {"status": "canceled"}),
        ("a size that is rewritten after hours", {"filled_size": 1.0}),
    ):
        yield _case(name, _rewritten(said))
    for number in range(HISTORIES):
        yield _case(f"history {number}", _history(random.Random(number)))


def _case(name: str, tape: Tape) -> Case:
    tape.sign()
    return Case(name, file(tape, rotated(FIRST)), "proven", KNOWN)


def _rewritten(said: dict[str, Any]) -> Tape:
    tape = Tape(seed="rewritten")
    tape.tell(kinds.SPOT_MARKET, {"id": "o1", **ORDER, "executionPrice": 60.0}, START + 60.0)
    tape.tell(kinds.UPDATE_TRADE, {"id": "o1", **said}, START + 5 * HOUR, after=5 * HOUR)
    return tape


def _history(chance: random.Random) -> Tape:
    tape = Tape(seed=f"history {chance.random()}")
    for _ in range(LENGTH):
        after = chance.choice(PAUSES)
        at = tape.now + after - chance.choice(BEHIND)
        tape.tell(*_report(chance, at), at, after)
    return tape


def _report(chance: random.Random, at: float) -> tuple[Kind, dict[str, Any]]:
    draw = chance.random()
    if draw < 0.35:
        return chance.choice(POSTS), _post(chance, at)
    if draw < 0.8:
        return kinds.UPDATE_TRADE, _update(chance, at)
    others: list[tuple[Kind, dict[str, Any]]] = [
        (kinds.MARK_PRICE, {"symbol": "A-USD", "price": 7.0}),
        (kinds.CASH, {"type": "fee", "amount": -1.0, "id": chance.choice("ab")}),
        (kinds.CASH, {"type": "fee", "amount": -1.0}),
        (kinds.POSITION, {"symbol": "B-USD", "size": 1.0, "average_price": 2.0}),
        (kinds.ACCOUNT_SETTINGS, {"positions": chance.choice(["signed", "long_only"])}),
        (kinds.SET_PNL, {"values": _values(chance, at)}),
        (kinds.AUTO_PNL, {"enabled": chance.random() < 0.5}),
    ]
    return chance.choice(others)


def _post(chance: random.Random, at: float) -> dict[str, Any]:
    said = {**ORDER, "id": chance.choice("mnop"), "price": chance.choice([60, 60.0, 61.5])}
    return said | _some(chance, _words(chance, at), 0.1)


def _update(chance: random.Random, at: float) -> dict[str, Any]:
    said = _some(chance, _words(chance, at), 0.3)
    return {"id": chance.choice("mnop"), **(said or {"status": "filled"})}


def _words(chance: random.Random, at: float) -> dict[str, Any]:
    return {
        "executionPrice": chance.choice([60, 60.0, 61.5, 190.0]),
        "filled_avg_price": chance.choice([1.0, 60.0, 61.5]),
        "filled_size": chance.choice([0.0, 0.5, 1, 1.5, 2.0]),
        "executionTime": chance.choice(
            [at, at - 3 * HOUR, at * 1000, "2026-09-21T14:13:20Z", "\x1c1790000000", "21 Sep 2026"]
        ),
        "status": chance.choice(STATUSES),
        "fee": chance.choice([0.5, -0.5, 1]),
        "size": chance.choice([2.0, 3.0]),
    }


def _some(chance: random.Random, words: dict[str, Any], share: float) -> dict[str, Any]:
    return {name: value for name, value in words.items() if chance.random() < share}


def _values(chance: random.Random, at: float) -> list[dict[str, Any]]:
    times = [START, at // 1000 * 1000, at + 2 * HOUR]
    return [
        {"time": one, "value": chance.choice([1.0, 2.0])} for one in times[: chance.randint(0, 3)]
    ]
