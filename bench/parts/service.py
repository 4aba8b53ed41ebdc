"""A `tapeline up` of the bench's own, on a free port, with one model and a key that may write."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

PATIENCE = 180.0  # seconds: MLflow takes most of a minute to start


@dataclass(frozen=True)
class Service:
    port: int
    pid: int
    model: str
    headers: dict[str, str]
    """Those of a client that pushes events."""
    project: str
    token: str
    """That of a person who looks at the model."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def another_model(self, name: str) -> str:
        wanted, headers = {"projectId": self.project, "name": name}, {"token": self.token}
        made = httpx.post(f"{self.address}/model/create-model", json=wanted, headers=headers)
        model: str = made.raise_for_status().json()["modelId"]
        return model


@contextmanager
def running(data: Path) -> Iterator[Service]:
    """One that was never started before."""
    with started(data) as (port, pid):
        yield _with_a_model(port, pid)


@contextmanager
def started(data: Path) -> Iterator[tuple[int, int]]:
    """Its port and its process."""
    port = free_port()
    command = [sys.executable, "-m", "tapeline", "up", "--data", str(data), "--port", str(port)]
    # A bench floods one model on purpose.
    much = {"TAPELINE_QUOTA_PUSHED": "1000000", "TAPELINE_QUOTA_KEY": "1000000"}
    with child(command, lambda: answers(f"http://127.0.0.1:{port}/time"), **much) as process:
        yield port, process.pid


@contextmanager
def child(
    command: list[str], is_ready: Callable[[], bool], **variables: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that is ready to be measured, and ends with the block."""
    environment = {**os.environ, "TAPELINE_LOG_LEVEL": "warning", **variables}
    silent = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdout=silent, stderr=silent) as process:
        try:
            deadline = time.monotonic() + PATIENCE
            while not is_ready():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"not ready: {' '.join(command)}")
                time.sleep(0.02)
            yield process
        finally:
            process.terminate()


def answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=5).is_success
    except httpx.TransportError:
        return False


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _with_a_model(port: int, pid: int) -> Service:
    account = {"email": "bench@example.com", "password": "correct horse battery"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        signed_up = client.post("/auth/signup", json=account).json()
        client.headers["token"] = signed_up["idToken"]
        project = {"projectId": signed_up["userId"]}
        model = client.post("/model/create-model", json={**project, "name": "m"}).json()["modelId"]
        key = client.post("/project/generate-project-token", json=project).json()
    headers = {"model_id": model, "api_key": key["apiKey"], "api_pass": key["apiPass"]}
    return Service(port, pid, model, headers, signed_up["userId"], signed_up["idToken"])
