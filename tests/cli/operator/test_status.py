"""`tapeline status`: the health of a server, and what its machine shows when it is down."""

import json

import pytest

from tapeline.health.checklist import CHECKS
from tests.acceptance.conftest import Home
from tests.cli.conftest import Person

pytestmark = pytest.mark.heavy


def test_the_operator_sees_every_check(ada: Person) -> None:
    """Whatever the machine of the tests looks like: red, as on a busy one, is status 1."""
    asked = ada.run("status", "--json")
    assert list(states(asked.stdout)) == [check.name for check in CHECKS]
    assert asked.returncode == ("red" in states(asked.stdout).values())
    shown = ada.run("status").stdout
    assert all(check.name in shown for check in CHECKS)


def test_a_server_that_is_down_is_said_to_be_down(used_home: Home) -> None:
    server = used_home.up()
    added = used_home.run("user", "add", "ada@example.com", stdin="correct horse battery")
    assert added.returncode == 0, added.stderr
    asked = used_home.run("status", "--json")
    assert (asked.returncode, states(asked.stdout)["server"]) == (3, "green")
    assert f"tapeline login --server {server.address}" in asked.stderr
    server.end()
    asked = used_home.run("status", "--json", TAPELINE_URL=server.address, TAPELINE_TOKEN="any")
    assert (asked.returncode, states(asked.stdout)["server"]) == (5, "red")
    assert states(asked.stdout)["database"] == "green"


def test_a_directory_without_a_server_is_not_called_one(home: Home) -> None:
    said = home.refused("status", "--data", str(home.path / "nothing"), exit_code=1)
    assert "There is no Tapeline in" in said


def states(answer: str) -> dict[str, str]:
    return {row["name"]: row["state"] for row in json.loads(answer)["rows"]}
