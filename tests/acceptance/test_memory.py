"""A server in a control group with little memory refuses what does not fit, and lives on."""

import io
import os
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tapeline.ids import new_id
from tests import needs
from tests.acceptance.conftest import Home, Server
from tests.acceptance.traders import Trader
from tests.waiting import wait_for

pytestmark = [needs.root("needs root, for a control group of its own"), pytest.mark.heavy]

LIMIT = 150_000_000
COUNTING = """
import itertools, time
for number in itertools.count(1):
    print("number", number, flush=True)
    time.sleep(0.2)
"""
JSON = {"content-type": "application/json"}
FILES = ["record", "tape", "logs.txt", "logs?limit=1000"] * 3
TOPS = (  # of version 1 and of version 2, with the file that has the limit
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
    (Path("/sys/fs/cgroup"), "memory.max"),
)


@pytest.fixture
def group() -> Iterator[Path]:
    top, limit = next((top, limit) for top, limit in TOPS if (top / "cgroup.procs").exists())
    made = top / f"tapeline-test-{new_id()}"
    made.mkdir()
    (made / limit).write_text(str(LIMIT))
    yield made
    for pid in (made / "cgroup.procs").read_text().split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), 9)
    wait_for(lambda: is_removed(made))


def is_removed(group: Path) -> bool:
    """Dying takes its processes a moment."""
    with suppress(OSError):
        group.rmdir()
    return not group.exists()


@pytest.fixture
def trader(used_home: Home) -> Iterator[Trader]:
    """Signed in at a server with enough memory for a password."""
    made = Trader(used_home.up())
    yield made
    made.client.close()


@pytest.fixture
def models(trader: Trader) -> list[dict[str, str]]:
    """The headers of eight models."""
    return [headers(trader) for _ in range(8)]


@pytest.fixture
def limited(group: Path, used_home: Home, trader: Trader, models: list[dict[str, str]]) -> Server:
    """The same server, started again with little memory."""
    assert models
    return restarted(group, used_home, trader)


def restarted(group: Path, home: Home, trader: Trader) -> Server:
    trader.server.end()
    joining = f'echo $$ > {group}/cgroup.procs && exec "$@"'
    trader.server = home.up_in("sh", "-c", joining, "sh")
    trader.client.base_url = httpx.URL(trader.server.address)
    return trader.server


def headers(trader: Trader) -> dict[str, str]:
    """Of a model of its own, with a key of its own."""
    made = {"projectId": trader.user_id, "name": "m"}
    model = trader.post("/model/create-model", json=made)["modelId"]
    key = trader.post("/project/generate-project-token", json=made)
    return {"model_id": model, "api_key": key["apiKey"], "api_pass": key["apiPass"]}


def test_a_server_with_150_mb_refuses_what_does_not_fit_and_lives_on(
    limited: Server, trader: Trader, models: list[dict[str, str]]
) -> None:
    live = trader.deploy(COUNTING)
    trader.wait_for_line(live["modelId"], "number 1")
    line = b'{"path": "/v1/live/log", "body": {"line": "%b"}}' % (b"x" * 850)
    batch = b"[" + b",".join([line] * 10_000) + b"]"
    value = b'{"time": 1, "value": 1.25}'
    result = b"".join(
        [
            b'{"backtest_id": "b", "symbols": [], "quote_asset": "USD", "start_time": 1,',
            b' "stop_time": 2, "trades": [], "account_values": [',
            b",".join([value] * (50_000_000 // len(value))),
            b"]}",
        ]
    )
    with limited.client() as client, ThreadPoolExecutor(8) as pool:

        def push(path: str, content: bytes, model: dict[str, str]) -> httpx.Response:
            return client.post(path, content=content, headers=JSON | model, timeout=180)

        answers = list(pool.map(lambda one: push("/v1/batch", batch, one), models))
        answers.append(push("/v1/backtest/result", result, models[0]))
        for one in answers:
            assert one.status_code in (200, 503), one.text
            if one.status_code == 503:
                assert one.json()["code"] == "overloaded"
                assert int(one.headers["retry-after"]) > 0
        assert answers[-1].status_code == 503, "it needs 200 MB"
        for model in models:
            assert push("/v1/live/log", b'{"line": "alive"}', model).is_success
        small = b"[" + b",".join([line] * 100) + b"]"
        assert push("/v1/batch", small, models[0]).is_success
        assert limited.process.poll() is None
    run = trader.run(live["modelId"], live["runId"])
    assert (run["state"], run["restarts"]) == ("running", 0), run
    newest = trader.lines(live["modelId"])[-1]
    wait_for(lambda: trader.lines(live["modelId"])[-1] != newest)


@pytest.fixture
def long_tape(trader: Trader) -> dict[str, str]:
    """The headers of a model whose lines are 40 MB together."""
    model = headers(trader)
    line = b'{"path": "/v1/live/log", "body": {"line": "%b"}}' % (b"x" * 60_000)
    with trader.server.client() as client:
        for _ in range(40):
            content = b"[" + b",".join([line] * 17) + b"]"
            client.post("/v1/batch", content=content, headers=JSON | model).raise_for_status()
    return model


def large_archive() -> bytes:
    """As many entries as one may have."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("model/platform.json", '{"main_script": "main.py"}')
        archive.writestr("model/main.py", "")
        for number in range(9_998):
            archive.writestr(f"model/{number:04}{'-' * 100}", "")
    return packed.getvalue()


def test_downloads_streams_and_uploads_do_not_end_a_server_with_150_mb(
    group: Path, used_home: Home, trader: Trader, long_tape: dict[str, str]
) -> None:
    limited = restarted(group, used_home, trader)
    path, packed = f"/api/models/{long_tape['model_id']}", large_archive()
    token = {"token": trader.client.headers["token"]}

    def download(what: str) -> int | None:
        """Its status; None if it was cut off."""
        with limited.client() as client:
            try:
                answer = client.get(f"{path}/{what}", headers=token, timeout=180)
            except httpx.RemoteProtocolError:
                return None
        if what == "record" and answer.is_success:
            assert b'{"checkpoint":' in answer.content[-1_000:], "as long as it claims to be"
        return answer.status_code

    def upload(_: int) -> int:
        with limited.client() as client:
            fields, files = {"createNew": "true", "name": "many files"}, {"model": packed}
            client.headers.update(token)
            return client.post("/model/upload", data=fields, files=files, timeout=180).status_code

    def open_stream(client: httpx.Client) -> httpx.Response:
        """From the first event on, by a reader who takes nothing."""
        asked = client.build_request(
            "GET", f"{path}/stream", headers=token | {"Last-Event-ID": "0"}
        )
        return client.send(asked, stream=True)

    with limited.client() as client, ThreadPoolExecutor(14) as pool:
        streams = [open_stream(client) for _ in range(8)]
        downloads = [pool.submit(download, what) for what in FILES]
        uploads = [pool.submit(upload, number) for number in range(2)]
        assert {one.result() for one in uploads} <= {200, 503}
        assert {one.result() for one in downloads} <= {200, 503, None}
        for stream in streams:
            assert stream.is_success
            stream.close()
    assert limited.process.poll() is None
    wait_for(lambda: download("record") == 200)
    assert trader.client.get(f"{path}/logs?limit=1").is_success
