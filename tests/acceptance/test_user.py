"""`tapeline user` and `tapeline keys` beside a running server: what they do counts at once."""

import json
import os
import pty
import select
import sqlite3
from contextlib import closing
from typing import Any

import httpx
import pytest

from tests import spawner
from tests.acceptance.conftest import PASSWORD, Home, Server
from tests.waiting import SLOW_MACHINE

pytestmark = pytest.mark.heavy

OTHER_PASSWORD = "another long password"


def sign_in(client: httpx.Client, email: str, password: str = PASSWORD) -> httpx.Response:
    return client.post("/auth/signin", json={"email": email, "password": password})


def add(home: Home, email: str, password: str = PASSWORD) -> None:
    added = home.run("user", "add", email, stdin=password + "\n")
    assert added.returncode == 0, added.stderr
    assert f"Added {email}" in added.stdout


def test_an_added_account_can_sign_in_at_once(shared_home: Home, client: httpx.Client) -> None:
    assert sign_in(client, "ada@example.com").status_code == 401
    add(shared_home, "ada@example.com")
    assert sign_in(client, "ada@example.com").status_code == 200
    again = shared_home.refused("user", "add", "ada@example.com", exit_code=1)
    assert "password" in again, "an empty password is refused first"


def test_a_password_is_asked_for_twice_and_never_shown(
    shared_home: Home, client: httpx.Client
) -> None:
    shown = at_a_terminal(
        shared_home, ["user", "add", "bob@example.com"], ["Password: ", "confirmation: "]
    )
    assert PASSWORD not in shown
    assert "Added bob@example.com" in shown
    assert sign_in(client, "bob@example.com").status_code == 200


def at_a_terminal(home: Home, arguments: list[str], questions: list[str]) -> str:
    """Run a command that sees a terminal; answer each question with the password."""
    ours, theirs = pty.openpty()
    process = spawner.start(
        arguments,
        (theirs, theirs, theirs),
        environment=home.environment | {"TERM": "dumb"},
        cwd=home.path,
        at_terminal=True,
    )
    os.close(theirs)
    shown = ""
    for question in questions:
        shown += _read_until(ours, question)
        os.write(ours, f"{PASSWORD}\n".encode())
    shown += _read_until(ours, None)
    os.close(ours)
    assert process.wait(SLOW_MACHINE) == 0, shown
    return shown


def _read_until(terminal: int, wanted: str | None) -> str:
    # Up to the last character: what is typed before the echo is off would be thrown away.
    shown = ""
    while wanted is None or wanted not in shown:
        assert select.select([terminal], [], [], SLOW_MACHINE)[0], f"it waits after: {shown}"
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # how Linux says that the other side is closed
            break
        if not piece:
            break
        shown += piece.decode()
    return shown


def test_accounts_are_listed_for_people_and_for_programs(shared_home: Home) -> None:
    add(shared_home, "carol@example.com")
    listed = shared_home.run("user", "list").stdout
    assert "carol@example.com" in listed
    rows = [
        json.loads(line) for line in shared_home.run("user", "list", "--json").stdout.splitlines()
    ]
    (carol,) = [row for row in rows if row["email"] == "carol@example.com"]
    assert carol.keys() == {"id", "email", "name", "created_at", "disabled"}
    assert carol["name"] == "carol"
    assert carol["disabled"] is False


def test_a_name_of_an_earlier_version_cannot_forge_or_hide_rows_of_the_list(
    shared_home: Home,
) -> None:
    add(shared_home, "mallory@example.com")
    before = shared_home.run("user", "list").stdout
    with closing(sqlite3.connect(shared_home.data / "tapeline.db", timeout=SLOW_MACHINE)) as tables:
        name = "m\nforged  row\x1b[1A\x1b[2K\x9b2K\u202e"
        tables.execute("UPDATE users SET name = ? WHERE email = 'mallory@example.com'", [name])
        tables.commit()
    listed = shared_home.run("user", "list").stdout
    assert len(listed.splitlines()) == len(before.splitlines())
    assert "mallory@example.com  mforged  row[1A[2K2K\n" in listed
    told = shared_home.run("user", "list", "--json").stdout
    assert name in [json.loads(line)["name"] for line in told.splitlines()]
    assert "\x9b" not in told


def test_a_new_password_counts_and_ends_what_was_signed_in(
    shared_home: Home, client: httpx.Client
) -> None:
    add(shared_home, "dan@example.com")
    signed_in = sign_in(client, "dan@example.com").json()
    changed = shared_home.run("user", "passwd", "dan@example.com", stdin=OTHER_PASSWORD + "\n")
    assert "1 sign-ins ended" in changed.stdout
    assert sign_in(client, "dan@example.com").status_code == 401
    assert sign_in(client, "dan@example.com", OTHER_PASSWORD).status_code == 200
    headers = {"token": signed_in["idToken"]}
    assert client.get("/project/list", headers=headers).status_code == 401


def test_a_disabled_account_is_out_at_once_and_in_again_when_enabled(
    shared_home: Home, client: httpx.Client
) -> None:
    add(shared_home, "eve@example.com")
    token = {"token": sign_in(client, "eve@example.com").json()["idToken"]}
    assert client.get("/project/list", headers=token).status_code == 200
    assert "is disabled" in shared_home.run("user", "disable", "eve@example.com").stdout
    assert client.get("/project/list", headers=token).status_code in {401, 403}
    assert sign_in(client, "eve@example.com").status_code in {401, 403}
    assert "eve  disabled" in shared_home.run("user", "list").stdout
    assert "is enabled" in shared_home.run("user", "enable", "eve@example.com").stdout
    assert sign_in(client, "eve@example.com").status_code == 200


def test_a_rotated_key_signs_at_once_and_old_tokens_stay_valid(
    shared_home: Home, client: httpx.Client
) -> None:
    add(shared_home, "fay@example.com")
    old = sign_in(client, "fay@example.com").json()["idToken"]
    assert "New key for idTokens: " in shared_home.run("keys", "rotate").stdout
    new = sign_in(client, "fay@example.com").json()["idToken"]
    assert old.split(".")[0] != new.split(".")[0], "the header names the key"
    for token in (old, new):
        assert client.get("/project/list", headers={"token": token}).status_code == 200
    keys = list((shared_home.data / "keys").glob("*.id-token.key"))
    assert len(keys) == 2
    assert all(key.stat().st_mode & 0o077 == 0 for key in keys)


@pytest.mark.parametrize("command", ["passwd", "disable", "enable"])
def test_an_unknown_account_is_said(shared_home: Home, server: Server, command: str) -> None:
    ended = shared_home.run("user", command, "nobody@example.com", stdin=PASSWORD)
    assert ended.returncode == 1
    assert "no account with this email address" in ended.stderr


@pytest.mark.parametrize(
    "command",
    [["user", "list"], ["user", "disable", "ada@example.com"], ["keys", "rotate"]],
    ids=" ".join,
)
def test_a_misspelt_directory_does_not_become_a_new_one(home: Home, command: list[str]) -> None:
    said = home.refused(*command, "--data", "misspelt", exit_code=1)
    assert f"There is no Tapeline in {home.path / 'misspelt'}" in said
    assert not (home.path / "misspelt").exists()


def test_an_account_is_added_to_an_installation_that_is_there(home: Home) -> None:
    """A misspelt directory must not become a second, empty installation."""
    assert "There is no Tapeline in" in home.refused("user", "add", "ada@example.com", exit_code=1)
    assert not home.data.exists()
    home.up().end()
    add(home, "ada@example.com")  # whether it runs or not
    server = home.up()
    assert "first account" not in server.said
    with server.client() as client:
        assert sign_in(client, "ada@example.com").status_code == 200


def test_a_new_key_for_secrets_leaves_them_and_remembered_answers_readable(home: Home) -> None:
    server = home.up()
    add(home, "ada@example.com")
    with server.client() as client:
        client.headers["token"] = sign_in(client, "ada@example.com").json()["idToken"]
        project = client.get("/project/list").json()[0]["id"]
        sent: dict[str, Any] = {
            "json": {"projectId": project, "name": "x"},
            "headers": {"Idempotency-Key": "k"},
        }
        made = client.post("/model/create-model", **sent)
        secret = f"/api/models/{made.json()['modelId']}/secrets/EXCHANGE_KEY"
        assert client.put(secret, json={"value": "hidden"}).status_code == 200
        for _ in range(2):
            rotated = home.run("keys", "rotate-store")
            assert rotated.returncode == 0, rotated.stderr
            assert "Secrets re-encrypted: 1." in rotated.stdout
        assert client.get(secret).status_code == 200
        assert client.post("/model/create-model", **sent).content == made.content
        assert client.put(secret, json={"value": "changed"}).status_code == 200


def test_operators_have_scripts_too(shared_home: Home) -> None:
    def said(*arguments: str) -> dict[str, Any]:
        ended = shared_home.run("user", *arguments, "--json", stdin=PASSWORD + "\n")
        assert ended.returncode == 0, ended.stderr
        found: dict[str, Any] = json.loads(ended.stdout)
        return found

    assert said("add", "zoe@example.com")["email"] == "zoe@example.com"
    assert said("passwd", "zoe@example.com")["ended_sign_ins"] == 0
    assert said("disable", "zoe@example.com")["disabled"] is True
    assert said("enable", "zoe@example.com")["disabled"] is False
    assert json.loads(shared_home.run("keys", "rotate", "--json").stdout)["key_id"]
    assert json.loads(shared_home.run("keys", "rotate-store", "--json").stdout)["secrets"] == 0
    version = shared_home.run("version").stdout.strip()
    assert json.loads(shared_home.run("version", "--json").stdout) == {"version": version}
