"""A server in a control group with little memory refuses what does not fit, and lives on."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tapeline.ids import new_id
from tests import needs
from tests.acceptance.conftest import PASSWORD, Home, Server, wait_for

pytestmark = [needs.root("needs root, for a control group of its own"), pytest.mark.heavy]

LIMIT = 150_000_000
JSON = {"content-type": "application/json"}
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
def models(used_home: Home) -> list[dict[str, str]]:
    """The headers of eight models, made by a server with enough memory for a password."""
    server = used_home.up()
    with server.client() as client:
        known = {"email": "ada@example.com", "password": PASSWORD}
        account = client.post("/auth/signup", json=known).json()
        made = [headers(client, account) for _ in range(8)]
    server.end()
    return made


@pytest.fixture
def limited(group: Path, used_home: Home, models: list[dict[str, str]]) -> Server:
    assert models
    joining = f'echo $$ > {group}/cgroup.procs && exec "$@"'
    return used_home.up_in("sh", "-c", joining, "sh")


def headers(client: httpx.Client, account: dict[str, str]) -> dict[str, str]:
    """Of a model of its own, with a key of its own."""
    own = {"token": account["idToken"]}
    made = {"projectId": account["userId"], "name": "m"}
    model = client.post("/model/create-model", json=made, headers=own).json()["modelId"]
    key = client.post("/project/generate-project-token", json=made, headers=own).json()
    return {"model_id": model, "api_key": key["apiKey"], "api_pass": key["apiPass"]}


def test_a_server_with_150_mb_refuses_what_does_not_fit_and_lives_on(
    limited: Server, models: list[dict[str, str]]
) -> None:
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
