"""Projects, members, keys and secrets from the terminal."""

import httpx
import pytest

from tests.acceptance.conftest import PASSWORD
from tests.cli.conftest import Person, plain

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def model(ada: Person) -> str:
    """Never run: a model that only has a name."""
    folder = ada.at / "quiet"
    folder.mkdir()
    (folder / "main.py").write_text("print()\n")
    (folder / "platform.json").write_text('{"main_script": "main.py"}')
    return str(ada.gets("deploy", "quiet", "--new", "--detach")["modelId"])


def test_projects_are_made_used_and_deleted(ada: Person) -> None:
    made = ada.gets("projects", "new", "Research", "--description", "what if")
    assert ada.gets("whoami")["project"]["id"] == made["projectId"]
    assert {one["name"] for one in ada.gets("projects", "list")} >= {"Research", "Personal"}
    assert "*  Research" in ada.does("projects", "list")
    assert "now use project Personal" in ada.does("projects", "use", "personal"), "in any case"
    assert ada.gets("whoami")["project"]["name"] == "Personal"
    told = ada.gets("whoami", TAPELINE_PROJECT_ID=made["projectId"])
    assert told["project"]["name"] == "Research"
    assert "Research is deleted." in ada.does("projects", "rm", made["projectId"], "--yes")


def test_a_project_shows_what_it_takes_and_keeps_it_as_long_as_chosen(ada: Person) -> None:
    shown = ada.does("projects", "space")
    assert "always" in shown
    assert "use --yes" in ada.fails(2, "projects", "space", "--keep", "logs=30").lower()
    changed = ada.gets("projects", "space", "--keep", "logs=30", "--keep", "events=ever", "--yes")
    assert {one["kind"]: one["days"] for one in changed["items"]}["logs"] == 30
    assert "30 days" in ada.does("projects", "space")
    assert "KIND=DAYS" in ada.fails(2, "projects", "space", "--keep", "logs=soon")
    ada.does("projects", "space", "--keep", "logs=ever")


def test_members_are_invited_changed_and_removed(
    ada: Person, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ada.does("projects", "new", "Team")
    link = ada.does("members", "invite", "--role", "viewer").strip()
    assert link.startswith(f"{ada.server.address}/auth/invitation/")
    invitation = ada.gets("members", "invitations")[0]
    assert invitation["role"] == "viewer"
    assert invitation["id"] in ada.does("members", "invitations")
    grace = Person(tmp_path_factory.mktemp("grace") / "home", ada.server)
    signed_up = httpx.post(
        f"{ada.server.address}/auth/signup",
        json={
            "email": "grace@example.com",
            "password": PASSWORD,
            "invitation": ada.gets("members", "invite")["url"].rpartition("/")[2],
        },
        verify=False,
    )
    assert signed_up.status_code == 200, signed_up.text
    grace.does("login", "--server", ada.server.address, "--token", signed_up.json()["refreshToken"])
    assert "already" in grace.fails(1, "members", "join", link)
    assert "this takes an owner or admin" in grace.fails(
        1, "members", "invite", "--project", "Team"
    )
    assert "is admin now" in ada.does("members", "role", "grace@example.com", "admin")
    assert {one["email"]: one["role"] for one in ada.gets("members", "list")} == {
        "ada@example.com": "owner",
        "grace@example.com": "admin",
    }
    assert "grace@example.com" in ada.does("members", "list")
    ada.does("members", "rm", "grace@example.com", "--yes")
    assert "is not a member" in ada.fails(4, "members", "role", "grace@example.com", "viewer")
    assert "You are viewer of Team now." in grace.does("members", "join", link)
    second = ada.gets("members", "invite")
    ada.does("members", "withdraw", second["id"])
    assert "does not exist" in grace.fails(4, "members", "join", second["url"])
    ada.does("projects", "use", "Personal")


def test_keys_are_made_listed_and_deleted(ada: Person) -> None:
    told = ada.run("keys", "new", "--name", "laptop", "--read-only")
    assert "api_pass  " in told.stdout
    assert "shown only once" in told.stderr
    key = ada.gets("keys", "list")[0]
    assert (key["name"], key["read"], key["write"]) == ("laptop", True, False)
    assert "laptop" in ada.does("keys", "list")
    assert f"{key['id']} is deleted." in ada.does("keys", "rm", key["id"])
    assert "Key not found" in ada.fails(4, "keys", "rm", key["id"])


def test_secrets_come_from_standard_input_or_are_asked_for(ada: Person, model: str) -> None:
    ada.does("secrets", "set", "EXCHANGE_KEY", "--model", "quiet", stdin="line one\nline two\n")
    code, sent = ada.in_terminal("secrets", "set", "OTHER", "-m", model, types="hidden value\n")
    assert code == 0, sent
    assert "Value of OTHER" in plain(sent)
    assert {one["name"] for one in ada.gets("secrets", "list", "quiet")} == {
        "EXCHANGE_KEY",
        "OTHER",
    }
    listed = ada.does("secrets", "list", model)
    assert "OTHER" in listed
    assert "hidden" not in listed
    assert "OTHER is deleted" in ada.does("secrets", "rm", "OTHER", "-m", "quiet")
    assert "no secret with this name" in ada.fails(4, "secrets", "rm", "OTHER", "-m", "quiet")
    assert "empty" in ada.fails(2, "secrets", "set", "EMPTY", "-m", "quiet")
    assert "TAPELINE" in ada.fails(1, "secrets", "set", "TAPELINE_URL", "-m", "quiet", stdin="x")
