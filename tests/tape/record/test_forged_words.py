"""What `tapeline verify` says of records that a forger made of genuine ones."""

from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from tapeline.cli.main import app
from tapeline.tape.record import in_words
from tapeline.tape.record.outcome import Checked, Stamped
from tapeline.tape.record.quoting import quoted
from tests.tape.record import cases, forging, good
from tests.tape.record.case import Case
from tests.tape.record.making import CASH, LOG, ORDER, Tape, rotated

EVERY = {case.name: case for case in cases.every()}
FIGURES, UNCHANGED = "Profit and loss as it stands", "Nothing that counts"
OURS = rotated(good.FIRST)


def verified(record: bytes, tmp_path: Path, *more: str) -> str:
    file = tmp_path / "record.ndjson"
    file.write_bytes(record)
    known = ["--key", good.KNOWN[0]]
    return CliRunner().invoke(app, ["verify", str(file), *known, *more]).output


def test_a_whole_record_has_figures(tmp_path: Path) -> None:
    said = verified(EVERY["shows everything"].record, tmp_path)
    assert FIGURES in said
    assert UNCHANGED in said


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("orders replaced by their digests", "6 of its events are hidden or removed"),
        ("orders called removed", "6 of its events are hidden or removed"),
        ("fields replaced by their leaves", "6 are shown in part"),
    ],
)
def test_what_hides_something_has_no_figures_and_says_how_much(
    name: str, count: str, tmp_path: Path
) -> None:
    for case in (EVERY[name], EVERY[f"version 1: {name}"]):
        said = verified(case.record, tmp_path)
        assert FIGURES not in said
        assert UNCHANGED not in said
        assert "cannot be computed from this file" in said
        assert count in said
        assert "PROVEN, AS FAR AS IT IS SHOWN" in said


def test_an_added_tail_is_named_and_counts_for_nothing(tmp_path: Path) -> None:
    honest = verified(good.file(good.tape(), OURS), tmp_path)
    one = good.tape()
    one.add(LOG, CASH, after=60.0)
    said = verified(good.file(one, OURS), tmp_path)
    assert said.startswith("NOT SIGNED TO ITS END: the last 2 events, from 2026-09-21 14:21:22 UTC")
    assert "Of the signed events 1 to 14 only" in said
    figures = [line for line in honest.splitlines() if line.startswith("Profit and loss")]
    assert figures == [line for line in said.splitlines() if line.startswith("Profit and loss")]


def test_without_any_signature_there_are_no_figures(tmp_path: Path) -> None:
    one = Tape()
    one.add(LOG, ORDER)
    said = verified(good.file(one, OURS), tmp_path)
    assert said.startswith("NOT SIGNED: nothing")
    assert FIGURES not in said
    assert UNCHANGED not in said


def test_lists_that_were_left_out_are_counted(tmp_path: Path) -> None:
    said = verified(EVERY["the lists of a result left out"].record, tmp_path)
    assert "2 long lists of backtest results are not in this file" in said


@pytest.mark.parametrize("text", [text for _, text in forging.TEXTS])
def test_no_text_of_a_record_makes_a_line_of_its_own(text: str) -> None:
    stamps = [Stamped(1, 0.0, text, True), Stamped(1, 0.0, text, False)]
    found = Checked(model_id=text, stamps=stamps, removed={text: 1}, events=1)
    plain = Checked(
        model_id="x", stamps=[Stamped(1, 0.0, "x", True), Stamped(1, 0.0, "x", False)],
        removed={"x": 1}, events=1,
    )  # fmt: skip
    said = in_words.words(found)
    assert said.replace(quoted(text), "x") == in_words.words(plain)
    assert quoted(text).isprintable()


@pytest.mark.parametrize("text", [text for _, text in forging.TEXTS if text])
def test_no_text_of_an_order_makes_a_line_of_its_own(text: str, tmp_path: Path) -> None:
    one = Tape()
    fields = {"id": text, "symbol": text, "side": "buy", "size": 1.0, "executionPrice": 5.0}
    one.add_order(fields, claims=-4_000.0)
    one.sign()
    said = verified(good.file(one, OURS), tmp_path)
    assert "Reported late or changed after the fact: 1 order." in said
    assert f"Order {quoted(text)} {quoted(text)}" in said
    assert len(said.splitlines()) < 30


def test_an_earlier_record_that_is_broken_is_named_as_the_earlier_one(tmp_path: Path) -> None:
    kept = tmp_path / "kept.ndjson"
    kept.write_bytes(EVERY["another price"].record)
    said = verified(EVERY["shows everything"].record, tmp_path, "--earlier", str(kept))
    assert "BROKEN at event 1: The earlier record is broken, so nothing was compared: The" in said


def test_as_json_everything_is_there(tmp_path: Path) -> None:
    case: Case = EVERY["orders replaced by their digests"]
    said = msgspec.json.decode(verified(case.record, tmp_path, "--json"))
    changed = said["changed_afterwards"]
    assert (changed["figures"], changed["not_shown"], changed["upto"]) == (None, 6, 14)
