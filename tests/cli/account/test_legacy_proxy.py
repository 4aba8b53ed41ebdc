"""`tapeline legacy-proxy` runs clients of the older platform against our server, unchanged."""

import base64
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tapeline.runs.engines.older_hosts import HOSTS
from tests.acceptance.conftest import Server
from tests.acceptance.traders import Trader
from tests.cli.conftest import Person
from tests.waiting import SLOW_MACHINE, wait_for

pytestmark = pytest.mark.heavy

# As the clients do it: by `requests`, to hosts that cannot be chosen. What it trusts otherwise
# must not be lost.
ASK = """
import json, os, sys, requests
url, fields, headers, size = json.loads(sys.argv[1])
files = {"model": ("model.zip", b"x" * size)} if size else None
answer = (requests.post if fields is not None else requests.get)(
    url, **({"data": fields} if fields is not None else {}), headers=headers, files=files)
print(json.dumps([answer.status_code, answer.headers["content-type"], answer.json()]))
"""


@pytest.fixture(scope="module")
def trader(server: Server) -> Iterator[Trader]:
    trader = Trader(server)
    yield trader
    trader.client.close()


def through(
    person: Person, *command: str, server: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    where = server or person.server.address
    return person.run("legacy-proxy", "--server", where, "--", *command, **variables)


def ask(
    person: Person, url: str, fields: object = None, server: str = "", size: int = 0, **headers: str
) -> tuple[int, dict[str, object]]:
    said = json.dumps([url, fields, headers, size])
    ended = through(person, sys.executable, "-c", ASK, said, server=server)
    assert ended.returncode == 0, ended.stderr
    status, kind, answer = json.loads(ended.stdout)
    assert kind == "application/json"
    return status, answer


def test_each_host_is_the_server(person: Person, trader: Trader) -> None:
    for host in HOSTS:
        status, answer = ask(person, f"https://{host}/time")
        assert (status, list(answer)) == (200, ["time"])
    status, answer = ask(
        person, f"https://{HOSTS[1]}/auth/token", {"refreshToken": trader.refresh_token}
    )
    assert (status, answer["status"]) == (200, "success"), "no foreign Host is seen by the server"


@pytest.mark.older_client("slate", "on your own computer, by `tapeline legacy-proxy`")
def test_events_arrive_with_their_headers(person: Person, trader: Trader) -> None:
    model = trader.post(
        "/model/create-model", data={"projectId": trader.user_id, "type": "strategy", "name": "One"}
    )["modelId"]
    made = trader.post("/project/generate-project-token", data={"projectId": trader.user_id})
    keys = {"model_id": model, "api_key": made["apiKey"], "api_pass": made["apiPass"]}
    order = {"symbol": "AAPL", "exchange": "alpaca", "id": "o1", "side": "buy", "size": 1}
    url = f"https://{HOSTS[0]}/v1/live/spot-market"
    assert ask(person, url, order, **keys, time="1600000000.5") == (200, {"status": "success"})
    (found,) = trader.get(f"/api/models/{model}/orders")["items"]
    assert (found["id"], found["time"]) == ("o1", 1600000000.5)


def test_uploads_of_any_size_pass(person: Person, trader: Trader) -> None:
    fields = {"createNew": "true", "name": "Large"}
    token = str(trader.client.headers["token"])
    url = f"https://{HOSTS[1]}/model/deploy"
    status, answer = ask(person, url, fields, size=20_000_000, token=token)
    assert status == 400
    assert "zip" in str(answer["error"])


def test_a_server_that_is_down_is_said_in_the_shape_that_clients_print(person: Person) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
    status, answer = ask(person, f"https://{HOSTS[1]}/project/list", server=nobody)
    assert status == 502
    assert nobody in str(answer["error"])


def test_the_commands_status_is_ours_and_what_it_lacks_is_said(person: Person) -> None:
    assert through(person, sys.executable, "-c", "raise SystemExit(7)").returncode == 7
    ended = through(person, "no-such-program")
    assert ended.returncode == 1
    assert "no-such-program could not be started" in ended.stderr
    ended = through(person, "true", HTTPS_PROXY="http://proxy.example.com:3128")
    assert ended.returncode == 1
    assert "HTTPS_PROXY is set" in ended.stderr


def test_pages_are_opened_on_the_server(person: Person) -> None:
    """The older command opens its sign-in page by Python's own `webbrowser`."""
    opened = person.at / "opened"
    fake = person.at / "bin" / "www-browser"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    fake.chmod(0o755)
    code = (
        f"import webbrowser; webbrowser.open('https://{HOSTS[2]}/auth/signin?redirectUrl=/deploy')"
    )
    path = f"{fake.parent}:{os.defpath}"
    through(person, sys.executable, "-c", code, PATH=path, DISPLAY="")
    wait_for(opened.exists)
    wait_for(lambda: opened.read_text().strip() != "")
    expected = f"{person.server.address}/auth/signin?redirectUrl=/deploy"
    assert opened.read_text().strip() == expected


@pytest.fixture
def proxy(person: Person) -> Iterator[dict[str, str]]:
    """One that runs by itself; the variables it names."""
    command = person.home.command("legacy-proxy", "--server", person.server.address, "--json")
    with subprocess.Popen(
        command, env=person.environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            line = process.stdout.readline()
            assert line, text
            text += line
        yield json.loads(text)
        process.send_signal(signal.SIGINT)
        process.wait(SLOW_MACHINE)


def test_by_itself_it_serves_who_knows_its_password_and_lets_others_through_unread(
    proxy: dict[str, str],
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK, json.dumps([f"https://{HOSTS[0]}/time", None, {}, 0])],
        env={"PATH": os.defpath} | proxy,
        capture_output=True,
        text=True,
        check=False,
        timeout=SLOW_MACHINE,
    )
    assert done.returncode == 0, done.stderr
    told = urlsplit(proxy["HTTPS_PROXY"])
    key = base64.b64encode(f"{told.username}:{told.password}".encode()).decode()
    right = f"Proxy-Authorization: Basic {key}\r\n"
    where = (told.hostname, told.port)
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        target = f"127.0.0.1:{elsewhere.getsockname()[1]}"
        with socket.create_connection(where, timeout=SLOW_MACHINE) as wire:
            wire.sendall(f"CONNECT {target} HTTP/1.1\r\n{right}\r\n".encode())
            accepted, _ = elsewhere.accept()
            assert b" 200 " in wire.recv(1000)
            with accepted:
                wire.sendall(b"question")
                wire.shutdown(socket.SHUT_WR)
                assert accepted.makefile("rb").read() == b"question"
                accepted.sendall(b"answer")
            assert wire.makefile("rb").read() == b"answer"
    for wrong in ("", "Proxy-Authorization: Basic d3Jvbmc=\r\n"):
        with socket.create_connection(where, timeout=SLOW_MACHINE) as wire:
            wire.sendall(f"CONNECT {HOSTS[0]}:443 HTTP/1.1\r\n{wrong}\r\n".encode())
            assert wire.recv(1000).split()[1] == b"407"
