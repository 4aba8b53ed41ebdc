"""`tapeline ps` costs the same few requests for one model and for many."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.acceptance.conftest import PASSWORD
from tests.cli.conftest import Person
from tests.cli.model.test_models import write_model
from tests.waiting import wait_for

pytestmark = pytest.mark.heavy

REQUEST = re.compile(r"^debug: (?:GET|POST) ", re.MULTILINE)


@pytest.fixture(scope="module")
def api(ada: Person) -> Iterator[httpx.Client]:
    account = {"email": "ada@example.com", "password": PASSWORD}
    answer = httpx.post(f"{ada.server.address}/auth/signin", json=account, verify=False).json()
    headers = {"token": answer["idToken"]}
    with httpx.Client(base_url=ada.server.address, headers=headers, verify=False) as client:
        yield client


def make_models(api: httpx.Client, project: str, count: int) -> None:
    for number in range(count):
        body = {"projectId": project, "name": f"Model {number}"}
        api.post("/model/create-model", json=body).raise_for_status()


def test_more_models_take_no_more_requests(ada: Person, api: httpx.Client) -> None:
    requests = []
    for name, count in (("Few", 1), ("Many", 40)):
        project = ada.gets("projects", "new", name)["projectId"]
        make_models(api, project, count)
        ended = ada.run("ps", "--project", name, "--debug")
        assert ended.stdout.count("Model ") == count
        requests.append(len(REQUEST.findall(ended.stderr)))
    assert requests[0] == requests[1] <= 4


def test_a_model_is_described_as_by_its_own_address(ada: Person, api: httpx.Client) -> None:
    write_model(ada.at / "described", "print('once')\n")
    made = ada.gets("deploy", "described", "--new", "--name", "Described")
    key = ada.gets("keys", "new", "--project", made["projectId"])
    headers = {
        "model-id": made["modelId"], "api-key": key["apiKey"], "api-pass": key["apiPass"],
    }  # fmt: skip
    for name, value in (("symbol", "BTC-USD"), ("symbol", "ETH-USD"), ("exchange", "kraken")):
        api.post(f"/v1/live/used-{name}", json={name: value}, headers=headers).raise_for_status()

    def alone() -> dict[str, Any]:
        answer: dict[str, Any] = api.get(f"/api/models/{made['modelId']}").json()
        return answer

    wait_for(lambda: (alone()["run"] or {}).get("state") == "exited")
    wait_for(lambda: alone()["lifecycle"]["message"] == "Exited")
    expected = alone()
    [listed] = [one for one in ada.gets("ps") if one["id"] == made["modelId"]]
    assert listed["run"].pop("model_id") == made["modelId"]
    # What it wrote in the current minute is forgotten as the minute ends.
    for usage in (expected["usage"], listed["usage"]):
        usage["pushed"].pop("used")
        usage["captured"].pop("used")
    assert expected == {name: listed[name] for name in expected}
    assert expected["symbols"] == ["BTC-USD", "ETH-USD"]
    assert expected["counts"]["used-symbol"] == 2
