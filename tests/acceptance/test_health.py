"""What a load balancer, a monitor and a client with a wrong clock ask a running server."""

import time

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.acceptance.conftest import Server

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_it_says_that_it_is_well(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"


def test_it_tells_the_time_in_epoch_seconds(client: httpx.Client) -> None:
    before = time.time()
    answer = client.get("/time")
    assert list(answer.json()) == ["time"]
    assert before - 1 <= answer.json()["time"] <= time.time() + 1


def sample(client: httpx.Client, name: str, **labels: str) -> float:
    answer = client.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return sum(
        one.value
        for family in text_string_to_metric_families(answer.text)
        for one in family.samples
        if one.name == name and labels.items() <= one.labels.items()
    )


def test_its_metrics_count_requests_and_writes(client: httpx.Client) -> None:
    labels = {"method": "GET", "route": "/readyz", "status": "200"}
    requests = sample(client, "tapeline_requests_total", **labels)
    writes = sample(client, "tapeline_writes_total")
    for _ in range(3):
        client.get("/readyz")
    assert sample(client, "tapeline_requests_total", **labels) == requests + 3
    assert sample(client, "tapeline_writes_total") == writes + 3
    assert sample(client, "tapeline_writes_failed_total") == 0
    assert sample(client, "tapeline_writes_waiting") == 0
    assert sample(client, "process_resident_memory_bytes") > 0


def test_a_path_that_is_not_there_makes_no_series_of_its_own(client: httpx.Client) -> None:
    for number in range(3):
        assert client.get(f"/no/such/{number}").status_code == 404
    assert "/no/such" not in client.get("/metrics").text


def test_it_listens_on_this_machine_only(server: Server) -> None:
    assert server.address.startswith("http://127.0.0.1:")
