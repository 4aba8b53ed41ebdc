"""Which signatures a record has: the first of each day and the last, however it is read."""

import pytest

from tapeline.sharing.exhibits.record import DAY, daily_checkpoints
from tapeline.store.store import Store
from tapeline.store.tables.tape import checkpoints
from tapeline.tape import tapes

AT = {10: 0.1, 20: 0.2, 30: 1.1, 40: 1.9, 50: 1.95, 60: 3.0, 70: 3.5}
"""Days, by the event that was signed."""


@pytest.fixture
def tape(store: Store) -> int:
    tape = store.write_now(tapes.open_tape, "model")
    rows = [
        {"tape": tape, "seq": seq, "link": b"l", "at": day * DAY, "key_id": "k", "signature": b"s"}
        for seq, day in AT.items()
    ]
    store.write_now(lambda connection: connection.execute(checkpoints.insert(), rows).rowcount)
    return tape


@pytest.mark.parametrize("step", [1, 7, 10, 25, 100])
def test_a_record_has_the_first_signature_of_each_day_and_the_last(
    store: Store, tape: int, step: int
) -> None:
    last = 50
    parts = [(after, min(after + step, last)) for after in range(0, last, step)]
    found = [
        one.seq
        for after, until in parts
        for one in store.read_now(daily_checkpoints, tape, after, until, last)
    ]
    assert found == [10, 30, 50]
