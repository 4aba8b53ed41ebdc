"""Keys that are rotated on one server of an installation, while others run."""

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import create_engine, make_url

from tapeline.runs import shared_keys
from tapeline.store import encryption, facts
from tests.acceptance.installation import Member, installation
from tests.waiting import wait_for


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, postgres_server: str) -> Iterator[list[Member]]:
    """Each with a copy of the keys, as on two machines."""
    folder = tmp_path_factory.mktemp("pair")
    with installation(folder, postgres_server, copy_keys=True) as made:
        yield made


def keys_of(member: Member) -> dict[str, bytes]:
    folder = member.server.home.data / "keys"
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}


def red(member: Member) -> list[str]:
    """What its check of keys says, if it is red."""
    rows = member.trader.get("/api/health")["rows"]
    return [one["says"] for one in rows if one["name"] == "keys" and one["state"] == "red"]


def push(member: Member, model: str, key: dict[str, str]) -> None:
    headers = {"model_id": model, "api_key": key["apiKey"], "api_pass": key["apiPass"]}
    answer = httpx.post(
        f"{member.server.address}/v1/live/log",
        json={"line": "x"},
        headers=headers,
        verify=False,
    )
    assert answer.status_code == 200, answer.text


def token_of(member: Member) -> str:
    """A new idToken, signed by this server."""
    said = member.trader.post("/auth/token", json={"refreshToken": member.trader.refresh_token})
    return str(said["idToken"])


def is_taken(member: Member, token: str) -> bool:
    answer = httpx.get(
        f"{member.server.address}/project/list", headers={"token": token}, verify=False
    )
    return answer.status_code == 200


def is_offered(member: Member) -> bool:
    engine = create_engine(make_url(member.database).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        found = facts.get(connection, shared_keys.NAME)
    engine.dispose()
    return found is not None


def test_all_servers_sign_with_keys_that_were_rotated_on_one(
    pair: list[Member], tmp_path: Path
) -> None:
    first, second = pair
    before = keys_of(second)
    project = first.trader.user_id
    model = first.trader.post(
        "/model/create-model", json={"projectId": project, "name": "Pushed", "description": ""}
    )["modelId"]
    key = first.trader.post("/project/generate-project-token", json={"projectId": project})
    for one in pair:
        push(one, model, key)
    rotated = second.server.home.run("keys", "rotate")
    assert rotated.returncode == 0, rotated.stderr
    signed = token_of(second)
    wait_for(lambda: is_taken(first, signed))
    wait_for(lambda: keys_of(first)["tape-signing.key"] != before["tape-signing.key"])
    names = {"tape-signing.key", "tape-keys.json"}
    assert {name: keys_of(first)[name] for name in names} == {
        name: keys_of(second)[name] for name in names
    }
    assert is_taken(second, token_of(first))
    for one in pair:
        push(one, model, key)
        record = one.trader.client.get(f"/api/models/{model}/record")
        (tmp_path / "record").write_bytes(record.content)
        for server in pair:
            checked = one.server.home.run(
                "verify", str(tmp_path / "record"), "--server", server.server.address
            )
            assert checked.returncode == 0, checked.stdout + checked.stderr
    wait_for(lambda: not is_offered(first))
    for one in pair:
        wait_for(lambda one=one: not red(one))


def test_a_key_that_does_not_travel_is_told_on_both_until_it_is_copied(pair: list[Member]) -> None:
    file, other = (one.server.home.data / "keys" / encryption.NAME for one in pair)
    rotated = pair[0].command("keys", "rotate-store")
    assert rotated["to_copy_to"] == [socket.gethostname()]
    for one in pair:
        wait_for(lambda one=one: any("have other keys" in said for said in red(one)))
        assert "store.key (encrypts secrets)" in red(one)[0]
    shutil.copy(file, other)
    for one in pair:
        wait_for(lambda one=one: not red(one))
