"""Damage to a journal, by a crash, a disk or a person, is skipped and reported; reading goes on."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeline.runs.journals import journal
from tapeline.runs.journals.journal import LONGEST_RECORD
from tapeline.runs.journals.meaning import RunUpdate
from tapeline.runs.journals.records import UNREADABLE, Record
from tests.runs.journals.conftest import Make
from tests.runs.supervision.histories import a_run


def read_all(folder: Path, limit: int = 1_000_000) -> tuple[list[Record], str]:
    """Every record, in as many reads as it takes, and what stands in the way of the next."""
    found, offset = list[Record](), 0
    while True:
        chunk = journal.read(folder, offset, limit)
        found += chunk.records
        assert chunk.offset >= offset
        if chunk.offset == offset:
            return found, chunk.trouble
        offset = chunk.offset


def texts(records: list[Record]) -> list[str]:
    return [one.text for one in records if one.kind != "state"]


def skipped(records: list[Record]) -> list[int]:
    return [one.state["bytes"] for one in records if one.state and one.state["event"] == UNREADABLE]


def last_segment(folder: Path) -> Path:
    return max((folder / "journal").iterdir())


def add(folder: Path, damage: bytes) -> None:
    with last_segment(folder).open("ab") as file:
        file.write(damage)


@pytest.mark.parametrize(
    "damage",
    [
        b"\0" * 512,
        b"\0" * 512 + b"\n",
        b"garbage\n",
        b"\xff\xfe\n\n\n",
        b"s 1700000000.0 {not json\n",
        b's 1700000000.0 {"event":"finished"}\n',
        b's 1700000000.0 {"event":"ended","exit_code":"x"}\n',
        b's 1700000000.0 {"event":[]}\n',
        b"s 1700000000.0 []\n",
        b"o nan line\n",
        b"o 1e300 line\n",
        b"o -1 line\n",
        b"x" * (LONGEST_RECORD + 5_000) + b"\n",
    ],
    ids=lambda damage: damage[:30].hex(),
)
@pytest.mark.parametrize("limit", [1, 1_000_000])
def test_what_is_no_record_is_skipped_and_what_follows_is_read(
    spool: Make, tmp_path: Path, damage: bytes, limit: int
) -> None:
    made = spool(tmp_path, 100_000_000)
    made.output(b"o", [b"before"])
    add(tmp_path, damage)
    made.output(b"o", [b"after"])
    made.state(event="finished", outcome="exited", cause="exit", exit_code=0)
    records, trouble = read_all(tmp_path, limit)
    said = [one for one in texts(records) if one in ("before", "after")]
    assert (said, trouble) == (["before", "after"], "")
    assert sum(skipped(records)) == len(damage)
    assert records[-1].state is not None
    assert records[-1].state["event"] == "finished"


def test_the_tape_gets_one_line_that_says_so(spool: Make, tmp_path: Path) -> None:
    made = spool(tmp_path)
    add(tmp_path, b"nonsense\n" * 57)
    made.output(b"o", [b"after"])
    update = RunUpdate(a_run("r"), 1, 0.0)
    for one in read_all(tmp_path)[0]:
        update.take(one)
    assert [(event.fields["line"], event.fields["type"]) for event in update.events] == [
        ("[513 bytes of this run's journal could not be read and were skipped]", "system"),
        ("after", "stdout"),
    ]


def segments(spool: Make, folder: Path) -> list[Path]:
    """Four or more, 16 KB each."""
    made = spool(folder, 128 * 1024)
    for number in range(60):
        made.output(b"o", [f"{number:04d}".encode() + b"x" * 1000])
    found = sorted((folder / "journal").iterdir())
    assert len(found) >= 4
    return found


def _as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _as_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


def _huge(path: Path) -> None:
    os.truncate(path, 1 << 40)


REPLACEMENTS = [_as_folder, _as_pipe, _as_link, _huge]


@pytest.mark.parametrize("replace", REPLACEMENTS)
def test_a_segment_that_is_something_else_is_skipped(
    spool: Make, tmp_path: Path, replace: Callable[[Path], None]
) -> None:
    found = segments(spool, tmp_path)
    size = found[1].stat().st_size
    replace(found[1])
    records, trouble = read_all(tmp_path)
    assert trouble == ""
    assert skipped(records) == [size]
    assert texts(records)[0].startswith("0000")
    assert texts(records)[-1].startswith("0059")


@pytest.mark.parametrize("keep", [0, 1_500, 5_000])
def test_a_segment_that_lost_its_end_is_read_as_far_as_it_goes(
    spool: Make, tmp_path: Path, keep: int
) -> None:
    found = segments(spool, tmp_path)
    size = found[1].stat().st_size
    os.truncate(found[1], keep)
    records, _ = read_all(tmp_path)
    whole = found[1].read_bytes().rfind(b"\n") + 1
    assert skipped(records) == [size - whole]
    assert texts(records)[-1].startswith("0059")


@pytest.mark.parametrize("replace", REPLACEMENTS)
def test_the_last_segment_is_waited_for_and_the_next_launch_makes_room(
    spool: Make, tmp_path: Path, replace: Callable[[Path], None]
) -> None:
    spool(tmp_path).output(b"o", [b"before"])
    chunk = journal.read(tmp_path, 0)
    replace(last_segment(tmp_path))
    after = journal.read(tmp_path, chunk.offset)
    assert (after.records, after.offset) == ([], chunk.offset)
    assert after.trouble
    assert journal.has_more(tmp_path, chunk.offset)
    journal.forget(tmp_path, chunk.offset)
    journal.go_on_from(tmp_path, chunk.offset)
    spool(tmp_path).output(b"o", [b"next"])
    assert texts(journal.read(tmp_path, chunk.offset).records) == ["next"]


@pytest.mark.parametrize("replace", [Path.touch, os.mkfifo, lambda one: one.symlink_to("/etc")])
def test_a_journal_that_is_no_folder_is_told_and_makes_room(
    spool: Make, tmp_path: Path, replace: Callable[[Path], None]
) -> None:
    replace(tmp_path / "journal")
    assert journal.read(tmp_path, 7).trouble == "it is not a folder"
    assert journal.has_more(tmp_path, 7)
    journal.forget(tmp_path, 7)
    journal.go_on_from(tmp_path, 7)
    spool(tmp_path).output(b"o", [b"next"])
    assert texts(journal.read(tmp_path, 7).records) == ["next"]


def test_a_strangers_file_among_the_segments_is_ignored(spool: Make, tmp_path: Path) -> None:
    made = spool(tmp_path)
    (tmp_path / "journal" / "notes.txt").write_text("mine\n")
    (tmp_path / "journal" / "١٢٣").write_text("digits, but not ours\n")
    made.output(b"o", [b"x" * 9_000] * 3)
    made.output(b"o", [b"x" * 9_000] * 30)
    spool(tmp_path).output(b"o", [b"next"])
    records, _ = read_all(tmp_path)
    assert texts(records)[-1] == "next"
    assert skipped(records) == []


@given(data=st.data())
def test_no_damage_is_ever_raised_nor_hides_what_comes_a_line_later(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    lines = [b"o 1700000000.5 line %d" % number for number in range(8)]
    whole = bytearray(b"\n".join(lines) + b"\n")
    at = data.draw(st.integers(0, len(whole) - 1))
    damage = data.draw(st.binary(max_size=60))
    cut = data.draw(st.integers(0, 60))
    damaged = bytes(whole[:at]) + damage + bytes(whole[at + cut :])
    (folder / "journal").mkdir()
    (folder / "journal" / f"{0:020d}").write_bytes(damaged + b"\no 1700000001.0 last\n")
    records, trouble = read_all(folder, data.draw(st.sampled_from([1, 30, 1_000_000])))
    assert trouble == ""
    assert texts(records)[-1] == "last"
    untouched = bytes(whole[:at]).count(b"\n")
    assert texts(records)[:untouched] == [f"line {number}" for number in range(untouched)]
