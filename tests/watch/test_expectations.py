"""What a version expects of itself travels with it: rules that people may tighten, not weaken."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Connection

from tapeline.errors import InvalidManifest
from tapeline.watch.incidents import expecting
from tapeline.watch.rules import expectations
from tests.archives import zipped
from tests.conftest import Person, Service
from tests.pushing import Model, pushing

QUIET = {"name": "quiet", "when": "no-event", "for": "1h", "do": ["tell"]}
OFTEN = {"name": "often", "when": {"condition": "restarting", "within": "1h"}, "limit": 5}


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def deploy(model: Model, *expected: dict[str, Any]) -> None:
    """What the deployment of a version does in its transaction."""

    def act(connection: Connection) -> None:
        expecting.apply(connection, model.owner.actor, model.project_id, model.id, expected)

    model.service.store.write_now(act)


def rules(model: Model) -> dict[str, dict[str, Any]]:
    answer = model.owner.get(f"/api/projects/{model.project_id}/rules", params={"model": model.id})
    return {one["name"]: one for one in answer.json()["items"]}


def change(model: Model, name: str, more: dict[str, Any], status: int = 200) -> Any:
    rule = rules(model)[name]["rule_id"]
    answer = model.owner.patch(f"/api/rules/{rule}", json=more)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_rules_come_and_go_with_the_version(model: Model) -> None:
    deploy(model, QUIET, OFTEN)
    assert {one["source"] for one in rules(model).values()} == {"version"}
    first = rules(model)["quiet"]["rule_id"]
    deploy(model, QUIET | {"for": "2h"})
    assert set(rules(model)) == {"quiet"}
    assert (rules(model)["quiet"]["rule_id"], rules(model)["quiet"]["for"]) == (first, "2h")
    deploy(model)
    assert rules(model) == {}
    audit = model.owner.get(f"/api/projects/{model.project_id}/audit").json()["items"]
    assert [one["action"] for one in audit[:3]] == ["rule_deleted", "rule_changed", "rule_deleted"]


def test_people_tighten_and_mute_what_is_expected_and_never_weaken_it(model: Model) -> None:
    deploy(model, QUIET, OFTEN)
    assert change(model, "quiet", {"for": "10m"})["is_tightened"]
    change(model, "quiet", {"severity": "critical", "do": ["tell", "stop"]})
    change(model, "often", {"limit": 3})
    weaker: list[tuple[str, dict[str, Any]]] = [
        ("quiet", {"for": "2h"}),
        ("quiet", {"severity": "info"}),
        ("quiet", {"do": ["stop"]}),
        ("quiet", {"when": "no-order"}),
        ("often", {"limit": 9}),
        ("often", {"when": {"condition": "restarting", "within": "1m"}}),
    ]
    for name, more in weaker:
        assert change(model, name, more, 409)["code"] == "expected_by_version"
    rule = rules(model)["quiet"]["rule_id"]
    assert model.owner.delete(f"/api/rules/{rule}").status_code == 409
    assert model.owner.post(f"/api/rules/{rule}/mute", json={"until": 9e9}).status_code == 200
    # The next version expects a little less: what people wanted still holds, and so does the mute.
    deploy(model, QUIET | {"for": "3h"}, OFTEN)
    kept = rules(model)["quiet"]
    assert (kept["for"], kept["severity"], kept["muted_until"]) == ("10m", "critical", 9e9)
    # One that expects more than that is not loosened by it.
    deploy(model, QUIET | {"for": "1m"}, OFTEN)
    assert rules(model)["quiet"]["for"] == "1m"


def test_a_persons_rule_keeps_its_name(model: Model) -> None:
    said = {**QUIET, "model_id": model.id}
    model.owner.post(f"/api/projects/{model.project_id}/rules", json=said)
    with pytest.raises(expecting.NameOfPerson):
        deploy(model, QUIET)


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ([{"name": "x"}], "expectations[0]"),
        ([QUIET, QUIET], "name of another"),
        ([QUIET | {"when": "no-evnt"}], "Did you mean no-event?"),
    ],
)
def test_what_is_wrong_with_an_expectation_is_named(expected: list[Any], words: str) -> None:
    with pytest.raises(InvalidManifest) as refused:
        expectations.read(expected)
    assert words in refused.value.message


@pytest.mark.parametrize(
    "expected",
    [
        [{"name": "x", "when": "nothing"}],
        "all well",
        [{"name": "x", "when": {"condition": "log-line", "matches": "("}}],
    ],
)
def test_an_archive_that_expects_nonsense_is_refused_at_upload(model: Model, expected: Any) -> None:
    archive = zipped(expectations=expected)
    answer = model.owner.client.post(
        "/model/upload", data={"modelId": model.id}, files={"model": ("m.zip", archive)}
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_manifest"), answer.text


def test_a_version_keeps_what_it_expects(model: Model) -> None:
    archive = zipped(expectations=[QUIET])
    answer = model.owner.client.post(
        "/model/upload", data={"modelId": model.id}, files={"model": ("m.zip", archive)}
    )
    assert answer.status_code == 200, answer.text
    assert rules(model) == {}, "only a deployed version is watched"
