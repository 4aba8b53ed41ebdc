"""What goes wrong on the model's machine neither stops the client nor the model."""

import errno
import json
import logging
import os
import shutil
import threading
from pathlib import Path

import pytest
from tapeline_client import Client, Problem
from tapeline_client import sender as sending
from tapeline_client import spool as spooling
from tapeline_client.capture import LogHandler
from tapeline_client.folder import Folder
from tapeline_client.outbox import Outbox
from tapeline_client.segments import Segment
from tapeline_client.spool import Limits, Spool

from tests.client.answering import answering
from tests.waiting import SLOW_MACHINE, wait_for

NOWHERE = "http://127.0.0.1:9"
MEGABYTE = 1024 * 1024


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is tried again at once, and a thread may be slow to hear that it ends."""
    monkeypatch.setattr(spooling, "AGAIN", 0.0)
    monkeypatch.setattr(sending, "REFUSED_DELAY", 0.05)
    monkeypatch.setattr(sending, "ENDED_WITHIN", float(SLOW_MACHINE))


def ends(thread: threading.Thread) -> bool:
    thread.start()
    thread.join(SLOW_MACHINE)
    return not thread.is_alive()


def log_line(line: str, room: int = 0) -> bytes:
    body = json.dumps({"line": line, "room": "x" * room})
    return b'{"path":"/v1/live/log","time":1.0,"body":%b}\n' % body.encode()


def order(name: str, room: int = 0) -> bytes:
    body = json.dumps({"line": name, "room": "x" * room})
    return b'{"path":"/v1/live/spot-market-order","time":1.0,"body":%b}\n' % body.encode()


def line_of(body: bytes) -> str:
    return str(json.loads(body)["body"]["line"])


def files_of(client: Client) -> list[Path]:
    return sorted(Path(client.folder).glob("*/*.ndjson"))


def is_on_disk(client: Client, text: bytes) -> bool:
    return any(text in path.read_bytes() for path in files_of(client))


def queue_of(client: Client) -> Path | None:
    folder = client._spool.folder
    return None if folder is None else Path(folder.path)


def left(client: Client, *pieces: bytes) -> Folder:
    """What a process that died has left for this client."""
    folder = Folder.make(client.folder)
    for number, content in enumerate(pieces, 1):
        Path(folder.path, f"{number:012d}.ndjson").write_bytes(content)
    return folder


@pytest.fixture
def told() -> list[str]:
    """Kinds of the problems of a spool."""
    return []


@pytest.fixture
def spool(tmp_path: Path, told: list[str]) -> Spool:
    limits = Limits(8 * MEGABYTE, 4 * MEGABYTE)
    return Spool(str(tmp_path), limits, lambda kind, _: told.append(kind))


def test_a_problem_is_told_while_others_hand_over_events(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    told_of: list[str] = []
    passed: list[bool] = []

    def told(problem: Problem) -> None:
        told_of.append(problem.kind)
        if told_of == ["disk"]:  # the first, while this thread hands over the first event
            passed.append(ends(threading.Thread(target=client.log, args=["meanwhile"])))

    client = Client(NOWHERE, "m", "k", "p", folder=str(tmp_path / "file"), on_problem=told)
    client.log("one")
    client.close(0)
    assert passed == [True]


def test_a_problem_is_logged_past_a_handler_that_sends(tmp_path: Path) -> None:
    """A thread that logs holds its lock and may be waiting for ours."""
    client = Client(NOWHERE, "m", "k", "p", folder=str(tmp_path))
    handler = LogHandler(client)
    own = logging.LogRecord("tapeline_client", logging.WARNING, "", 1, "in trouble", (), None)
    handler.acquire()
    try:
        assert ends(threading.Thread(target=handler.handle, args=[own], daemon=True))
    finally:
        handler.release()
    client.close(0)
    assert client.stats()["taken"] == 0


def test_a_signal_handler_leaves_the_telling_to_the_sender(tmp_path: Path) -> None:
    """The thread that it interrupted may hold the lock."""
    (tmp_path / "file").write_text("in the way")
    told: list[str] = []
    limits = Limits(8 * MEGABYTE, 4 * MEGABYTE)
    spool = Spool(str(tmp_path / "file"), limits, lambda kind, _: told.append(kind))
    with spool.lock:
        spool.append(order("of the handler"), False)
        assert told == []
    spool.tend()
    assert set(told) == {"disk"}
    spool.close(everything_sent=True)


# A folder that is not there


def test_what_is_open_is_sent_after_its_folder_was_deleted(tmp_path: Path) -> None:
    with answering() as server:
        server.say(503, "unavailable")
        client = Client(server.url, "m", "k", "p", folder=str(tmp_path))
        client.log("before")
        wait_for(lambda: bool(server.requests))
        old = queue_of(client)
        assert old is not None
        shutil.rmtree(old, ignore_errors=True)
        wait_for(lambda: queue_of(client) not in (None, old))
        client.log("after")
        assert is_on_disk(client, b'"after"')
        assert not is_on_disk(client, b'"before"')
        tried = set(server.requests)
        server.say(200, "")
        assert client.flush()
        assert client.close()
    assert len(tried) == 1, "its key or its content changed"
    assert set(server.requests[:-1]) == tried
    assert line_of(server.requests[-1][1]) == "after"
    assert list(Path(client.folder).iterdir()) == []


def test_what_was_closed_is_lost_with_its_folder_and_it_is_said(
    spool: Spool, told: list[str]
) -> None:
    for name in ("closed", "open"):
        spool.append(order(name, room=MEGABYTE // 2), False)
    spool.append(order("too large for the rest", room=MEGABYTE // 2), False)
    spool.tend()
    assert spool.folder is not None
    shutil.rmtree(spool.folder.path)
    spool.tend()
    assert told == ["dropped"]
    batch = Outbox(spool).batch()
    assert batch is not None
    assert line_of(batch.body) == "too large for the rest"
    spool.close(everything_sent=True)


def test_a_piece_that_was_deleted_holds_up_nothing(spool: Spool, told: list[str]) -> None:
    for name in ("deleted", "next"):
        spool.append(order(name, room=MEGABYTE * 3 // 4), False)
    spool.tend()
    assert spool.segments[0].path is not None
    Path(spool.segments[0].path).unlink()
    batch = Outbox(spool).batch()
    assert batch is not None
    assert line_of(batch.body) == "next"
    spool.tend()
    assert told == ["dropped"]
    spool.close(everything_sent=True)


def test_a_folder_that_could_not_be_made_is_made_later(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("in the way")
    with answering() as server:
        server.say(503, "unavailable")
        client = Client(server.url, "m", "k", "p", folder=str(in_the_way))
        client.log("in memory")
        wait_for(lambda: bool(server.requests))
        assert queue_of(client) is None
        in_the_way.unlink()
        wait_for(lambda: queue_of(client) is not None)
        client.log("on disk")
        assert is_on_disk(client, b'"on disk"')
        tried = set(server.requests)
        server.say(200, "")
        assert client.flush()
        assert client.close()
    assert len(tried) == 1, "its key or its content changed"
    assert [line_of(body) for _, body in server.requests[-2:]] == ["in memory", "on disk"]


def test_what_waits_in_memory_when_the_model_ends_is_told_to_be_lost(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    problems: list[Problem] = []
    client = Client(
        NOWHERE, "m", "k", "p", folder=str(tmp_path / "file"), on_problem=problems.append
    )
    client.log("one")
    assert not client.close(0)
    assert "dropped" in {one.kind for one in problems}


# Leftovers


def test_sent_pieces_that_could_not_be_deleted_are_not_sent_again(tmp_path: Path) -> None:
    with answering() as server:
        client = Client(server.url, "m", "k", "p", folder=str(tmp_path))
        folder = left(client, log_line("sent"), log_line("not sent"))
        folder.move(2, 0, 0, sync=False)
        folder.close()
        client.log("own")
        assert client.flush()
        assert client.close()
    assert server.lines() == ["not sent", "own"]


def test_while_a_sent_piece_cannot_be_deleted_it_stays_known_as_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = os.unlink

    def held(path: str, **options: int) -> None:
        if str(path).endswith(".ndjson"):
            raise PermissionError(errno.EACCES, "a virus scanner reads it", path)
        unlink(path, **options)

    with answering() as server:
        first = Client(server.url, "m", "k", "p", folder=str(tmp_path))
        with monkeypatch.context() as patch:
            patch.setattr(os, "unlink", held)
            first.log("once")
            assert first.flush()
            assert first.close()
        assert is_on_disk(first, b'"once"')
        second = Client(server.url, "m", "k", "p", folder=str(tmp_path))
        second.log("own")
        assert second.flush()
        assert second.close()
    assert server.lines() == ["once", "own"]
    assert list(Path(second.folder).iterdir()) == []


def test_leftovers_that_cannot_be_read_hold_up_nothing_and_are_sent_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "LOOK_AROUND", 0.05)
    problems: list[Problem] = []
    with answering() as server:
        client = Client(server.url, "m", "k", "p", folder=str(tmp_path), on_problem=problems.append)
        folder = left(client)
        elsewhere = tmp_path / "elsewhere"
        Path(folder.path, "000000000001.ndjson").symlink_to(elsewhere)
        folder.close()
        client.log("own")
        assert client.flush()
        assert [one.kind for one in problems[:1]] == ["disk"]
        (tmp_path / "whole").write_bytes(log_line("left"))
        (tmp_path / "whole").rename(elsewhere)
        wait_for(lambda: server.lines() == ["own", "left"])
        assert client.close()


# A disk that takes nothing more


def test_a_full_disk_leaves_a_piece_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = Segment.on_disk(str(tmp_path), 1, 4096)
    piece.append(order("kept"))
    piece.seal()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", _full)
        with pytest.raises(OSError, match="full"):
            piece.rewrite(b"shorter\n")
    assert [path.name for path in tmp_path.iterdir()] == ["000000000001.ndjson"]
    assert piece.read(0, piece.end) == order("kept")


def test_a_full_disk_delays_making_room_and_stops_nothing(
    spool: Spool, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        spool.append(log_line(str(number), room=MEGABYTE * 3 // 4), True)
    spool.tend()  # what is full is closed
    assert told == []
    spool.append(order("another", room=MEGABYTE * 3 // 4), False)
    before = spool.used()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", _full)
        spool.tend()
    assert told == ["disk"]
    assert not list(tmp_path.rglob("*.new"))
    spool.tend()
    assert "full" in told
    assert spool.used() < before
    spool.close(everything_sent=True)


def test_a_machine_without_any_room_closes_no_piece_that_is_written(
    spool: Spool, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.append(order("first"), False)
    with monkeypatch.context() as patch:
        patch.setattr(Segment, "on_disk", _full)
        patch.setattr(Segment, "in_memory", _full)
        spool.append(order("large", room=MEGABYTE), False)
    spool.tend()
    assert spool.segments[-1].map is not None
    spool.append(order("small"), False)
    assert len(spool.segments) == 1
    assert told == ["disk", "dropped"]
    assert (spool.taken, spool.dropped_events) == (2, 1)
    spool.close(everything_sent=True)


def test_what_cannot_be_put_aside_holds_up_nothing(tmp_path: Path) -> None:
    (tmp_path / "m" / "rejected.ndjson").mkdir(parents=True)  # as good as a full disk
    problems: list[Problem] = []
    with answering() as server:
        server.refuses = b'"bad"'
        client = Client(server.url, "m", "k", "p", folder=str(tmp_path), on_problem=problems.append)
        client.log("bad")
        assert client.flush()
        client.log("good")
        assert client.flush()
        assert client.close()
    assert [one.kind for one in problems] == ["disk", "rejected"]
    assert line_of(server.requests[-1][1]) == "good"


def test_a_replaced_run_that_cannot_put_its_rest_aside_keeps_it(tmp_path: Path) -> None:
    in_the_way = tmp_path / "m" / "superseded.ndjson"
    in_the_way.mkdir(parents=True)
    with answering() as server:
        server.say(409, "superseded")
        client = Client(server.url, "m", "k", "p", folder=str(tmp_path))
        client.log("kept")
        assert not client.flush()
        assert not client.close()
        assert is_on_disk(client, b'"kept"')
        in_the_way.rmdir()
        server.say(200, "")
        successor = Client(server.url, "m", "k", "p", folder=str(tmp_path))
        successor.log("mine")
        assert successor.flush()
        assert successor.close()
    assert line_of(in_the_way.read_bytes()) == "kept"
    assert server.lines() == ["kept", "mine"], "the first was refused"


def test_a_replaced_run_marks_a_folder_that_it_makes_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or its successor would send what is in it, if this process died."""
    monkeypatch.setattr(sending, "LOOK_AROUND", 0.05)
    in_the_way = tmp_path / "file"
    in_the_way.write_text("in the way")
    with answering() as server:
        server.say(409, "superseded")
        client = Client(server.url, "m", "k", "p", folder=str(in_the_way))
        client.log("too late")
        assert not client.flush()
        in_the_way.unlink()
        wait_for(lambda: any((tmp_path / "file").glob("m/*/superseded")))
        assert not client.close()
    assert line_of((in_the_way / "m" / "superseded.ndjson").read_bytes()) == "too late"


def test_events_are_sent_although_their_progress_cannot_be_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems: list[Problem] = []
    with answering() as server:
        client = Client(server.url, "m", "k", "p", folder=str(tmp_path), on_problem=problems.append)
        client.log("first")
        assert client.flush()
        with monkeypatch.context() as patch:
            patch.setattr(Folder, "move", _full)
            client.log("second")
            assert client.flush()
        assert client.close()
    assert server.lines() == ["first", "second"]
    assert {one.kind for one in problems} == {"disk"}


def test_a_thread_that_is_told_to_end_before_it_listens_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "LOOK_AROUND", 2.0 * SLOW_MACHINE)
    sender = Client(NOWHERE, "m", "k", "p", folder=str(tmp_path))._new_sender()
    sender._stopping = True
    sender.wake()
    assert ends(threading.Thread(target=sender._sleep, daemon=True))


def _full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "the disk is full")
