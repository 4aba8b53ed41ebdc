"""The wall clock of a real server jumps, through libfaketime, and nothing is measured by it."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from tests import needs
from tests.acceptance.conftest import PASSWORD, Home, Server
from tests.acceptance.traders import Trader, pythons
from tests.acceptance.wall_clock import WallClock
from tests.archives import zipped
from tests.waiting import wait_for

pytestmark = [pytest.mark.heavy, needs.root("needs a host where models run")]

QUARTER, HOUR, DAY = 900, 3600, 24 * 3600


class Jumping:
    """A server whose wall clock can be set, and a trader who notices."""

    def __init__(self, home: Home) -> None:
        self._clock = WallClock(home)
        self.server: Server = home.up_in(*self._clock.around, TAPELINE_PYTHONS=pythons()[0].path)
        self.trader = Trader(self.server)
        # The server ends idle connections, which a busy machine makes of any.
        self.trader.client.headers["connection"] = "close"

    def jump_to(self, seconds: int) -> None:
        self._clock.jump_to(seconds, self.server)


class Bot:
    """A model that runs elsewhere and pushes lines, each with a key of its own."""

    def __init__(self, trader: Trader) -> None:
        mine = {"projectId": trader.user_id}
        self.model = trader.post("/model/create-model", json=mine | {"name": "Bot"})["modelId"]
        key = trader.post("/project/generate-project-token", json=mine | {"name": "bot"})
        self._headers = {"api_key": key["apiKey"], "api_pass": key["apiPass"]}
        self._trader = trader

    def push(self, line: str) -> None:
        sent = self._headers | {"model_id": self.model, "Idempotency-Key": line}
        self._trader.post("/v1/live/log", json={"line": line}, headers=sent)


@pytest.fixture(scope="module")
def jumping(shared_home: Home) -> Iterator[Jumping]:
    made = Jumping(shared_home)
    yield made
    made.trader.client.close()


def test_a_screener_keeps_its_ticks_after_a_day_ahead_and_back(jumping: Jumping) -> None:
    minute = (time.gmtime().tm_min + 30) % 60  # not while we look
    archive = zipped(
        {"main.py": "print('screened')"},
        type="screener",
        screener={"schedule": f"{minute} * * * *"},
    )
    deployed = jumping.trader.deploy("", archive=archive, type="screener")
    model = deployed["modelId"]

    def runs() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = jumping.trader.get(f"/api/models/{model}/runs")["items"]
        return found

    def next_in() -> float:
        return float(runs()[0]["next_run_at"] or 0) - time.time()

    assert 0 <= next_in() <= HOUR
    jumping.jump_to(DAY)
    wait_for(lambda: next_in() > DAY - 1)
    jumping.trader.deploy("", archive=archive, model=model, type="screener")
    jumping.jump_to(0)
    wait_for(lambda: next_in() <= HOUR)
    deployed = jumping.trader.deploy("", archive=archive, model=model, type="screener")
    wait_for(lambda: runs()[1]["state"] == "stopped")
    # The newest, even if the one before was deployed tomorrow; and no tick came by a jump.
    assert [one["state"] for one in runs()] == ["pending", "stopped", "stopped"]
    assert runs()[0]["run_id"] == deployed["runId"]


def test_three_days_ahead_no_event_is_stored_twice_and_no_delay_is_over(jumping: Jumping) -> None:
    trader, bot = jumping.trader, Bot(jumping.trader)
    bot.push("once")
    link = trader.post(f"/api/models/{bot.model}/shares", json={"delay_hours": 24})
    jumping.jump_to(3 * DAY)
    bot.push("another")  # old answers are forgotten when a new one is stored
    bot.push("once")
    assert trader.get(f"/api/shared/{link['token']}/logs")["items"] == []
    jumping.jump_to(0)
    bot.push("once")
    bot.push("another")
    assert trader.lines(bot.model) == ["once", "another"]


def test_a_year_ahead_or_back_ends_no_session_invitation_or_pass(jumping: Jumping) -> None:
    trader, bot, word = jumping.trader, Bot(jumping.trader), {"password": PASSWORD}
    link = trader.post(f"/api/models/{bot.model}/shares", json=word)["token"]
    alpha = trader.post("/project/create", json={"name": "Alpha"})["projectId"]
    invited = trader.post(f"/api/projects/{alpha}/invitations", json={"role": "viewer"})
    with jumping.server.client() as browser:
        form = word | {"email": "ada@example.com"}
        own = {"Origin": jumping.server.address, "connection": "close"}
        assert browser.post("/auth/signin/form", data=form, headers=own).status_code in (200, 303)
        given = browser.post(f"/api/shared/{link}/pass", json=word).json()
        visitor = {"share-pass": given["pass"], "connection": "close"}
        for ahead in (365 * DAY, -365 * DAY, 0):
            jumping.jump_to(ahead)
            assert browser.get("/api/me", headers=own).status_code == 200
            assert browser.get(f"/api/shared/{link}/logs", headers=visitor).status_code == 200
            (open_one,) = trader.get(f"/api/projects/{alpha}/invitations")["items"]
            assert open_one["expires_at"] == pytest.approx(invited["expires_at"] + ahead, abs=5)


def test_a_wait_of_15_minutes_is_not_longer_when_the_clock_goes_back(
    jumping: Jumping, shared_home: Home
) -> None:
    said = {"email": "ada@example.com", "password": "wrong " + PASSWORD}

    def guess() -> httpx.Response:
        with jumping.server.client() as stranger:
            return stranger.post("/auth/signin", json=said)

    assert guess().status_code == 401
    with closing(sqlite3.connect(shared_home.data / "tapeline.db", timeout=30)) as database:
        database.execute("update attempts set count = 20000")  # as if many had been made
        database.commit()
    for ahead in (0, -HOUR):
        if ahead:
            jumping.jump_to(ahead)
        refused = guess()
        assert refused.status_code == 429, refused.text
        assert int(refused.headers["retry-after"]) <= QUARTER
    jumping.jump_to(0)


def test_a_jump_is_logged_and_shown_and_the_server_stays_ready(
    jumping: Jumping, shared_home: Home
) -> None:
    jumping.jump_to(DAY)
    assert "clock_jumped seconds=86400" in jumping.server.log
    wait_for(lambda: jumping.trader.client.get("/readyz").status_code == 200)
    rows = {one["name"]: one for one in jumping.trader.get("/api/health")["rows"]}
    assert rows["clock"]["state"] == "yellow"
    assert "jumped 24.0 hours ahead" in rows["clock"]["says"]
    assert "the clock of this machine jumped" in shared_home.run("doctor", "--json").stdout
