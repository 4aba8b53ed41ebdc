"""How soon an event is on the open streams of its model, counted from the answer to its POST.

`python -m bench.stream [--rate N] [--readers N] [--seconds N]`. Writers and readers live in
processes of their own; all of them read the machine's one monotonic clock.
"""

import argparse
import asyncio
import multiprocessing
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.queues import Queue
from pathlib import Path

from bench.parts import service
from bench.parts.service import Service

CONNECTIONS = 32  # of the writer
READING_PROCESSES = 2
SETTLING = 2.0  # seconds for the streams to open
PATIENCE = 10.0  # seconds more than it should take, before we give up

Times = dict[int, float]

_LINE = re.compile(rb'"line":"n(\d+)"')


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder, service.running(Path(folder) / "data") as ours:
        answered, seen = _run(ours, options.rate, options.readers, options.seconds)
    late = sorted(
        max(0.0, at - answered[number])
        for one in seen
        for number, at in one.items()
        if number in answered
    )
    expected = len(answered) * options.readers
    rate = len(answered) / (max(answered.values()) - min(answered.values()))
    print("| events/s | readers | deliveries | missing | p50 | p99 | slowest |")
    print("|---|---|---|---|---|---|---|")
    p50, p99 = (1000 * late[int(len(late) * part)] for part in (0.5, 0.99))
    print(
        f"| {rate:,.0f} | {options.readers} | {len(late):,} | {expected - len(late)}"
        f" | {p50:.1f} ms | {p99:.1f} ms | {1000 * late[-1]:.1f} ms |"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=2_000)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=10)
    return parser.parse_args()


def _run(ours: Service, rate: int, readers: int, seconds: int) -> tuple[Times, list[Times]]:
    """When each event was answered, and when each reader saw it."""
    spawn = multiprocessing.get_context("spawn")
    results: Queue[list[Times]] = spawn.Queue()
    until = time.monotonic() + SETTLING + seconds + PATIENCE
    shares = [readers // READING_PROCESSES] * (READING_PROCESSES - 1)
    shares.append(readers - sum(shares))
    watching = [
        spawn.Process(target=_read_all, args=(ours, share, rate * seconds - 1, until, results))
        for share in shares
    ]
    for one in watching:
        one.start()
    time.sleep(SETTLING)
    answered = asyncio.run(_write_all(ours, rate, seconds))
    seen = [times for _ in watching for times in results.get(timeout=60)]
    for one in watching:
        one.join()
    return answered, seen


async def _write_all(ours: Service, rate: int, seconds: int) -> Times:
    answered: Times = {}
    numbers = iter(range(rate * seconds))
    started = time.monotonic()
    head = "".join(f"{name}: {value}\r\n" for name, value in ours.headers.items())
    await asyncio.gather(
        *(_write(ours.port, head, numbers, rate, started, answered) for _ in range(CONNECTIONS))
    )
    return answered


async def _write(
    port: int, head: str, numbers: Iterator[int], rate: int, started: float, answered: Times
) -> None:
    """By hand: a client library at this rate would be what is measured."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in numbers:
        await asyncio.sleep(max(0.0, started + number / rate - time.monotonic()))
        body = f'{{"line":"n{number}"}}'
        writer.write(
            f"POST /v1/live/log HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\n{head}\r\n{body}".encode()
        )
        answer = await reader.readuntil(b"}")
        answered[number] = time.monotonic()
        if not answer.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"refused: {answer.decode()}")
    writer.close()


def _read_all(
    ours: Service, readers: int, last: int, until: float, results: "Queue[list[Times]]"
) -> None:
    results.put(asyncio.run(_read_some(ours, readers, last, until)))


async def _read_some(ours: Service, readers: int, last: int, until: float) -> list[Times]:
    return list(await asyncio.gather(*(_read(ours, last, until) for _ in range(readers))))


async def _read(ours: Service, last: int, until: float) -> Times:
    """Until it has seen the last one, or time is up. By hand, for the same reason."""
    seen: Times = {}
    reader, writer = await asyncio.open_connection("127.0.0.1", ours.port)
    path = f"/api/models/{ours.model}/stream"
    writer.write(f"GET {path} HTTP/1.1\r\nhost: bench\r\ntoken: {ours.token}\r\n\r\n".encode())
    rest = b""
    with suppress(TimeoutError):
        async with asyncio.timeout(until - time.monotonic()):
            while len(seen) <= last and (some := await reader.read(1 << 16)):
                now = time.monotonic()
                # Chunks of the encoding hold whole events, so only our own reads cut one.
                whole, cut, rest = (rest + some).rpartition(b"\n\n")
                seen.update((int(number), now) for number in _LINE.findall(whole + cut))
    writer.close()
    return seen


if __name__ == "__main__":
    main()
