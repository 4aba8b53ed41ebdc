"""A trader with an account, who deploys models over HTTP and reads back what became of them."""

import functools
import json
import os
import time
from pathlib import Path
from typing import Any, Self

import httpx

from tapeline.runs.environments.interpreters import Interpreter, discover
from tests.acceptance.conftest import PASSWORD, Server
from tests.archives import zipped
from tests.waiting import wait_for

ENDED = {"stopped", "exited", "crashed", "failed"}


@functools.cache
def pythons() -> list[Interpreter]:
    """What this machine has, wherever it is: the servers under test see no home and no PATH."""
    path = [Path(one) for one in os.environ.get("PATH", os.defpath).split(os.pathsep) if one]
    return discover(memory=None, extra=[], path=path, home=Path.home()).interpreters


class Trader:
    def __init__(self, server: Server, email: str = "ada@example.com") -> None:
        self.server = server
        self.client = server.client()
        said = {"email": email, "password": PASSWORD, "setup_code": server.setup_code}
        answer = self._answered("/auth/signup", said)
        if answer.status_code != 200:
            answer = self._answered("/auth/signin", said)
        if answer.status_code != 200:
            self.client.close()
            raise AssertionError(answer.text)
        self.user_id = answer.json()["userId"]
        self.refresh_token = answer.json()["refreshToken"]
        self.client.headers["token"] = answer.json()["idToken"]

    def _answered(self, path: str, said: dict[str, Any]) -> httpx.Response:
        """As any client, it asks again a server whose database is too slow for it just now."""
        answer = self.client.post(path, json=said)
        for _ in range(60):
            if answer.status_code != 503:
                break
            time.sleep(0.5)
            answer = self.client.post(path, json=said)
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def meet(self, server: Server) -> None:
        """The same account, on a server that was started again."""
        self.client.close()
        self.__init__(server)  # type: ignore[misc]

    def post(self, path: str, status: int = 200, **sent: Any) -> dict[str, Any]:
        answer = self.client.post(path, **sent)
        assert answer.status_code == status, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def get(self, path: str, **query: Any) -> Any:
        answer = self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def deploy(
        self, main: str, *, model: str | None = None, archive: bytes | None = None, **said: Any
    ) -> dict[str, Any]:
        """Deploy a main script, as a new model or a new version."""
        return self._upload("/model/deploy", main, model, archive, said)

    def backtest(
        self, main: str, *, model: str | None = None, archive: bytes | None = None, **said: Any
    ) -> dict[str, Any]:
        return self._upload("/model/backtest", main, model, archive, said)

    def _upload(
        self, path: str, main: str, model: str | None, archive: bytes | None, said: dict[str, Any]
    ) -> dict[str, Any]:
        fields = {"modelId": model} if model else {"createNew": "true", "name": "One"}
        content = archive or zipped({"main.py": main})
        return self.post(path, data=fields | said, files={"model": ("m.zip", content)})

    def run(self, model: str, run: str) -> dict[str, Any]:
        found: dict[str, Any] = self.get(f"/api/models/{model}/runs/{run}")
        return found

    def wait_for_state(self, deployed: dict[str, Any], *states: str) -> dict[str, Any]:
        model, run = deployed["modelId"], deployed["runId"]
        try:
            wait_for(lambda: self.run(model, run)["state"] in states)
        except AssertionError:
            now = self.run(model, run)
            raise AssertionError(f"{now}\n{self.lines(model)}\n{self.server.log}") from None
        return self.run(model, run)

    def wait_for_end(self, deployed: dict[str, Any]) -> dict[str, Any]:
        return self.wait_for_state(deployed, *ENDED)

    def wait_for_line(self, model: str, text: str) -> None:
        try:
            wait_for(lambda: any(text in line for line in self.lines(model)))
        except AssertionError:
            raise AssertionError(f"no {text!r} in {self.lines(model)}") from None

    def lines(self, model: str, *types: str) -> list[str]:
        """The newest thousand lines of the live log, oldest first."""
        items = self.get(f"/api/models/{model}/logs", limit=1000)["items"]
        return [one["line"] for one in reversed(items) if not types or one["type"] in types]

    def backtest_lines(self, tested: dict[str, Any], *types: str) -> list[str]:
        path = f"/api/models/{tested['modelId']}/backtests/{tested['backtestId']}/logs"
        items = self.get(path, limit=1000)["items"]
        return [one["line"] for one in reversed(items) if not types or one["type"] in types]

    def lifecycle(self, model: str) -> dict[str, Any]:
        found: dict[str, Any] = self.get(f"/api/models/{model}")["lifecycle"]
        return found

    def kill(self, model: str) -> None:
        self.post("/model/kill", json={"projectId": self.user_id, "modelId": model})

    def messages(self, model: str) -> list[str]:
        """Every lifecycle message there was, from the tape itself."""
        lines = self.client.get(f"/api/models/{model}/tape").text.splitlines()
        records = [json.loads(line) for line in lines]
        found = [one["body"] for one in records if one["kind"] == "lifecycle"]
        return [body["message"] for body in found if body.get("message")]
