"""Helper processes: so many at a time, in their order, and what they refuse is raised here."""

import asyncio
import os
import time
from pathlib import Path

import msgspec
import pytest

from tapeline.errors import MalformedBody, MissingField, Overloaded, Problem, TooLarge
from tapeline.fair_line import Owner
from tapeline.tape import batches, helper_processes
from tapeline.tape.backtest_results.preparing import prepare_apart
from tapeline.tape.batches import MOST, Item, split, split_apart
from tapeline.tape.helper_processes import Helpers
from tapeline.tape.memory_budget import MemoryBudget
from tests.conftest import run
from tests.waiting import wait_for

ADA = Owner("ada")
ITEM = {"path": "/v1/live/log", "body": {"line": "ü"}}


def helpers() -> Helpers:
    return Helpers(1, MemoryBudget())


def folder(path: Path, content: bytes, name: str = "body") -> Path:
    path.mkdir(exist_ok=True)
    (path / name).write_bytes(content)
    return path


@pytest.mark.heavy
def test_no_more_run_at_a_time_than_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = msgspec.json.encode([ITEM])
    folders = [folder(tmp_path / str(place), content) for place in range(5)]
    running, most, started = 0, 0, list[str]()
    start = asyncio.create_subprocess_exec

    async def counted(*args: str, **more: int) -> asyncio.subprocess.Process:
        nonlocal running, most
        started.append(args[-1])
        child = await start(*args, **more)  # type: ignore[arg-type]
        running += 1
        most = max(most, running)
        wait = child.communicate

        async def communicate() -> tuple[bytes, bytes]:
            nonlocal running
            try:
                return await wait()
            finally:
                running -= 1

        child.communicate = communicate  # type: ignore[method-assign, assignment]
        return child

    monkeypatch.setattr(asyncio, "create_subprocess_exec", counted)

    async def all_at_once() -> None:
        own = Helpers(2, MemoryBudget())

        async def one(place: int) -> None:
            assert len(await split_apart(own, folders[place], ADA)) == 1

        await asyncio.gather(*(one(place) for place in range(5)))

    run(all_at_once())
    assert most == 2
    assert started == [str(one) for one in folders]  # who asked first was served first


@pytest.mark.heavy
def test_what_a_helper_refuses_is_raised_where_it_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(MalformedBody, match="not a JSON array"):
        run(split_apart(helpers(), folder(tmp_path / "a", b"["), ADA))
    with pytest.raises(TooLarge, match="10,000"):
        run(split_apart(helpers(), folder(tmp_path / "b", b"{}\n" * (MOST + 1), "lines"), ADA))
    with pytest.raises(MissingField) as missing:
        run(
            prepare_apart(
                helpers(),
                folder(tmp_path / "c", b"{}"),
                ADA,
                {},
                lenient=False,
                max_depth=32,
            )
        )
    assert missing.value.field == "backtest_id"
    with pytest.raises(Problem):  # nothing there: it ends with a traceback of its own
        run(split_apart(helpers(), folder(tmp_path / "d", b"", "other"), ADA))


@pytest.mark.heavy
def test_a_helper_that_nobody_waits_for_is_ended(tmp_path: Path) -> None:
    content = msgspec.json.encode([{**ITEM, "body": {"line": "x" * 2_000}}] * MOST)

    async def give_up() -> float:
        own = helpers()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await split_apart(own, folder(tmp_path / "a", content), ADA)
        started = time.monotonic()
        # Its place is free again.
        assert await split_apart(own, folder(tmp_path / "b", b"[]"), ADA) == []
        return time.monotonic() - started

    assert run(give_up()) < 30


def test_a_batch_taken_apart_says_where_every_body_stands() -> None:
    same = {"path": "/v1/live/log", "body": {"line": "a"}, "other": {"line": "a"}}
    items = [ITEM, same, same, {**ITEM, "time": 5}, {"path": "x"}, [], {**ITEM, "time": "soon"}]
    as_array = msgspec.json.format(msgspec.json.encode(items))
    as_lines = b"\r\n\n".join(msgspec.json.encode(item) for item in items)
    for content, by_lines in ((as_array, False), (as_lines, True)):
        found = split(content, by_lines=by_lines)
        bodies = [msgspec.json.decode(content[one.start : one.stop]) for one in found[:4]]
        assert bodies == [ITEM["body"], same["body"], same["body"], ITEM["body"]]
        assert [one.time for one in found[:4]] == [None, None, None, 5]
        assert [one.field for one in found[4:]] == ["path", None, "time"]
        assert all(one.error for one in found[4:])
    assert batches.split(b"[]", by_lines=False) == list[Item]()


def test_a_helper_that_hangs_gives_its_place_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "hangs" / "body"
    pipe.parent.mkdir()
    os.mkfifo(pipe)  # which nobody writes to: it waits for ever
    own = helpers()
    monkeypatch.setattr(helper_processes, "HELPED_WITHIN", 0.5)
    with pytest.raises(TimeoutError):
        run(split_apart(own, pipe.parent, ADA))
    monkeypatch.undo()
    content = msgspec.json.encode([ITEM])
    assert len(run(split_apart(own, folder(tmp_path / "next", content), ADA))) == 1


def expendable(pid: int) -> bool:
    return Path(f"/proc/{pid}/oom_score_adj").read_text() == "1000\n"


def test_a_helper_that_the_kernel_ends_is_a_lack_of_memory_and_goes_before_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "hangs" / "body"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    start = asyncio.create_subprocess_exec

    async def doomed(*args: str, **more: int) -> asyncio.subprocess.Process:
        child = await start(*args, **more)  # type: ignore[arg-type]
        await asyncio.to_thread(wait_for, lambda: expendable(child.pid))
        child.kill()
        return child

    monkeypatch.setattr(asyncio, "create_subprocess_exec", doomed)
    with pytest.raises(Overloaded, match="memory ran out"):
        run(split_apart(helpers(), pipe.parent, ADA))


def test_work_that_needs_more_memory_than_there_is_is_refused_at_once() -> None:
    async def act() -> None:
        budget = MemoryBudget()
        async with budget.need(Owner("all of it"), budget.most // 2):
            assert budget.free <= budget.most // 2 + 1
        with pytest.raises(Overloaded, match="send less at a time"):
            async with budget.need(Owner("more"), budget.most + 1):
                raise AssertionError("it began")
        assert budget.free == budget.most

    run(act())
