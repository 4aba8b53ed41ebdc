"""`tapeline move`: an installation goes on on PostgreSQL as if nothing had happened, and back."""

import re
import signal
import sqlite3
from contextlib import closing

import pytest

from tapeline.ids import new_id
from tests.acceptance.conftest import Home
from tests.acceptance.traders import Trader, pythons
from tests.commands import commands_of
from tests.conftest import database_url, run_sql

LIVE = "import time\nwhile True:\n    print('alive', flush=True)\n    time.sleep(0.5)\n"


@pytest.fixture
def home(used_home: Home) -> Home:
    return used_home


@pytest.fixture
def url(postgres_server: str) -> str:
    """An empty database of a real PostgreSQL."""
    name = f"t_{new_id()}"
    run_sql(postgres_server, f"create database {name}")
    return database_url(postgres_server, name)


def push(trader: Trader, headers: dict[str, str], line: str) -> None:
    trader.post("/v1/live/log", json={"line": line}, headers=headers)


def new_model(trader: Trader) -> dict[str, str]:
    mine = {"projectId": trader.user_id}
    model = trader.post("/model/create-model", json=mine | {"name": "My bot", "type": "strategy"})
    key = trader.post("/project/generate-project-token", json=mine | {"name": "bot"})
    return {"model_id": model["modelId"], "api_key": key["apiKey"], "api_pass": key["apiPass"]}


@pytest.mark.heavy
def test_an_installation_moves_with_a_model_that_runs(home: Home, url: str) -> None:
    everywhere = {"TAPELINE_PYTHONS": ",".join(one.path for one in pythons())}
    server = home.up(**everywhere, TAPELINE_STOP_SECONDS="2")
    trader = Trader(server)
    headers = new_model(trader)
    push(trader, headers, "on SQLite")
    order = {"id": "1", "symbol": "BTC-USD", "exchange": "x", "side": "buy", "size": 1, "price": 5}
    trader.post("/v1/live/spot-limit", json=order, headers=headers)
    deployed = trader.deploy(LIVE)
    trader.wait_for_line(deployed["modelId"], "alive")
    assert "already running" in home.refused("move", url, exit_code=1)
    server.end(signal.SIGTERM)  # the model goes on

    there, back = (
        re.sub(r"postgresql://\S+", url, command).split()[1:]
        for command in commands_of("how-to/postgresql.md")
    )
    moved = home.run(*there)
    assert moved.returncode == 0, moved.stderr
    assert re.search(r"Moved [\d,]+ rows .* checked 2 tapes", moved.stdout), moved.stdout
    assert "was moved to" in home.refused(*there, exit_code=1)

    server = home.up("--database", url, **everywhere, TAPELINE_STOP_SECONDS="2")
    trader.meet(server)
    assert "already running" in home.refused(*back, exit_code=1)
    assert trader.lines(headers["model_id"]) == ["on SQLite"]
    push(trader, headers, "on PostgreSQL")
    assert trader.run(deployed["modelId"], deployed["runId"])["state"] == "running"
    record = trader.client.get(f"/api/models/{headers['model_id']}/record").content
    (home.path / "record.ndjson").write_bytes(record)
    checked = home.run("verify", "record.ndjson", "--server", server.address)
    assert checked.returncode == 0, checked.stdout
    server.end(signal.SIGINT)

    assert f"was moved to {moved.stdout.split(' rows to ')[1].split(',')[0]}" in home.refused(
        "up", exit_code=1
    )
    (home.data / "tapeline.db").rename(home.data / "old.db")
    returned = home.run(*back, "--json")
    assert returned.returncode == 0, returned.stderr
    server = home.up(**everywhere, TAPELINE_STOP_SECONDS="2")
    trader.meet(server)
    assert trader.lines(headers["model_id"]) == ["on SQLite", "on PostgreSQL"]
    trader.client.close()
    server.end(signal.SIGINT)


@pytest.mark.heavy
def test_nothing_moves_beside_a_server_elsewhere_or_with_a_broken_tape(
    home: Home, url: str
) -> None:
    server = home.up()
    trader = Trader(server)
    headers = new_model(trader)
    push(trader, headers, "one")
    trader.client.close()
    server.end()
    other = Home(home.path / "other")
    other.path.mkdir()
    elsewhere = other.up("--database", url)
    try:
        assert "A server is using" in home.refused("move", url, exit_code=1)
    finally:
        elsewhere.end()
        other.close()

    with closing(sqlite3.connect(home.data / "tapeline.db")) as database, database:
        (page,) = database.execute("select content from pages").fetchone()
        database.execute("update pages set content = ?", (page.replace(b"one", b"two"),))
    broken = home.run("move", url)
    assert broken.returncode == 1
    assert "is broken at event 1" in broken.stderr.splitlines()[-1]
    kept = home.run("move", url, "--keep-broken")
    assert kept.returncode == 0, kept.stderr
