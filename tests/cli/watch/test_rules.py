"""`tapeline rules` and `tapeline incidents`, against a real server."""

import json

import pytest

from tests.cli.conftest import Person
from tests.waiting import wait_for

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def model(ada: Person) -> str:
    made = ada.gets("models", "new", "Watched")
    return str(made["modelId"])


def test_a_rule_from_its_making_to_its_end(ada: Person, model: str) -> None:
    made = ada.gets(
        "rules", "add", "Quiet", "--when", "no-event", "--for", "1s", "--model", model,
        "--severity", "critical", "--do", "tell",
    )  # fmt: skip
    assert (made["name"], made["severity"], made["for"]) == ("Quiet", "critical", "1s")
    wait_for(lambda: ada.gets("incidents", "list", "--state", "open"))
    (found,) = ada.gets("incidents", "list")
    assert "It has sent no event for" in found["said"]
    assert "Quiet" in ada.does("incidents")
    assert "firing" in ada.does("rules")
    assert "no-event for 1s" in ada.does("rules", "show", "Quiet")
    ada.does("incidents", "ack", found["incident_id"], "--note", "I am on it")
    shown = ada.does("incidents", "show", found["incident_id"])
    assert "acknowledged" in shown
    assert "I am on it" in shown
    ada.does("rules", "mute", "Quiet", "--for", "2h", "--why", "maintenance")
    assert "Muted by ada@example.com until" in ada.does("rules", "show", "Quiet")
    ada.does("rules", "mute", "Quiet", "--end")
    ada.does("rules", "rm", "Quiet", "--yes")
    assert ada.gets("incidents", "show", found["incident_id"])["state"] == "resolved"
    assert ada.gets("rules", "list", "--model", model) == []


def test_rules_from_a_file(ada: Person, model: str) -> None:
    rules = [
        {"name": "Down", "when": "not-running", "for": "5m"},
        {"name": "Crashes", "when": {"condition": "restarting", "within": "1h"}, "limit": 4},
    ]
    (ada.at / "rules.json").write_text(json.dumps(rules))
    made = ada.gets("rules", "add", "--file", "rules.json", "--model", model)
    assert [one["name"] for one in made] == ["Down", "Crashes"]
    refused = ada.fails(
        1, "rules", "add", "--file", "-", "--model", model, stdin=json.dumps(rules[0])
    )
    assert "Another rule here has this name" in refused
    for name in ("Down", "Crashes"):
        ada.does("rules", "rm", name, "--yes")


def test_what_is_wrong_is_said_in_one_sentence(ada: Person) -> None:
    assert "Did you mean no-event?" in ada.fails(1, "rules", "add", "x", "--when", "no-evnt")
    assert "needs a name and --when" in ada.fails(2, "rules", "add", "x")
    assert "KEY=VALUE" in ada.fails(
        2, "rules", "add", "x", "--when", "crashed", "--option", "within"
    )
    assert "either --for or --end" in ada.fails(2, "rules", "mute", "x")


def test_conditions_are_listed(ada: Person) -> None:
    said = ada.does("rules", "conditions")
    assert "no-heartbeat" in said
    assert {one["name"] for one in ada.gets("rules", "conditions")} >= {"crashed", "no-event"}
