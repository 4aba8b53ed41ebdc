"""`tapeline logs -f` when its stream ends for good: it says why, and does not ask for ever."""

import json
import subprocess
from collections.abc import Iterator

import httpx
import pytest

from tests.cli.conftest import Person, until
from tests.waiting import SLOW_MACHINE

pytestmark = pytest.mark.heavy


@pytest.fixture
def follower(person: Person) -> Person:
    return person.signs_in()


@pytest.fixture
def client(follower: Person) -> Iterator[httpx.Client]:
    """The same account, with the token that the command keeps."""
    known = json.loads((follower.at / ".config/tapeline/credentials.json").read_text())
    (profile,) = known["servers"].values()
    with httpx.Client(
        base_url=profile["url"], headers={"token": profile["id_token"]}, verify=False
    ) as made:
        made.headers["refresh"] = profile["refresh_token"]
        made.headers["user"] = profile["user_id"]
        yield made


def a_model(client: httpx.Client, name: str) -> str:
    """With one line on its tape."""
    project = client.headers["user"]
    body = {"projectId": project, "name": name, "type": "strategy"}
    model: str = client.post("/model/create-model", json=body).json()["modelId"]
    key = client.post("/project/generate-project-token", json={"projectId": project, "write": True})
    headers = {
        "model_id": model,
        "api_key": key.json()["apiKey"],
        "api_pass": key.json()["apiPass"],
    }
    assert client.post("/v1/live/log", json={"line": "begun"}, headers=headers).is_success
    return model


def following(person: Person, model: str) -> "subprocess.Popen[str]":
    process = person.begins("logs", model, "-f")
    until(process, "begun")
    return process


def test_following_ends_with_the_model_and_with_the_sign_in(
    follower: Person, client: httpx.Client
) -> None:
    first, second = a_model(client, "First"), a_model(client, "Second")
    of_deleted, of_signed_out = following(follower, first), following(follower, second)
    body = {"projectId": client.headers["user"], "modelId": first}
    assert client.post("/model/delete", json=body).is_success
    _, said = of_deleted.communicate(timeout=SLOW_MACHINE)
    assert of_deleted.returncode == 4
    assert said == "tapeline: Model not found, or you do not have access to it.\n"
    assert of_signed_out.poll() is None
    signed_out = client.post("/auth/signout", json={"refreshToken": client.headers["refresh"]})
    assert signed_out.is_success
    _, said = of_signed_out.communicate(timeout=SLOW_MACHINE)
    assert of_signed_out.returncode == 3
    assert said.startswith("tapeline: The token for http://127.0.0.1:")
    assert said.endswith("is invalid or was revoked. Run: tapeline login\n")
