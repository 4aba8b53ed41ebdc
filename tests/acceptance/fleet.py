"""Several servers on one PostgreSQL behind nginx, as the guide builds them."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tapeline.ids import new_id
from tests.acceptance.cable import Cable
from tests.acceptance.conftest import Home, Server, free_port, kill_shim
from tests.acceptance.proxy import nginx
from tests.acceptance.traders import Trader, pythons
from tests.conftest import database_url, run_sql
from tests.waiting import wait_for

METRICS = "m" * 32
TRIES = 5
ESTABLISHED = "01"  # in /proc/net/tcp
COUNTING = """
import itertools, time
for number in itertools.count():
    print("number", number, flush=True)
    time.sleep(0.1)
"""


@dataclass
class Member:
    """One of the servers. Each has its data directory, its port and its cable to the database."""

    home: Home
    port: int
    cable: Cable
    variables: dict[str, str]
    server: Server
    token: str = ""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def name(self) -> str:
        """Of its host."""
        return (self.home.data / "host").read_text().split()[0]

    def get(self, path: str) -> Any:
        answer = httpx.get(
            f"{self.address}{path}", headers={"token": self.token}, timeout=30, verify=False
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def leads(self) -> bool:
        headers = {"authorization": f"Bearer {METRICS}"}
        page = httpx.get(f"{self.address}/metrics", headers=headers, timeout=30, verify=False)
        return "tapeline_leads 1.0" in page.text

    def command(self, *words: str, package: Path | None = None, **variables: str) -> Any:
        """With the code in a folder, that of another version."""
        known, said = self.variables | variables, (*words, "--json")
        if package is None:
            done = self.home.run(*said, **known)
        else:
            done = self.home.run_in("env", command=said, **known, PYTHONPATH=str(package))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def kill(self, *, with_shims: bool = False) -> None:
        """As a machine that loses its power, if with its shims."""
        self.server.end(signal.SIGKILL)
        if with_shims:
            for note in self.home.data.glob("runs/*/shim.json"):
                kill_shim(note)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        os.kill(self.server.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.server.process.pid, signal.SIGCONT)

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        self.cable.cut()
        try:
            yield
        finally:
            self.cable.mend()

    def start(self, package: Path | None = None) -> None:
        """Again, on the same port; with the code in a folder, as another version."""
        options = ("--port", str(self.port))
        if package is None:
            self.server = self.home.up(*options, **self.variables)
        else:
            elsewhere = self.variables | {"PYTHONPATH": str(package)}
            self.server = self.home.up_in("env", options=options, **elsewhere)


class Fleet:
    """The servers, the address before them, and somebody who is signed in."""

    def __init__(self, members: list[Member], address: str, trader: Trader) -> None:
        self.members, self.address, self.trader = members, address, trader
        for one in members:
            one.token = trader.client.headers["token"]

    def others(self, than: Member) -> list[Member]:
        return [one for one in self.members if one is not than]

    def member(self, host: str) -> Member:
        return next(one for one in self.members if one.name == host)

    def get(self, path: str) -> Any:
        """Through the proxy, by whichever server answers."""
        return self.trader.get(path)

    def deploy_on(self, member: Member, main: str = COUNTING, **said: Any) -> dict[str, Any]:
        """The server that takes an upload is the first to look for its run; on a busy machine
        another one may be before it, and then there is another try."""
        with Trader(member.server) as trader:
            for _ in range(TRIES):
                deployed = trader.deploy(main, **said)
                wait_for(lambda deployed=deployed: self.run(deployed)["host"])
                if self.run(deployed)["host"] == member.name:
                    return deployed
                trader.kill(deployed["modelId"])
        raise AssertionError(f"{member.name} took none of {TRIES} runs")

    @property
    def token(self) -> str:
        return str(self.trader.client.headers["token"])

    def run(self, deployed: dict[str, Any]) -> dict[str, Any]:
        return self.trader.run(deployed["modelId"], deployed["runId"])

    def key(self) -> dict[str, str]:
        """Of a model that reports from outside."""
        mine = {"projectId": self.trader.user_id}
        model = self.trader.post("/model/create-model", json=mine | {"name": "Bot"})["modelId"]
        key = self.trader.post("/project/generate-project-token", json=mine | {"name": "bot"})
        return {"api_key": key["apiKey"], "api_pass": key["apiPass"], "model_id": model}

    def tape(self, model: str) -> list[dict[str, Any]]:
        """The whole tape, by whichever server answers."""
        answer = self.trader.client.get(f"/api/models/{model}/tape")
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    def serving(self) -> Member:
        """The one that has a request of the proxy now; there must be one at most."""
        found = list[Member]()

        def has_one() -> bool:
            found[:] = [one for one in self.members if _is_connected(one.port)]
            return bool(found)

        wait_for(has_one)
        (serving,) = found
        return serving

    def say(self, host: str) -> "Said":
        """What each server that is well says of one host."""
        return Said(self, self.member(host))


@dataclass
class Said:
    fleet: Fleet
    about: Member

    def is_unreachable(self, *runs: dict[str, Any]) -> bool:
        """To all others, the host is, and so are its runs: pages and the command line ask these."""
        return all(self._says(one, *runs) for one in self.fleet.others(self.about))

    def _says(self, other: Member, *runs: dict[str, Any]) -> bool:
        with suppress(httpx.TransportError):
            health = other.get("/api/health")
            host = next(one for one in health["hosts"] if one["name"] == self.about.name)
            if host["state"] != "unreachable":
                return False
            return all(_is_unreachable(other, one, self.about.name) for one in runs)
        return False


def _is_connected(port: int) -> bool:
    """Whether anybody has a connection to this port; the proxy keeps none for later."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[1].endswith(f":{port:04X}") and row[3] == ESTABLISHED for row in rows)


def _is_unreachable(other: Member, deployed: dict[str, Any], host: str) -> bool:
    model, run = deployed["modelId"], deployed["runId"]
    found = other.get(f"/api/models/{model}/runs/{run}")
    return bool(found["silent_host"] == host and found["state"] == "unreachable")


@contextmanager
def fleet(folder: Path, short: Path, postgres: str, size: int, template: str) -> Iterator[Fleet]:
    """`short` is for sockets, whose paths are short by law; the template has all tables."""
    name = f"t_{new_id()}"
    run_sql(postgres, f"create database {name} template {template}")
    shared = {
        "TAPELINE_BLOBS": f"file://{folder}/blobs",
        "TAPELINE_METRICS_TOKEN": METRICS,
        "TAPELINE_PYTHONS": pythons()[0].path,
        "TAPELINE_STOP_SECONDS": "2",
        "TAPELINE_TRUSTED_PROXIES": "127.0.0.1",
    }
    (folder / "blobs").mkdir()
    members = list[Member]()
    with ExitStack() as ending:
        for number in range(size):
            home = Home(folder / f"home-{number}")
            home.path.mkdir()
            home.data.mkdir(mode=0o700)
            if members:
                (home.data / "keys").symlink_to(members[0].home.data / "keys")
            (short / str(number)).mkdir()
            cable = Cable(short / str(number), database_url(postgres, name))
            ending.callback(cable.close)
            variables = shared | {"TAPELINE_DATABASE": cable.database}
            ending.callback(home.close)
            port = free_port()
            server = home.up("--port", str(port), **variables)
            members.append(Member(home, port, cable, variables, server))
        address = ending.enter_context(nginx(folder / "nginx", *(one.port for one in members)))
        trader = ending.enter_context(Trader(members[0].server))
        trader.client.close()
        headers = trader.client.headers
        trader.client = httpx.Client(base_url=address, headers=headers, timeout=30, verify=False)
        yield Fleet(members, address, trader)
