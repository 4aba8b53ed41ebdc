"""What a node does on a full disk, with an opening of another version, and without a sandbox."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tapeline.background import Background
from tapeline.errors import CannotPrepareNow, Problem
from tapeline.leading import LeadsNoMore
from tapeline.runs.cluster import meeting_point
from tapeline.runs.engines import shims
from tapeline.runs.node import files, frames
from tapeline.runs.node.frames import Opening, Says, Server, Stop
from tapeline.runs.node.work import OPENING, TERM, NodeWork
from tests.runs.supervision.histories import a_run

SETTINGS: dict[str, Any] = {"port": 8700}


@pytest.fixture
def work(tmp_path: Path) -> Iterator[NodeWork]:
    loop = asyncio.new_event_loop()
    (tmp_path / "keys").mkdir()
    (tmp_path / "runs" / "locks").mkdir(parents=True)
    made = NodeWork(tmp_path, f"test-{os.getpid()}", loop, Background())
    yield made
    made.close()
    loop.close()
    if made.renewing.file.parent != tmp_path / "runs":
        made.renewing.file.parent.rmdir()


def opening(folder: Path, **settings: Any) -> bytes:
    server = Server("127.0.0.1", 1, meeting_point.certificate(folder / "pem")[1])
    return msgspec.msgpack.encode(Opening(SETTINGS | settings, "t" * 64, 6.0, [server]))


def says(work: NodeWork, term: float) -> Says:
    return frames.answered(work.answer(frames.ask("describe", term)), Says)


def test_a_new_leader_is_obeyed_although_the_disk_takes_nothing(
    work: NodeWork, tmp_path: Path
) -> None:
    (tmp_path / TERM).mkdir()
    assert says(work, 5.0).name == work.name
    with pytest.raises(Problem):
        says(work, 4.0)
    (tmp_path / TERM).rmdir()
    work.tidy()
    assert (tmp_path / TERM).read_text() == "5.0", "it is kept as soon as that works"


def test_a_setting_that_is_gone_is_left_out(work: NodeWork, tmp_path: Path) -> None:
    (tmp_path / OPENING).write_bytes(opening(tmp_path, no_longer_there=1))
    work.recall()
    assert work.servers.are_known, "it can renew before anything else is done"
    work.resume()
    assert work.machine.engine.host == work.name


def test_an_opening_that_cannot_be_read_waits_for_another(work: NodeWork, tmp_path: Path) -> None:
    (tmp_path / OPENING).write_bytes(b"\x93 of another version")
    work.recall()
    work.resume()
    assert says(work, 1.0).opened == ""


def test_models_can_be_ended_before_a_sandbox_was_tried(work: NodeWork, tmp_path: Path) -> None:
    (tmp_path / OPENING).write_bytes(opening(tmp_path))
    work.recall()
    work.resume()
    stop = Stop(a_run("r", host=work.name), now=True)
    assert frames.answered(work.answer(frames.ask("stop", 1.0, stop)), type(None)) is None
    assert frames.answered(work.answer(frames.ask("clear", 1.0, "r")), type(None)) is None
    assert says(work, 1.0).trouble
    with pytest.raises(CannotPrepareNow):
        work.machine.able_engine(CannotPrepareNow)


def test_an_earlier_leader_is_told_so_in_a_word_that_it_knows(work: NodeWork) -> None:
    says(work, 5.0)
    with pytest.raises(LeadsNoMore):
        says(work, 4.0)


def test_a_long_log_is_shortened_while_somebody_writes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LONGEST_LOG", 100)
    with (tmp_path / files.LOG).open("ab", buffering=0) as log:
        log.write(b"a" * 100)
        files.shorten_log(tmp_path)
        assert not (tmp_path / files.EARLIER_LOG).exists()
        log.write(b"b")
        files.shorten_log(tmp_path)
        log.write(b"c")
    assert (tmp_path / files.LOG).read_bytes() == b"c"
    assert (tmp_path / files.EARLIER_LOG).read_bytes() == b"a" * 99 + b"b"


@pytest.mark.heavy
def test_a_sandbox_that_did_not_work_is_tried_again(
    work: NodeWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setattr(shims, "slirp_path", lambda: None)
        work.machine.work_by(SETTINGS)
        assert "slirp4netns is missing" in says(work, 1.0).trouble
    work.machine.try_again()
    assert says(work, 1.0).trouble == ""
    assert says(work, 1.0).confinement.startswith("bubblewrap")
