"""The journal: whole records, offsets that stay right, and losses that are reported."""

import json
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeline.runs.journals import journal
from tapeline.runs.shim.lines import Lines
from tests.runs.journals.conftest import Make


def read_all(folder: Path, offset: int = 0, limit: int = 1_000_000) -> tuple[list[str], int, int]:
    """Texts, the last offset, bytes lost; in as many reads as it takes."""
    texts, lost = [], 0
    while True:
        chunk = journal.read(folder, offset, limit)
        texts += [one.text or json.dumps(one.state) for one in chunk.records]
        lost += chunk.lost
        if chunk.offset == offset:
            return texts, offset, lost
        offset = chunk.offset


def test_a_launch_that_wrote_nothing_has_no_records(tmp_path: Path) -> None:
    assert journal.read(tmp_path, 0) == journal.Chunk([], 0, 0)


def test_a_read_that_is_full_stops_before_the_next_segment(spool: Make, tmp_path: Path) -> None:
    made = spool(tmp_path, 100_000)
    lines = [b"%06d" % number + b"x" * 200 for number in range(300)]
    for line in lines:
        made.output(b"o", [line])
    segments = list((tmp_path / "journal").iterdir())
    assert len(segments) > 1
    texts, _, lost = read_all(tmp_path, limit=1000)
    assert (texts, lost) == ([one.decode() for one in lines], 0)


def test_records_come_back_in_order_with_their_kind(spool: Make, tmp_path: Path) -> None:
    made = spool(tmp_path)
    made.state(event="started", attempt=1, pid=7)
    made.output(b"o", [b"one", b"", b"two words"])
    made.output(b"e", [b"caf\xc3\xa9 \xff"])
    records = journal.read(tmp_path, 0).records
    assert [(one.kind, one.text) for one in records] == [
        ("state", ""),
        ("stdout", "one"),
        ("stdout", ""),
        ("stdout", "two words"),
        ("stderr", "caf\u00e9 \ufffd"),
    ]
    assert records[0].state == {"event": "started", "attempt": 1, "pid": 7}
    assert records[0].time > 1_700_000_000


@pytest.mark.parametrize("limit", [1, 50, 1000, 1_000_000])
def test_reading_in_pieces_gives_the_same(spool: Make, tmp_path: Path, limit: int) -> None:
    made = spool(tmp_path, 10_000_000)
    wanted = [f"line {number} {'x' * (number % 90)}" for number in range(500)]
    for line in wanted:
        made.output(b"o", [line.encode()])
    assert read_all(tmp_path, 0, limit)[0] == wanted


def test_offsets_run_through_all_segments_and_outlive_the_writer(
    spool: Make, tmp_path: Path
) -> None:
    first = spool(tmp_path, 200_000)
    first.output(b"o", [b"a" * 1000] * 15)
    _, offset, _ = read_all(tmp_path)
    second = spool(tmp_path, 200_000)
    for _ in range(4):
        second.output(b"e", [b"b" * 1000] * 15)
    assert len(list((tmp_path / "journal").iterdir())) > 1
    texts, _, lost = read_all(tmp_path, offset)
    assert texts == ["b" * 1000] * 60
    assert lost == 0


def test_half_a_record_is_not_read_and_not_kept(spool: Make, tmp_path: Path) -> None:
    spool(tmp_path).output(b"o", [b"whole"])
    (segment,) = (tmp_path / "journal").iterdir()
    with segment.open("ab") as file:
        file.write(b"o 17000000.5 hal")
    texts, offset, _ = read_all(tmp_path)
    assert texts == ["whole"]
    spool(tmp_path).output(b"o", [b"next"])
    assert read_all(tmp_path, offset)[0] == ["next"]


def test_a_full_spool_drops_the_oldest_and_says_how_much(spool: Make, tmp_path: Path) -> None:
    made = spool(tmp_path, 160_000)
    wanted = [f"{number:09d} {'x' * 90}" for number in range(5000)]
    for start in range(0, 5000, 50):
        made.output(b"o", [line.encode() for line in wanted[start : start + 50]])
    kept = sum(one.stat().st_size for one in (tmp_path / "journal").iterdir())
    assert 100_000 < kept <= 160_000
    chunk = journal.read(tmp_path, 0)
    assert chunk.lost > 300_000
    texts, end, _ = read_all(tmp_path)
    lines = [one for one in texts if not one.startswith("{")]
    assert lines == wanted[-len(lines) :]
    assert end == chunk.lost + kept
    assert any('"cut"' in one for one in texts)


@pytest.mark.parametrize(
    "kept",
    [b"", b"o 1.0 one\n", b"o 1.0 one\n" + bytes(600), b"o 1.0 one\no 2.0 " + b"x" * 600],
    ids=["lost", "shorter", "zeros where a crash lost records", "half a record"],
)
def test_a_journal_that_was_lost_goes_on_where_it_was_read_to(
    spool: Make, tmp_path: Path, kept: bytes
) -> None:
    if kept:
        (tmp_path / "journal").mkdir()
        (tmp_path / "journal" / f"{0:020d}").write_bytes(kept)
    journal.go_on_from(tmp_path, 500)
    spool(tmp_path).output(b"o", [b"after"])
    texts, offset, lost = read_all(tmp_path, 500)
    assert (texts, lost) == (["after"], 0)
    assert offset > 500
    journal.go_on_from(tmp_path, offset)  # nothing was lost: nothing to do
    assert journal.end(tmp_path) == offset


def test_forgetting_frees_what_was_read_and_nothing_else(spool: Make, tmp_path: Path) -> None:
    made = spool(tmp_path, 1_000_000)
    for _ in range(40):
        made.output(b"o", [b"x" * 9_000])
    segments = sorted(int(one.name) for one in (tmp_path / "journal").iterdir())
    journal.forget(tmp_path, segments[2])
    left = sorted(int(one.name) for one in (tmp_path / "journal").iterdir())
    assert left == segments[2:]
    chunk = journal.read(tmp_path, segments[2])
    assert chunk.lost == 0
    journal.forget(tmp_path, 10**12)
    assert [int(one.name) for one in (tmp_path / "journal").iterdir()] == segments[-1:]
    made.output(b"o", [b"goes on"])
    assert read_all(tmp_path, segments[2])[0][-1] == "goes on"


@contextmanager
def failing_disk(room: int) -> Iterator[None]:
    """A limit on file size stands for the disk: writes fail in the same way."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    caught = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, caught)


def test_what_the_disk_does_not_take_waits_in_memory_in_order(spool: Make, tmp_path: Path) -> None:
    made = spool(tmp_path)
    with failing_disk(5_000):
        made.output(b"o", [b"fits"])
        made.output(b"o", [b"x" * 10_000])
        made.state(event="ended", cause="exit", exit_code=1)
        made.output(b"o", [b"after"])
        assert read_all(tmp_path)[0] == ["fits"]
        assert made.wake_at() is not None
    made.tick(time.monotonic())
    assert made.wake_at() is None
    texts = read_all(tmp_path)[0]
    assert texts[1] == "x" * 10_000
    assert json.loads(texts[2])["event"] == "ended"
    assert texts[3:] == ["after"]


def test_a_disk_that_takes_nothing_for_long_costs_the_oldest_output_and_no_state(
    spool: Make, tmp_path: Path
) -> None:
    made = spool(tmp_path, 10_000_000)
    with failing_disk(0):
        made.output(b"o", [b"x" * 6_000])
        made.state(event="ended", cause="exit", exit_code=1)
        for number in range(300):
            made.output(b"o", [b"%d" % number + b"y" * 9_000])
    made.close(1.0)
    cut, ended, *lines = read_all(tmp_path)[0]
    lost = json.loads(cut)
    assert (lost["event"], lost["why"]) == ("cut", "the disk took nothing")
    assert json.loads(ended)["event"] == "ended"
    numbers = [int(one.rstrip("y")) for one in lines]
    assert numbers == list(range(300 - len(numbers), 300))
    assert 1_000_000 - 10_000 < sum(map(len, lines)) < 1024 * 1024
    assert lost["bytes"] > 6_000 + (300 - len(numbers)) * 9_000


def test_the_journal_is_ours_alone(spool: Make, tmp_path: Path) -> None:
    spool(tmp_path).output(b"o", [b"x"])
    (segment,) = (tmp_path / "journal").iterdir()
    assert segment.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "journal").stat().st_mode & 0o777 == 0o700


@given(
    st.binary(max_size=300).filter(lambda data: b"\r" not in data),
    st.lists(st.integers(1, 40), max_size=20),
)
def test_lines_do_not_depend_on_how_they_arrive(data: bytes, sizes: list[int]) -> None:
    whole = Lines(50, [b"ab"])
    wanted = [*whole.feed(data), *whole.end()]
    pieces = Lines(50, [b"ab"])
    got: list[bytes] = []
    rest = data
    for size in sizes:
        got += pieces.feed(rest[:size])
        rest = rest[size:]
    got += [*pieces.feed(rest), *pieces.end()]
    assert got == wanted
    assert all(len(line) <= 50 + len(b" [cut]") for line in got)
    assert not any(b"ab" in line for line in got)
