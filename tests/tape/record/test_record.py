"""Records check offline: whole ones pass, whatever is hidden; any change is found and named."""

import base64
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tapeline.cli.main import app
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import older_seals, seals
from tapeline.tape.proof.checkpoints import Checkpoint
from tapeline.tape.proof.seals import GENESIS
from tapeline.tape.proof.signer import Signer
from tapeline.tape.record import checking, writing
from tapeline.tape.record.writing import ALL, Shows
from tests.tape.record.making import second_head

MODEL = "model1"
NOTHING = Shows(lambda _record: False, lambda _name, _value: False)
SOME = Shows(lambda record: record.seq % 2 == 0, lambda name, _value: name == "side")
LOG, ORDER = kinds.LOG, kinds.SPOT_MARKET


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer(tmp_path_factory.mktemp("keys"))


def record(seq: int, kind: kinds.Kind, rule: int = 3) -> StoredEvent:
    fields = {"id": f"o{seq}", "side": "buy", "size": 1.5, "note": {"deep": [1, None, "ü"]}}
    if kind is LOG:
        fields = {"line": f"line {seq}"}
    salt = None
    if kind in kinds.SEALED:
        salt = os.urandom(older_seals.SALT_BYTES if rule == 1 else 16 * len(fields))
    body = msgspec.json.encode(fields, order="deterministic")
    return StoredEvent(seq, kind.number, 1000.0 + seq, 1000.5 + seq, body, "run", None, salt)


def tape(shape: list[tuple[int, list[kinds.Kind]]]) -> list[StoredEvent]:
    """Groups of a rule each, linked."""
    records: list[StoredEvent] = []
    previous = GENESIS
    for rule, group in shape:
        some = [record(len(records) + n, kind, rule) for n, kind in enumerate(group, 1)]
        nonce = os.urandom(16) if rule == 3 else None
        if rule == 1:
            previous = older_seals.link(previous, some)
        else:
            contents = [seals.content(one) for one in some]
            previous = seals.link(previous, some, contents, nonce)
        some[-1] = msgspec.structs.replace(some[-1], link=previous, nonce=nonce)
        records += some
    return records


def file_of(
    records: list[StoredEvent], signer: Signer, shows: Shows, at: float = 5e8
) -> list[bytes]:
    lines = [second_head(MODEL, records[-1].seq, signer.chain)]
    previous = GENESIS
    ends = [place for place, one in enumerate(records, 1) if one.link is not None]
    for start, end in zip([0, *ends], ends, strict=False):
        group = records[start:end]
        seq, link = group[-1].seq, group[-1].link or b""
        signature = signer.sign(MODEL, seq, link, at).hex()
        one = Checkpoint(seq, link.hex(), at, signer.key_id, signature)
        (written,) = writing.written(previous, [group], shows, {seq: one}).pieces
        assert isinstance(written, bytes)
        lines += written.splitlines(keepends=True)
        previous = link
    return lines


SHAPES = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3]), st.lists(st.sampled_from([LOG, ORDER]), min_size=1, max_size=5)
    ),
    min_size=1,
    max_size=4,
)


@given(shape=SHAPES, shows=st.sampled_from([ALL, NOTHING, SOME]))
@settings(deadline=None)
def test_what_is_written_checks_whatever_is_hidden(
    signer: Signer, shape: list[tuple[int, list[kinds.Kind]]], shows: Shows
) -> None:
    records = tape(shape)
    found = checking.check(file_of(records, signer, shows))
    assert found.reason is None
    assert found.events == len(records)
    assert found.last is not None
    if shows is ALL:
        assert (found.hidden, found.partly) == (0, 0)
    if shows is NOTHING:
        assert found.hidden == sum(one.salt is None for one in records)


@pytest.mark.parametrize("shows", [ALL, SOME])
def test_groups_that_are_written_together_have_the_same_lines_as_one_by_one(shows: Shows) -> None:
    of_a_group = [ORDER, LOG] * 30
    records = tape([(rule, of_a_group) for rule in (1, 2, 3, 3, 3, 3, 3, 3)])
    groups = [records[at : at + len(of_a_group)] for at in range(0, len(records), len(of_a_group))]
    apart, previous = b"", GENESIS
    for group in groups:
        written = writing.written(previous, [group], shows, {})
        (piece,), previous = written.pieces, written.link
        assert isinstance(piece, bytes)
        apart += piece
    together = writing.written(GENESIS, groups, shows, {})
    assert (together.pieces, together.link) == ([apart], previous)
    assert apart.count(b"\n") > writing.TOGETHER


def test_the_values_of_an_order_are_written_as_they_were_sealed() -> None:
    (order,) = tape([(3, [ORDER])])
    body = b'{"a":1.0,"b":12345678901234567890123,"c":{"d":"\xc3\xbc"}}'
    order = msgspec.structs.replace(order, body=body, salt=bytes(48))
    (line,) = writing.written(GENESIS, [[order]], ALL, {}).pieces
    assert isinstance(line, bytes)
    assert b'"a":[1.0,"' in line
    assert b'"b":[12345678901234567890123,"' in line
    assert '"c":[{"d":"ü"},"'.encode() in line


@given(shape=SHAPES, shows=st.sampled_from([ALL, SOME]), data=st.data())
@settings(deadline=None)
def test_any_line_that_is_changed_removed_or_doubled_is_found(
    signer: Signer, shape: list[tuple[int, list[kinds.Kind]]], shows: Shows, data: st.DataObject
) -> None:
    lines = file_of(tape(shape), signer, shows)
    place = data.draw(st.integers(0, len(lines) - 1))
    kind = data.draw(st.sampled_from(["drop", "double", "edit"]))
    said = msgspec.json.decode(lines[place])
    if "checkpoint" in said and kind != "edit":
        return  # one signature less, or the same one twice, proves less but nothing false
    if kind == "drop":
        del lines[place]
    elif kind == "double":
        lines.insert(place, lines[place])
    else:
        lines[place] = msgspec.json.encode(_edited(said, data)) + b"\n"
    found = checking.check(lines)
    assert not found.is_whole
    assert found.broken_at is not None


def _edited(said: dict[str, Any], data: st.DataObject) -> dict[str, Any]:
    names = [name for name in said if name not in {"tapeline", "version", "key_id", "rule"}]
    name = data.draw(st.sampled_from(names))
    value = said[name]
    changed: Any
    if name == "checkpoint":
        changed = value | {"at": value["at"] + 1}
    elif name == "fields":
        changed = {key: ["other", salt] for key, (_, salt) in value.items()} or {"x": [1, ""]}
    elif name == "body":
        changed = {"line": "another"}
    elif name == "kind":
        changed = "event" if value != "event" else "log"
    elif isinstance(value, list):
        changed = [*value, "00" * 32]
    elif isinstance(value, str):
        same = bytes.fromhex(value) if name not in {"model_id", "run_id"} else b""
        changed = (bytes([same[0] ^ 1]) + same[1:]).hex() if same else value + "x"
    elif value is None:
        changed = "b"
    else:
        changed = value + 1
    return said | {name: changed}


def test_a_hidden_run_cannot_be_guessed(signer: Signer) -> None:
    """The digest of a hidden event must not fit even the right guess of all that it says."""
    records = tape([(3, [LOG])])
    lines = file_of(records, signer, NOTHING)
    digest = msgspec.json.decode(lines[1])["digest"]
    guess = seals.digest_of_run([seals.frame(records[0], records[0].body)], None, 0)
    assert digest != guess.hex()


def test_a_later_record_must_contain_the_one_that_was_kept(signer: Signer) -> None:
    records = tape([(3, [LOG, ORDER]), (3, [LOG]), (3, [ORDER])])
    kept = checking.check(file_of(records[:3], signer, SOME))
    assert checking.check(file_of(records, signer, ALL), earlier=kept).is_whole
    for other in (tape([(3, [LOG, ORDER]), (3, [LOG]), (3, [ORDER])]), records[:2]):
        found = checking.check(file_of(other, signer, ALL), earlier=kept)
        assert "earlier record" in (found.reason or "")


def test_the_command_says_what_is_proved_and_where_it_breaks(
    signer: Signer, tmp_path: Path
) -> None:
    lines = file_of(tape([(3, [LOG, ORDER]), (3, [LOG])]), signer, SOME)
    file = tmp_path / "record.ndjson"
    file.write_bytes(b"".join(lines))
    runner = CliRunner()
    known = ["--key", signer.key_id]
    good = runner.invoke(app, ["verify", str(file), "--late-seconds", "0", *known])
    assert good.exit_code == 0, good.output
    for words in (
        "PROVEN",
        "none was edited",
        "does not prove",
        "fills were real",
        "after the fact: 1 order.",
    ):
        assert words in good.output
    again = runner.invoke(app, ["verify", str(file), "--earlier", str(file)])
    assert again.exit_code == 3
    assert f"--key {signer.key_id}" in again.output
    file.write_bytes(b"".join(one for one in lines if b'"checkpoint"' not in one))
    unsigned = runner.invoke(app, ["verify", str(file), *known])
    assert (unsigned.exit_code, unsigned.output[:10]) == (4, "NOT SIGNED")
    line = next(place for place, one in enumerate(lines) if b'"buy"' in one)
    lines[line] = lines[line].replace(b'"buy"', b'"sell"')
    file.write_bytes(b"".join(lines))
    bad = runner.invoke(app, ["verify", str(file)])
    assert bad.exit_code == 1
    assert "BROKEN at event 1" in bad.output
    for content in (b"", b"{}\n", b"no json\n", b'{"tapeline":"record","version":1}\n', b"\xff"):
        file.write_bytes(content)
        assert runner.invoke(app, ["verify", str(file)]).exit_code == 1
    assert runner.invoke(app, ["verify", str(tmp_path / "none")]).exit_code == 1


def test_all_that_counts_at_another_time_than_it_arrived_is_reported_late(signer: Signer) -> None:
    shape = [(3, [kinds.MARK_PRICE, kinds.CASH, kinds.POSITION, kinds.ACCOUNT_VALUE, ORDER, LOG])]
    lines = file_of(tape(shape), signer, ALL)
    found = checking.check(lines, late_after=0.49)
    assert [(one.seq, one.kind, one.seconds) for one in found.late] == [
        (1, "mark-price", 0.5), (2, "cash", 0.5), (3, "position", 0.5), (5, "spot-market", 0.5),
    ]  # fmt: skip
    assert checking.check(lines, late_after=0.5).late == []  # as much is not more


def test_cash_that_replaced_other_cash_is_reported(signer: Signer) -> None:
    records = tape([(3, [kinds.CASH])])
    again = msgspec.structs.replace(records[0], seq=2, link=None, nonce=None)
    link = seals.link(records[0].link or b"", [again], [seals.content(again)])
    records.append(msgspec.structs.replace(again, link=link))
    found = checking.check(file_of(records, signer, ALL))
    assert (found.is_whole, found.replaced) == (True, [2])
    assert checking.check(file_of(records, signer, SOME)).replaced == []


def test_one_field_can_be_checked_by_itself(signer: Signer) -> None:
    lines = file_of(tape([(3, [ORDER])]), signer, SOME)
    said = msgspec.json.decode(lines[1])
    ((value, salt),) = said["fields"].values()
    assert value == "buy"
    assert len(base64.b64decode(salt)) == 16
    assert len(said["hidden"]) == 3
