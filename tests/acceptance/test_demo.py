"""The demo: lively, shared, marked as what it is, and gone without a trace with one command."""

import json
import re
import sqlite3
from typing import Any

import httpx
import psutil
import pytest

from tapeline.cli.demo import parts
from tapeline.store import belongings
from tests import needs
from tests.acceptance.conftest import PASSWORD, Home, Server
from tests.acceptance.traders import pythons
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.heavy,
    needs.root("needs a host where models run"),
]

# What belongs to models and accounts; nothing of the demo may stay in them.
EMPTY = [
    *("users", "sign_ins", "projects", "members", "models"),
    *(one.name for one in belongings.WITH_THE_ROW),
    *(one.name for one in belongings.OF_UPLOADS),
    *(one.name for one in belongings.ON_THE_TAPE),
    "tapes",
]


@pytest.fixture
def home(used_home: Home) -> Home:
    return used_home


class Demo:
    """What somebody sees who starts it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        found = re.search(r"sign in as (\S+) with password (\S+)", server.said)
        assert found
        self.email, self.password = found[1], found[2]
        project = re.search(r"project +Demo \((\w+)\)", server.said)
        assert project
        self.project = project[1]
        link = re.search(r"shared +(http\S+)", server.said)
        self.link = link[1] if link else None
        self.token = str(self.sign_in().json()["idToken"])

    def sign_in(self) -> httpx.Response:
        said = {"email": self.email, "password": self.password}
        return httpx.post(f"{self.server.address}/auth/signin", json=said, verify=False)

    def ask(self, method: str, path: str, **more: Any) -> Any:
        address, headers = f"{self.server.address}{path}", {"token": self.token}
        answer = httpx.request(method, address, headers=headers, timeout=30, **more, verify=False)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def get(self, path: str) -> Any:
        return self.ask("GET", path)

    def models(self) -> dict[str, dict[str, Any]]:
        items = self.get(f"/api/projects/{self.project}/models")["items"]
        return {one["name"]: one for one in items}

    def wait_until_alive(self) -> dict[str, Any]:
        """Until the strategy has decided something; the strategy."""
        model = self.models()[parts.STRATEGY.title]
        logs = f"/api/models/{model['id']}/logs?type=info&q=decided"
        wait_for(lambda: self.get(logs)["items"], 120)
        return model


def up(home: Home) -> Demo:
    return Demo(home.up("--demo", TAPELINE_PYTHONS=",".join(one.path for one in pythons())))


def processes(home: Home) -> list[int]:
    found = [json.loads(file.read_text())["pid"] for file in home.data.glob("runs/*/shim.json")]
    return [pid for pid in found if lives(pid)]


def lives(pid: int) -> bool:
    """One that has ended may wait for its parent to hear of it."""
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def left(home: Home) -> dict[str, int]:
    with sqlite3.connect(home.data / "tapeline.db") as connection:
        counts = {
            table: connection.execute(f"select count(*) from {table}").fetchone()[0]
            for table in EMPTY
        }
    connection.close()
    return {table: count for table, count in counts.items() if count}


def test_it_is_alive_shared_and_marked_as_a_demo(home: Home) -> None:
    demo = up(home)
    model = demo.wait_until_alive()
    assert demo.get("/api/me")["is_demo"] is True
    assert all("(demo)" in name for name in demo.models())
    assert set(demo.models()) == {one.title for one in parts.PARTS}
    assert demo.link is not None
    resolved = f"/api/incidents?project={demo.project}&state=resolved"
    first = parts.WATCHED[0]["name"]
    wait_for(lambda: first in [one["name"] for one in demo.get(resolved)["items"]], 120)
    with httpx.Client(verify=False) as stranger:
        page = stranger.get(demo.link)
        assert page.status_code == 200
        assert parts.STRATEGY.title in page.text
        assert "orders were reported late" in page.text, "what it brought in is marked"
    shown = demo.get(f"/api/models/{model['id']}")
    assert shown["general_description"].endswith(f"Shared at {demo.link}")
    backtests = f"/api/models/{model['id']}/backtests"
    wait_for(lambda: len([one for one in demo.get(backtests)["items"] if one["status"]]) == 5, 120)
    assert "remove it  tapeline demo remove" in demo.server.said
    demo.server.end()
    again = up(home)
    assert again.link is not None
    assert again.link.rpartition("/")[2] == demo.link.rpartition("/")[2]
    (share,) = again.get(f"/api/models/{model['id']}/shares")["items"]
    again.ask("DELETE", f"/api/models/{model['id']}/shares/{share['id']}")
    again.server.end()
    assert up(home).link is None, "what its owner revoked stays revoked"


def test_it_is_removed_while_the_server_runs_and_made_anew(home: Home) -> None:
    demo = up(home)
    home.run("user", "add", "ada@example.com", stdin=PASSWORD)
    demo.wait_until_alive()
    with demo.server.client() as ada:
        said = {"email": "ada@example.com", "password": PASSWORD}
        ada.headers["token"] = ada.post("/auth/signin", json=said).json()["idToken"]
        me = ada.get("/api/me").json()
        assert me["is_demo"] is False
        own = {"projectId": me["id"], "name": "Mine"}
        kept = ada.post("/model/create-model", json=own).json()
        ended = home.run("demo", "remove", "--json")
        assert ended.returncode == 0, ended.stderr
        assert json.loads(ended.stdout)["models"] == 3
        assert demo.sign_in().status_code == 401
        assert demo.link is not None
        assert httpx.get(demo.link, verify=False).status_code == 404
        assert not list(home.data.glob("runs/*/shim.json"))
        assert not list(home.data.glob("state/*"))
        assert not (home.data / "demo-password").exists()
        assert ada.get(f"/api/models/{kept['modelId']}").status_code == 200
    demo.server.end()
    anew = up(home)
    assert anew.password != demo.password
    assert anew.link != demo.link
    anew.wait_until_alive()


def test_it_is_removed_without_a_server_with_all_it_left(home: Home) -> None:
    demo = up(home)
    demo.wait_until_alive()
    wait_for(lambda: len(processes(home)) == 2, 120)
    demo.server.end()
    running = processes(home)
    assert running, "SIGTERM leaves models running"
    assert list(home.data.glob("blobs/*"))
    ended = home.run("demo", "remove")
    assert ended.returncode == 0, ended.stderr
    assert "The demo is removed: 3 models" in ended.stdout
    assert not [pid for pid in running if lives(pid)]
    assert left(home) == {}
    for folder in ("blobs", "state", "versions"):
        assert not list((home.data / folder).glob("*")), folder
    assert not list(home.data.glob("demo-*"))
    assert home.refused("demo", "remove", exit_code=4) == (
        f"tapeline: There is no demo in {home.data}."
    )
    assert up(home).password != demo.password


def test_a_project_that_others_work_in_is_not_taken_from_them(home: Home) -> None:
    demo = up(home)
    home.run("user", "add", "ada@example.com", stdin=PASSWORD)
    path = f"/api/projects/{demo.project}"
    invited = demo.ask("POST", f"{path}/invitations", json={"role": "member"})["url"]
    with demo.server.client() as ada:
        said = {"email": "ada@example.com", "password": PASSWORD}
        ada.headers["token"] = ada.post("/auth/signin", json=said).json()["idToken"]
        secret = {"invitation": invited.rpartition("/")[2]}
        ada.post("/api/invitations/accept", json=secret).raise_for_status()
        assert "Demo, a project of the demo, has other members" in home.refused(
            "demo", "remove", exit_code=1
        )
        assert demo.sign_in().status_code == 200, "nothing was removed"
        me = ada.get("/api/me").json()["id"]
        demo.ask("PATCH", f"{path}/members/{me}", json={"role": "owner"})
        assert home.run("demo", "remove").returncode == 0
        assert ada.get(f"/api/projects/{demo.project}/models").json()["items"], "hers now"
