"""Whatever happens on the way, an event arrives, once, in order, and the caller does not wait."""

import json
import statistics
import threading
import time
from pathlib import Path

import pytest
from tapeline_client import AsyncClient, Client, Problem
from tapeline_client import sender as sending
from tapeline_client.folder import Folder

from tapeline.store.tables.tape import tapes
from tests.client.answering import answering
from tests.client.conftest import Make
from tests.client.road import Road
from tests.conftest import run
from tests.pushing import Model, new_key
from tests.waiting import SLOW_MACHINE, wait_for


@pytest.fixture(autouse=True)
def _patience_with_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a slow machine, a thread that was told to end may need long to hear it."""
    monkeypatch.setattr(sending, "ENDED_WITHIN", float(SLOW_MACHINE))


def lines(model: Model) -> list[str]:
    """Of the live log, oldest first, all of them."""
    bodies = model.bodies()
    return [body["line"] for body in bodies if "line" in body]


def test_events_arrive_in_order(make: Make, model: Model) -> None:
    client = make()
    for number in range(5000):
        client.log(str(number))
    assert client.flush()
    assert lines(model) == [str(number) for number in range(5000)]


def test_an_answer_that_is_lost_does_not_double_anything(
    make: Make, model: Model, road: Road
) -> None:
    client = make(url=road.url)
    client.log("first")
    assert client.flush()
    for number in range(3):
        road.lose_answers = 2
        client.log(str(number))
        assert client.flush()
    assert lines(model) == ["first", "0", "1", "2"]


@pytest.mark.heavy
def test_a_server_that_is_gone_gets_everything_when_it_is_back(
    make: Make, model: Model, road: Road, problems: list[Problem]
) -> None:
    client = make(url=road.url)
    road.close()
    for number in range(20_000):
        client.log(str(number))
    assert not client.flush(0.5)
    wait_for(lambda: bool(problems))
    assert {one.kind for one in problems} == {"unreachable"}
    road.reopen()
    assert client.flush()
    assert lines(model) == [str(number) for number in range(20_000)]
    assert problems[-1].kind == "again"


def test_the_next_process_sends_what_the_last_one_left_before_its_own(
    make: Make, model: Model, road: Road
) -> None:
    road.close()
    for name in ("first", "second"):
        left = make(url=road.url)
        left.log(name)
        assert not left.close(0.05)
    road.reopen()
    client = make(url=road.url)
    client.log("third")
    assert client.flush()
    assert lines(model) == ["first", "second", "third"]
    client.close()
    assert list(Path(client.folder).iterdir()) == []


def test_a_batch_that_was_under_way_is_repeated_byte_for_byte(tmp_path: Path) -> None:
    """Its maker dies after the server took it and before the answer; more was queued meanwhile."""
    with answering() as server:
        server.say(503, "unavailable")
        first = Client(server.url, "m", "k", "p", folder=str(tmp_path))
        first.log("sent")
        wait_for(lambda: bool(server.requests))
        first.log("queued after it")
        assert not first.close(0.05)
        tried = set(server.requests)
        assert len(tried) == 1
        server.answers = [(200, {}, {})]
        second = Client(server.url, "m", "k", "p", folder=str(tmp_path))
        assert second.flush()
        second.log("own")
        assert second.close()
    assert server.requests[-3] in tried
    assert [json.loads(body)["body"]["line"] for _, body in server.requests[-3:]] == [
        "sent",
        "queued after it",
        "own",
    ]


def test_a_slow_server_does_not_slow_the_caller(make: Make, model: Model, road: Road) -> None:
    road.delay = 0.3
    client = make(url=road.url)
    client.log("warm")
    taken = []
    for number in range(2000):
        started = time.perf_counter()
        client.log(str(number))
        taken.append(time.perf_counter() - started)
    assert statistics.median(taken) < road.delay / 100  # bench/client.py measures it
    assert client.flush()
    assert len(lines(model)) == 2001


def test_one_bad_event_is_set_apart_and_holds_up_nobody(
    make: Make, model: Model, problems: list[Problem]
) -> None:
    client = make()
    for number in range(100):
        client.log(str(number))
        if number % 40 == 0:
            client.screener_result({"A": {"x": 1}, "B": {"y": number}})
    assert client.flush()
    assert lines(model) == [str(number) for number in range(100)]
    assert [one.kind for one in problems] == ["rejected"] * 3
    assert "same keys" in problems[0].message
    assert problems[0].event is not None
    assert problems[0].event["body"]["result"]["B"] == {"y": 0}
    kept = Path(client.folder, "rejected.ndjson").read_text().splitlines()
    assert [json.loads(line)["event"]["body"]["result"]["B"]["y"] for line in kept] == [0, 40, 80]
    assert client.stats()["rejected"] == 3


def test_a_refusal_that_names_no_event_is_narrowed_down(tmp_path: Path) -> None:
    with answering() as server:
        server.refuses = b"bad"
        client = Client(server.url, "m", "k", "p", folder=str(tmp_path), linger=0.2)
        for name in ("a", "b", "bad", "c", "d"):
            client.log(name)
        assert client.flush()
        assert client.stats()["rejected"] == 1
        assert client.stats()["sent"] == 4
        assert client.close()
    assert len({key for key, _ in server.requests}) == len(server.requests)


def test_a_wrong_key_keeps_everything_and_says_so(
    make: Make, model: Model, problems: list[Problem]
) -> None:
    client = make(api_pass="wrong")
    client.log("kept")
    assert not client.flush(0.3)
    wait_for(lambda: bool(problems))
    assert [one.kind for one in problems] == ["refused"]
    assert "401" in problems[0].message
    assert not client.close(0.1)
    right = make()
    assert right.flush()
    right.log("later")
    assert right.flush()
    assert lines(model) == ["kept", "later"]


def test_what_a_key_may_not_send_waits_for_one_that_may(
    make: Make, model: Model, problems: list[Problem]
) -> None:
    reading = new_key(model.service, model.owner, model.project_id, read=True, write=False)
    client = make(**reading)
    client.log("kept")
    assert not client.flush(0.3)
    wait_for(lambda: bool(problems))
    assert [one.kind for one in problems] == ["refused"]
    assert "403" in problems[0].message
    assert not client.close(0.1)
    right = make()
    right.log("later")
    assert right.flush()
    assert lines(model) == ["kept", "later"]


def test_a_superseded_run_stops_sending_and_says_so_once(tmp_path: Path) -> None:
    problems: list[Problem] = []
    with answering() as server:
        server.say(409, "superseded")
        client = Client(server.url, "m", "k", "p", folder=str(tmp_path), on_problem=problems.append)
        client.log("too late")
        assert not client.flush()
        client.log("later still")
        assert not client.flush()
        assert not client.close()
        assert len(server.requests) == 1
        assert [one.kind for one in problems] == ["superseded"]
        # Its successor does not speak for it; what it had to say can be read.
        server.answers = [(200, {}, {})]
        successor = Client(server.url, "m", "k", "p", folder=str(tmp_path))
        successor.log("mine")
        assert successor.flush()
        assert successor.close()
    assert server.lines() == ["too late", "mine"]
    kept = (tmp_path / "m" / "superseded.ndjson").read_text().splitlines()
    assert [json.loads(line)["body"]["line"] for line in kept] == ["too late", "later still"]


def test_orders_get_in_past_what_a_full_tape_refuses(
    make: Make, model: Model, tmp_path: Path, problems: list[Problem]
) -> None:
    model.push("/v1/live/log", {"line": "before"})
    model.service.store.write_now(lambda c: c.execute(tapes.update().values(bytes=20 * 10**9)))
    client = make()
    for number in range(20_000):
        client.log(str(number))
    client.market_order("BTC-USD", "buy", 1, id="o1", exchange="alpaca")
    assert client.flush()
    assert [one["id"] for one in model.items("/orders")] == ["o1"]
    (file,) = tmp_path.rglob("over-quota.ndjson")
    kept = file.read_text().splitlines()
    stored = [line for line in lines(model) if line != "before"]
    assert [json.loads(one)["body"]["line"] for one in kept] + stored == [
        str(number) for number in range(20_000)
    ]
    assert {one.kind for one in problems} == {"quota"}


def test_retry_after_is_honoured(tmp_path: Path) -> None:
    with answering() as server:
        server.say(429, "limited", retry_after="1")
        server.answers.append((200, {}, {}))
        client = Client(server.url, "m", "k", "p", folder=str(tmp_path))
        started = time.monotonic()
        client.log("patient")
        assert client.flush()
        assert time.monotonic() - started > 0.9
        assert client.close()


@pytest.mark.heavy
def test_a_full_disk_quota_drops_the_oldest_lines_first_and_no_order(
    make: Make, model: Model, road: Road, problems: list[Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "LONGEST_DELAY", 0.5)
    road.close()
    client = make(url=road.url, max_disk=8 * 1024 * 1024)
    text = "x" * 500
    for number in range(40_000):
        client.log(f"{number} {text}")
        if number % 100 == 0:
            client.market_order("A", "buy", 1, id=str(number), exchange="x")
            time.sleep(0.001)
    assert {one.kind for one in problems} == {"unreachable", "full"}
    assert client.stats()["queue_bytes"] <= 8 * 1024 * 1024
    road.reopen()
    assert client.flush()
    bodies = model.bodies()
    assert [int(body["id"]) for body in bodies if "id" in body] == list(range(0, 40_000, 100))
    sent = [body["line"] for body in bodies if "line" in body]
    numbers = [int(line.split()[0]) for line in sent if line.endswith(text)]
    notes = [line for line in sent if line.startswith("[tapeline]")]
    stats = client.stats()
    assert len(numbers) + stats["dropped_lines"] == 40_000
    assert numbers == sorted(numbers)
    assert notes
    assert stats["dropped_events"] == 0


def test_an_order_that_finds_no_room_is_never_lost_silently(
    make: Make, road: Road, problems: list[Problem]
) -> None:
    road.close()
    client = make(url=road.url, max_disk=2 * 1024 * 1024)
    for number in range(30):
        client.event("big", {"number": number, "text": "x" * 100_000})
    assert "dropped" in {one.kind for one in problems}
    assert client.stats()["dropped_events"] > 0


@pytest.mark.heavy
def test_without_a_disk_events_wait_in_memory_and_it_is_said(
    make: Make, model: Model, tmp_path: Path, problems: list[Problem]
) -> None:
    (tmp_path / "file").write_text("in the way")
    client = make(folder=str(tmp_path / "file"))
    for number in range(30_000):
        client.log(str(number))
    assert client.flush()
    assert lines(model) == [str(number) for number in range(30_000)]
    assert {one.kind for one in problems} == {"disk"}


def test_many_threads_and_several_clients_share_a_process(make: Make, model: Model) -> None:
    clients = [make(), make()]

    def push(client: Client, name: int) -> None:
        for number in range(1000):
            client.log(f"{name} {number}")

    threads = [threading.Thread(target=push, args=(clients[name % 2], name)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(client.flush() for client in clients)
    found = lines(model)
    assert len(found) == len(set(found)) == 6000
    for name in range(6):
        own = [line for line in found if line.startswith(f"{name} ")]
        assert own == [f"{name} {number}" for number in range(1000)]


def test_an_event_larger_than_a_batch_goes_by_itself(make: Make, model: Model) -> None:
    client = make()
    client.log("before")
    points = [{"time": number, "value": number / 3} for number in range(60_000)]
    client.backtest_result(
        symbols=["A"], quote_asset="USD", start_time=0, stop_time=1, account_values=points,
        backtest_id="big",
    )  # fmt: skip
    client.log("after")
    assert client.flush()
    assert lines(model) == ["before", "after"]
    assert model.get("/backtests/big")["counts"]["account_values"] == 60_000


def test_a_loop_is_not_held_up_by_waiting(model: Model, road: Road) -> None:
    road.delay = 2.0  # far longer than a loaded machine keeps a loop from its turn

    async def go() -> list[float]:
        import asyncio

        gaps: list[float] = []

        async def tick() -> None:
            while True:
                started = time.perf_counter()
                await asyncio.sleep(0.01)
                gaps.append(time.perf_counter() - started)

        ticking = asyncio.create_task(tick())
        folder = str(Path(model.service.services.settings.data) / "spool")
        key, secret = model.headers["api_key"], model.headers["api_pass"]
        async with AsyncClient(road.url, model.id, key, secret, folder=folder) as client:
            client.log("from a loop")
            assert await client.aflush()
        ticking.cancel()
        return gaps

    gaps = run(go())
    # A loaded machine may hold the loop up, too, but not all the time.
    assert sum(gap < road.delay / 2 for gap in gaps) > 10
    assert lines(model) == ["from a loop"]


def test_closing_takes_no_longer_than_it_may(make: Make, model: Model, road: Road) -> None:
    road.delay = 30
    client = make(url=road.url)
    client.log("on its way")
    time.sleep(0.2)
    started = time.monotonic()
    assert not client.close(0.3)
    assert time.monotonic() - started < road.delay - 1
    later = make()
    later.log("after it")
    assert later.flush()
    assert lines(model) == ["on its way", "after it"]


def test_a_queue_of_the_living_is_not_taken_over(tmp_path: Path, make: Make, model: Model) -> None:
    client = make()
    client.log("mine")
    assert client.flush()
    alive = Folder.make(client.folder)
    other = make()
    other.log("theirs")
    assert other.flush()
    assert Path(alive.path).is_dir()
    alive.delete()


def test_a_torn_line_of_a_killed_process_is_left_out(make: Make, model: Model) -> None:
    client = make()
    queue = Folder.make(client.folder)
    whole = b'{"path":"/v1/live/log","time":1.0,"body":{"line":"whole","type":"x"}}\n'
    torn = whole[:30] + bytes(1000)
    Path(queue.path, "000000000001.ndjson").write_bytes(whole + torn)
    queue.close()
    client.log("own")
    assert client.flush()
    assert lines(model) == ["whole", "own"]


def test_what_a_power_failure_left_out_is_skipped(make: Make, model: Model) -> None:
    client = make()
    queue = Folder.make(client.folder)
    line = b'{"path":"/v1/live/log","time":1.0,"body":{"line":"%d","type":"x"}}\n'
    hole = bytes(4096)
    Path(queue.path, "000000000001.ndjson").write_bytes(
        line % 1 + (line % 2)[:20] + hole + (line % 3)[20:] + line % 4 + hole
    )
    queue.close()
    client.log("own")
    assert client.flush()
    assert lines(model) == ["1", "4", "own"]


def test_durable_events_are_on_the_disk_when_the_call_returns(make: Make, model: Model) -> None:
    client = make(durable=True)
    client.log("safe")
    assert client.flush()
    assert lines(model) == ["safe"]


def test_what_the_key_of_a_backtest_does_not_allow_is_set_apart(tmp_path: Path) -> None:
    with answering() as server:
        server.say(409, "backtest_key")
        client = Client(server.url, "m", "k", "p", folder=str(tmp_path))
        client.mark_price("BTC-USD", 1.0)
        assert client.flush()
        assert client.stats()["rejected"] == 1
        server.answers = [(200, {}, {})]
        client.log("later")
        assert client.flush()
        assert client.close()
    assert b'"later"' in server.requests[-1][1]
    assert b"mark-price" not in server.requests[-1][1]


def test_a_backtest_leaves_alone_what_a_live_run_left(tmp_path: Path) -> None:
    """They share the model's folder, but not a key: a backtest's writes nothing live."""
    with answering() as server:
        server.say(503, "store_unavailable")
        live = Client(server.url, "m", "k", "p", folder=str(tmp_path))
        live.log("of the live run")
        assert not live.flush(0.2)
        assert not live.close(0.1)
        server.answers = [(200, {}, {})]
        before = len(server.requests)
        tested = Client(server.url, "m", "b", "p", folder=str(tmp_path), backtest_id="t")
        tested.log("of the backtest")
        assert tested.flush()
        assert tested.close()
        assert b"of the live run" not in b"".join(body for _, body in server.requests[before:])
        again = Client(server.url, "m", "k", "p", folder=str(tmp_path))
        again.log("of its successor")
        assert again.flush()
        assert again.close()
    assert server.lines()[-2:] == ["of the live run", "of its successor"]
