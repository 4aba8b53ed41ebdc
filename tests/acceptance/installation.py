"""Several servers on one PostgreSQL, as one installation: made for a test, and what they say."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tapeline.ids import new_id
from tests.acceptance.conftest import Home, Server
from tests.acceptance.traders import Trader, pythons
from tests.conftest import database_url, run_sql
from tests.waiting import wait_for

TOKEN = "m" * 32
NAMES = ("first", "second", "third")


@dataclass
class Member:
    """One of the servers, with a person who is signed in to it."""

    server: Server
    trader: Trader
    database: str

    @property
    def name(self) -> str:
        return (self.server.home.data / "host").read_text().split()[0]

    def command(self, *words: str) -> Any:
        done = self.server.home.run(*words, "--json", "--database", self.database)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def hosts(self) -> dict[str, dict[str, Any]]:
        return {one["host"]: one for one in self.command("hosts")}

    def newest(self, model: str) -> dict[str, Any]:
        found: dict[str, Any] = self.trader.get(f"/api/models/{model}/runs")["items"][0]
        return found

    def leads(self) -> bool:
        headers = {"authorization": f"Bearer {TOKEN}"}
        page = self.trader.client.get("/metrics", headers=headers)
        return "tapeline_leads 1.0" in page.text


@contextmanager
def installation(
    folder: Path,
    postgres_server: str,
    count: int = 2,
    each: Sequence[Mapping[str, str]] = (),
    *,
    copy_keys: bool = False,
) -> Iterator[list[Member]]:
    """Servers with the same keys and blobs, each with a data directory of its own, and with the
    variables that are given for `each` of them."""
    name = f"t_{new_id()}"
    run_sql(postgres_server, f"create database {name}")
    database = database_url(postgres_server, name)
    shared = {
        "TAPELINE_DATABASE": database,
        "TAPELINE_BLOBS": f"file://{folder}/blobs",
        "TAPELINE_METRICS_TOKEN": TOKEN,
        "TAPELINE_STOP_SECONDS": "2",
    }
    each = each or [{"TAPELINE_PYTHONS": pythons()[0].path}] * count
    (folder / "blobs").mkdir()
    homes = [Home(folder / one) for one in NAMES[:count]]
    members = list[Member]()
    try:
        for number, home in enumerate(homes):
            home.path.mkdir()
            home.data.mkdir(mode=0o700)
            if members:
                keys = members[0].server.home.data / "keys"
                put = partial(shutil.copytree, keys) if copy_keys else partial(os.symlink, keys)
                put(home.data / "keys")
            server = home.up(**shared, **each[number])
            members.append(Member(server, Trader(server), database))
        yield members
    finally:
        for member in members:
            member.trader.client.close()
        for home in homes:
            home.close()


def holder_and_other(pair: list[Member], model: str) -> tuple[Member, Member]:
    """The one whose host has the run, and the other."""
    wait_for(lambda: pair[0].newest(model)["state"] == "running")
    where = pair[0].newest(model)["host"]
    first, second = sorted(pair, key=lambda one: one.name != where)
    assert first.name == where
    return first, second
