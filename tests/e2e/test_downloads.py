"""Files that a browser downloads while their server is killed: it says so, and keeps nothing."""

import signal
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Error, Page

from tests.acceptance.conftest import PASSWORD, Home
from tests.cutting import cut
from tests.e2e.test_app import SLOW, fill

FILES = ("/record", "/logs.txt", "/tape")
LINES = [{"path": "/v1/live/log", "body": {"line": "x" * 1_000}}] * 3_000
AFTER = 500_000  # bytes of some three million


@pytest.mark.heavy
def test_a_file_that_breaks_off_is_a_failed_download(page: Page, tmp_path: Path) -> None:
    home = Home(tmp_path)
    try:
        server = home.up()
        added = home.run("user", "add", "ada@example.com", "--name", "Ada", stdin=PASSWORD)
        assert added.returncode == 0, added.stderr
        with server.client() as client:
            model = a_long_log(client)
        page.goto(f"{server.address}/auth/signin")
        with page.expect_navigation():
            fill(page, "ada@example.com")
        for path in FILES:
            is_last = path == FILES[-1]
            kill = (lambda: server.end(signal.SIGKILL)) if is_last else (lambda: None)
            with cut(server.port, path, AFTER, kill) as line:
                assert failed(page, f"{line.address}/api/models/{model}{path}"), path
                assert line.is_broken
    finally:
        home.close()


def a_long_log(client: httpx.Client) -> str:
    """The model that has it."""
    who = {"email": "ada@example.com", "password": PASSWORD}
    signed = client.post("/auth/signin", json=who).json()
    token, mine = {"token": signed["idToken"]}, {"projectId": signed["userId"]}
    made = client.post("/model/create-model", json=mine | {"name": "Long"}, headers=token).json()
    key = client.post("/project/generate-project-token", json=mine, headers=token).json()
    headers = {"model_id": made["modelId"], "api_key": key["apiKey"], "api_pass": key["apiPass"]}
    pushed = client.post("/v1/batch", json=LINES, headers=headers)
    assert pushed.status_code == 200, pushed.text
    model: str = made["modelId"]
    return model


def failed(page: Page, address: str) -> bool:
    with page.expect_download(timeout=SLOW) as caught, suppress(Error):
        page.goto(address)  # it never becomes a page
    return caught.value.failure() is not None
