"""What a load balancer, a monitor and a client with a wrong clock ask a running server."""

import time

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.acceptance.conftest import Home, Server

pytestmark = pytest.mark.heavy

TOKEN = "let Prometheus in"
SCRAPE = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def server(shared_home: Home) -> Server:
    return shared_home.up(TAPELINE_METRICS_TOKEN=TOKEN)


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
    answer = client.get("/metrics", headers=SCRAPE)
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
    for number in range(3):
        client.get("/readyz")
        account = {"email": f"{number}@example.com", "password": "none of these"}
        client.post("/auth/signin", json=account)
    assert sample(client, "tapeline_requests_total", **labels) == requests + 3
    assert sample(client, "tapeline_writes_total") >= writes + 3
    assert sample(client, "tapeline_writes_failed_total") == 0
    assert sample(client, "tapeline_writes_waiting") == 0
    assert sample(client, "process_resident_memory_bytes") > 0


@pytest.mark.parametrize(
    "sent", [None, "", TOKEN, f"Basic {TOKEN}", "Bearer", "Bearer wrong", "Bearer \xe9"]
)
def test_its_metrics_are_for_those_who_send_the_token(
    client: httpx.Client, sent: str | None
) -> None:
    headers = {} if sent is None else {b"Authorization": sent.encode("latin-1")}
    refused = client.get("/metrics", headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (401, "wrong_metrics_token")


def test_without_a_token_there_are_no_metrics(home: Home) -> None:
    with home.up().client() as client:
        for headers in ({}, {"Authorization": "Bearer"}, SCRAPE):
            missing = client.get("/metrics", headers=headers)
            assert (missing.status_code, missing.json()["code"]) == (404, "no_such_page")


def test_a_path_that_is_not_there_makes_no_series_of_its_own(client: httpx.Client) -> None:
    for number in range(3):
        assert client.get(f"/no/such/{number}").status_code == 404
    assert "/no/such" not in client.get("/metrics", headers=SCRAPE).text


def test_it_listens_on_this_machine_only(server: Server) -> None:
    assert server.address.startswith("http://127.0.0.1:")
