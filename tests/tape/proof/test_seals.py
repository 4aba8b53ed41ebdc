"""The chain and its signatures: no single change of a tape goes unnoticed."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import older_seals, seals
from tapeline.tape.proof.seals import GENESIS
from tapeline.tape.proof.signer import Signer, is_signed, statement
from tests.examples import some

JSONS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False,
    allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner,
    max_size=2), max_leaves=4,
)  # fmt: skip
BODIES = st.dictionaries(st.text(max_size=4), JSONS, max_size=4)
TIMES = st.floats(0, 2e9)


@st.composite
def chains(draw: st.DrawFn, least: int = 1) -> list[StoredEvent]:
    """A tape as `append` writes it: groups, each with a link on its last record."""
    records: list[StoredEvent] = []
    previous = GENESIS
    for size in draw(st.lists(st.integers(1, 4), min_size=least, max_size=4)):
        rule = draw(st.sampled_from([by_todays_rule, older_seals.link]))
        group = [_record(draw, len(records) + place + 1, rule) for place in range(size)]
        if rule is by_todays_rule and draw(st.booleans()):
            nonce = draw(st.binary(min_size=16, max_size=16))
            group[-1] = msgspec.structs.replace(group[-1], nonce=nonce)
        previous = rule(previous, group)
        records += [*group[:-1], msgspec.structs.replace(group[-1], link=previous)]
    return records


def by_todays_rule(previous: bytes, group: list[StoredEvent]) -> bytes:
    return seals.link(previous, group, [seals.content(one) for one in group], group[-1].nonce)


def _record(draw: Any, seq: int, rule: Any = by_todays_rule) -> StoredEvent:
    body = draw(BODIES)
    # Orders and updates are salted, and they always have an id.
    size = 16 * len(body) if rule is by_todays_rule else 16
    salt = draw(st.none() | st.binary(min_size=size, max_size=size)) if body else None
    return StoredEvent(
        seq=seq,
        kind=draw(st.integers(1, 17)),
        time=draw(TIMES),
        received_at=draw(TIMES),
        run_id=draw(st.none() | st.just("run")),
        backtest_id=draw(st.none() | st.just("bt")),
        body=msgspec.json.encode(body, order="deterministic"),
        salt=salt,
    )


def head_of(records: list[StoredEvent]) -> tuple[int, bytes]:
    return len(records), records[-1].link or b""


def changed(draw: Any, record: StoredEvent) -> StoredEvent:
    """One field of it, anything else than it was."""
    field = draw(st.sampled_from(StoredEvent.__struct_fields__))
    old = getattr(record, field)
    new: Any
    if field == "body":
        new = _other_bytes(draw, old)
    elif field in ("salt", "link"):
        new = draw(st.just(os.urandom(16)) if old is None else st.none() | st.just(old[:-1] + b"x"))
        new = new if new != old else b""
    elif field in ("run_id", "backtest_id"):
        new = draw(st.sampled_from([one for one in (None, "", "other") if one != old]))
    elif field == "nonce":
        new = bytes(16) if old is None else None
    else:
        new = old + 1
    return msgspec.structs.replace(record, **{field: new})


def _other_bytes(draw: Any, old: bytes) -> bytes:
    place = draw(st.integers(0, len(old)))
    byte = bytes([draw(st.integers(0, 255))])
    ways = [old[:place] + byte + old[place:], old[:place] + old[place + 1 :],
            old[:place] + byte + old[place + 1 :]]  # fmt: skip
    different = [one for one in ways if one != old]
    chosen: bytes = draw(st.sampled_from(different))
    return chosen


@pytest.mark.heavy
@settings(max_examples=some(150), deadline=None)
@given(chains(), st.data())
def test_any_single_change_is_found(records: list[StoredEvent], data: st.DataObject) -> None:
    head = head_of(records)
    assert seals.first_break(records, head) is None
    place = data.draw(st.integers(0, len(records) - 1))
    way = data.draw(st.sampled_from(["edit", "remove", "insert", "double", "swap", "cut"]))
    broken = list(records)
    if way == "edit":
        broken[place] = changed(data.draw, records[place])
    elif way == "remove":
        del broken[place]
    elif way == "insert":
        at = data.draw(st.integers(0, len(records)))
        broken.insert(at, _record(data.draw, at + 1))
        # A careful forger counts on.
        broken = [msgspec.structs.replace(one, seq=seq) for seq, one in enumerate(broken, 1)]
    elif way == "double":
        broken.insert(place, records[place])
    elif way == "swap":
        other = data.draw(st.integers(0, len(records) - 1))
        if other == place:
            return
        broken[place], broken[other] = broken[other], broken[place]
    else:
        broken = broken[:place]
    assert seals.first_break(broken, head) is not None


def test_a_body_that_only_means_the_same_is_a_change_too() -> None:
    body = b'{"id":"o1","size":1.0}'
    order = StoredEvent(seq=1, kind=5, time=1.0, received_at=1.0, body=body, salt=bytes(32))
    link = by_todays_rule(GENESIS, [order])
    whole = msgspec.structs.replace(order, link=link)
    assert seals.first_break([whole], (1, link)) is None
    for other in (
        b'{"id":"o1", "size":1.0}', b'{"size":1.0,"id":"o1"}', b'{"id":"o1","size":1.00}',
        b'{"id":"o1","size":7.0,"size":1.0}', b'{"id":"o1","size":1.0', b"[]", b"\xff", b"",
    ):  # fmt: skip
        edited = msgspec.structs.replace(whole, body=other)
        assert seals.first_break([edited], (1, link)) == 1


@settings(max_examples=some(50))
@given(chains())
def test_a_tape_that_was_rewritten_whole_does_not_match_its_old_head(
    records: list[StoredEvent],
) -> None:
    forged = msgspec.structs.replace(records[-1], time=records[-1].time + 1, link=None)
    link = by_todays_rule(GENESIS, [*_bare(records[:-1]), forged])
    rewritten = [*_bare(records[:-1]), msgspec.structs.replace(forged, link=link)]
    assert seals.first_break(rewritten, (len(records), link)) is None
    assert seals.first_break(rewritten, head_of(records)) is not None


def _bare(records: list[StoredEvent]) -> list[StoredEvent]:
    return [msgspec.structs.replace(one, link=None, nonce=None) for one in records]


@given(BODIES.filter(bool), st.data())
def test_some_fields_can_be_hidden_and_the_rest_still_verifies(
    fields: dict[str, Any], data: st.DataObject
) -> None:
    size = 16 * len(fields)
    salt = data.draw(st.binary(min_size=size, max_size=size))
    root = seals.root(seals.leaves(fields, salt))
    hidden = data.draw(st.sets(st.sampled_from(sorted(fields))))
    # What is handed out: values and salts of the shown fields, bare commitments of the others.
    shown = {
        name: (value, dict(seals.salts(fields, salt))[name])
        for name, value in fields.items()
        if name not in hidden
    }
    commitments = [seals.leaves(fields, salt)[name] for name in hidden]

    def root_of(told: dict[str, tuple[Any, bytes]]) -> bytes:
        leaves = {name: seals.leaf(name, value, mine) for name, (value, mine) in told.items()}
        rest = {f"hidden {place}": one for place, one in enumerate(commitments)}
        return seals.root(leaves | rest)

    assert root_of(shown) == root
    for name, (_, mine) in shown.items():
        assert root_of({**shown, name: ("forged value", mine)}) != root
        assert len(mine) == 16
    if len(shown) > 1:
        assert root_of(dict(list(shown.items())[1:])) != root


def test_a_signature_holds_for_its_statement_and_no_other(tmp_path: Path) -> None:
    signer = Signer(tmp_path)
    told = ("model", 7, b"l" * 32, 5.5)
    signature = signer.sign(*told)
    assert is_signed(signer.public_key, signature, statement(*told))
    for other in (("other", *told[1:]), ("model", 8, *told[2:]), ("model", 7, b"k" * 32, 5.5),
                  (*told[:3], 5.6)):  # fmt: skip
        assert not is_signed(signer.public_key, signature, statement(*other))
    assert not is_signed(signer.public_key, signature[:-1] + b"x", statement(*told))
    # The key is made once and kept to its owner.
    again = Signer(tmp_path)
    assert (again.public_key, again.key_id) == (signer.public_key, signer.key_id)
    assert [file.stat().st_mode & 0o777 for file in tmp_path.iterdir()] == [0o600] * 2
    (tmp_path / "elsewhere").mkdir()
    stranger = Signer(tmp_path / "elsewhere")
    assert not is_signed(stranger.public_key, signature, statement(*told))
