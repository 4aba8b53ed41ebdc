"""A stop on a node that cannot be told: the end of its lease carries it out."""

import re

import pytest
from sqlalchemy import Connection, update

from tapeline.runs import described_hosts, heartbeat
from tapeline.runs.described_hosts import Description
from tapeline.store import facts
from tapeline.store.backends import common_time
from tapeline.store.tables.runs import runs
from tests.conftest import Cast, Service
from tests.http.deployment.uploading import deployed


@pytest.mark.databases("postgresql")
def test_a_stop_that_a_lease_carries_out_is_a_success(service: Service, cast: Cast) -> None:
    made = deployed(cast.owner)

    def launch(connection: Connection) -> None:
        described_hosts.describe(connection, Description("n1", "m", "1", node="{}"))
        now = common_time.now(connection)
        facts.put(connection, heartbeat.BEAT + "n1", repr(now + 600))
        lease = {"host": "n1", "fence": 1, "state": "running", "lease_until": now + 600}
        connection.execute(update(runs).values(lease))
        described_hosts.tell_of_unmet(connection, ["n1"])

    service.store.write_now(launch)
    path = f"/api/models/{made['modelId']}/runs/{made['runId']}"
    assert "It lives on at its node n1" in cast.owner.get(path).json()["trouble"]
    said = cast.owner.post("/model/kill", json={"modelId": made["modelId"]})
    assert (said.status_code, said.json()["status"]) == (200, "success"), said.text
    assert cast.owner.post(f"{path}/stop").status_code == 200
    shown = cast.owner.get(path).json()
    assert (shown["state"], shown["trouble"]) == ("stopping", None)
    within = r"It ends with its lease, within (60[01]|[1-5]\d\d) seconds"
    assert re.match(within, shown["reason"]), shown["reason"]
