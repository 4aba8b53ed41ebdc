"""A `tapeline up` that runs models for a bench, and leaves nothing of them behind."""

import functools
import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from bench.parts import service
from tapeline.runs.engines import shims
from tapeline.runs.environments import interpreters
from tapeline.runs.environments.interpreters import Interpreter
from tapeline.settings import search_path

PATIENCE = 300.0  # seconds, on a machine that has other things to do
BOUNDARY = "bench-bench-bench"

Json = dict[str, Any]


@functools.cache
def python() -> Interpreter:
    """The one that models of a bench run on, and what stands beside them too."""
    found = interpreters.discover(memory=None, extra=[], path=search_path(), home=Path.home())
    return found.get("3.11") or found.interpreters[0]


class Server:
    """One account's view of it."""

    def __init__(self, data: Path, **settings: str) -> None:
        self.data = data
        self._settings = {f"TAPELINE_{name.upper()}": text for name, text in settings.items()}
        self._token = ""
        self._project = ""
        self.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def port(self) -> int:
        return self._port

    def start(self) -> None:
        self._port = service.free_port()
        command = [sys.executable, "-m", "tapeline", "up"]
        command += ["--data", str(self.data), "--port", str(self._port)]
        environment = {**os.environ, "TAPELINE_LOG_LEVEL": "warning", **self._settings}
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        address = f"http://127.0.0.1:{self._port}"
        wait_for(lambda: self._ended() or service.answers(f"{address}/time"), every=0.01)
        if self._ended():
            raise SystemExit(f"tapeline up ended with {self._process.returncode}")

    def enter(self) -> None:
        """The one account, made at the first time."""
        account = {"email": "bench@example.com", "password": "correct horse battery"}
        came = self.call("POST", "/auth/signup" if not self._token else "/auth/signin", account)
        self._token, self._project = came["idToken"], came["userId"]

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """SIGTERM leaves models running, SIGINT ends them too."""
        if not self._ended():
            self._process.send_signal(how)
        self._process.wait(PATIENCE)

    def _ended(self) -> bool:
        return self._process.poll() is not None

    # What its client does

    def call(self, method: str, path: str, said: Json | None = None) -> Json:
        body = None if said is None else json.dumps(said).encode()
        return self._decoded(method, path, body, "application/json")

    def make_model(self, name: str = "one") -> str:
        wanted = {"projectId": self._project, "name": name}
        model: str = self.call("POST", "/model/create-model", wanted)["modelId"]
        return model

    def key(self, model: str) -> dict[str, str]:
        """The headers of somebody who pushes events of that model, with a key of its own."""
        made = self.call("POST", "/project/generate-project-token", {"projectId": self._project})
        return {"model_id": model, "api_key": made["apiKey"], "api_pass": made["apiPass"]}

    def upload(self, path: str, model: str, archive: bytes, **said: str) -> Json:
        """To `/model/deploy`, `/model/backtest` or `/model/upload`."""
        head = f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="'
        texts = {"modelId": model, "pythonVersion": python().version, **said}
        body = (
            "".join(f'{head}{name}"\r\n\r\n{text}\r\n' for name, text in texts.items()).encode()
            + f'{head}model"; filename="m.zip"\r\n\r\n'.encode()
            + archive
            + f"\r\n--{BOUNDARY}--\r\n".encode()
        )
        return self._decoded("POST", path, body, f"multipart/form-data; boundary={BOUNDARY}")

    def run(self, deployed: Json) -> Json:
        return self.call("GET", f"/api/models/{deployed['modelId']}/runs/{deployed['runId']}")

    def logs(self, model: str, query: str) -> list[Json]:
        items: list[Json] = self.call("GET", f"/api/models/{model}/logs?{query}")["items"]
        return items

    def lines(self, model: str) -> list[Json]:
        """All that the model itself said, from its tape, oldest first."""
        records = self._send("GET", f"/api/models/{model}/tape", None, "").splitlines()
        logged = [one for one in map(json.loads, records) if one.get("kind") == "log"]
        return [one for one in logged if one["body"]["type"] == "stdout"]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Straight from the database: to ask the server often would be to keep it busy."""
        file = f"file:{self.data}/tapeline.db?mode=ro"
        with closing(sqlite3.connect(file, uri=True)) as opened:
            return opened.execute(query).fetchall()

    def kill(self, model: str) -> None:
        self.call("POST", "/model/kill", {"projectId": self._project, "modelId": model})

    @contextmanager
    def stream(self, model: str) -> Iterator["Stream"]:
        with socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE) as opened:
            path = f"/api/models/{model}/stream"
            opened.sendall(
                f"GET {path} HTTP/1.1\r\nhost: bench\r\ntoken: {self._token}\r\n\r\n".encode()
            )
            stream = Stream(opened)
            stream.wait_for(b"\r\n\r\n")
            yield stream

    def _decoded(self, method: str, path: str, body: bytes | None, kind: str) -> Json:
        found: Json = json.loads(self._send(method, path, body, kind))
        return found

    def _send(self, method: str, path: str, body: bytes | None, kind: str) -> bytes:
        headers = {"content-type": kind}
        if self._token:
            headers["token"] = self._token
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)) as opened:
            opened.request(method, path, body, headers)
            answer = opened.getresponse()
            said = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{method} {path}: {answer.status} {said.decode()}")
        return said


class Stream:
    """What a model's open stream says, read by hand and at once."""

    def __init__(self, opened: socket.socket) -> None:
        self._socket = opened
        self._rest = b""

    def wait_for(self, text: bytes) -> float:
        """When it came."""
        while text not in self._rest:
            some = self._socket.recv(1 << 16)
            if not some:
                raise SystemExit("the stream ended early")
            self._rest += some
        now = time.time()
        self._rest = self._rest.partition(text)[2]
        return now


@contextmanager
def server(**settings: str) -> Iterator[Server]:
    """In a folder of its own, with an account; ends with all of its models."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "data"
        made = Server(data, **settings)
        try:
            made.enter()
            yield made
        finally:
            made.end(signal.SIGINT)
            _end_all(data / "runs")


def _end_all(runs: Path) -> None:
    """Whatever happened to the server."""
    with suppress(FileNotFoundError):
        for folder in runs.iterdir():
            if (folder / "shim.json").exists():
                lock = folder / "lock"
                name = lock.read_text() if lock.exists() else folder.name
                shims.kill(folder, runs / "locks" / name)


def wait_for(condition: Callable[[], bool], *, every: float = 0.02) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("it never happened")
        time.sleep(every)
