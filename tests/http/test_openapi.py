"""The OpenAPI document describes what is really there: fuzzing finds no 500 and no surprise."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tapeline.accounts import sign_ins
from tapeline.accounts.sign_ins import Origin
from tapeline.http import openapi
from tapeline.http.core.endpoint import Endpoint
from tapeline.http.events.api import PATHS as EVENT_PATHS
from tapeline.http.routes import ROUTES
from tapeline.models import onboarding
from tapeline.settings import Settings
from tests.conftest import Service, running

EXAMPLES = [5, pytest.param(200, marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def open_service(
    tmp_path_factory: pytest.TempPathFactory, password_hash: str
) -> Iterator[tuple[Service, str, str]]:
    """A service that lets everybody in, so that fuzzing gets past the door; and a way in."""
    data = tmp_path_factory.mktemp("fuzzed")
    chosen = Settings(
        data=data, signup="open", signin_limit_account=10**6, signin_limit_address=10**6
    )
    with running(chosen) as service:
        user = service.store.write_now(
            onboarding.add_by_operator, email="a@b.c", name="", password_hash=password_hash
        )
        _, actor = service.store.write_now(sign_ins.begin, user, "token", Origin("", ""))
        service.services.watchers.close()  # so that streams end after their first word
        yield service, user.id, service.services.ring.sign(*actor.signed_in())


@pytest.mark.heavy
@pytest.mark.parametrize("row", ROUTES, ids=lambda row: f"{row.method} {row.path}")
@pytest.mark.parametrize("examples", EXAMPLES)
def test_fuzzing_finds_no_500_and_no_undocumented_answer(
    row: Endpoint, examples: int, open_service: tuple[Service, str, str]
) -> None:
    service, user_id, token = open_service
    operation = _schema()[row.path][row.method]

    @given(case=operation.as_strategy(), mine=st.booleans())
    @hypothesis_settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def fuzz(case: schemathesis.Case[Any], mine: bool) -> None:
        if mine:
            _aim_at(case, user_id)
        case.call_and_validate(
            base_url=service.address,
            headers={"token": token},
            # Rules that a schema cannot say, such as no NUL in a text, refuse some valid data.
            excluded_checks=[positive_data_acceptance],
        )

    fuzz()


@cache
def _schema() -> Any:
    return schemathesis.openapi.from_dict(openapi.document(ROUTES))


def _aim_at(case: schemathesis.Case[Any], project_id: str) -> None:
    """Name a project that is there: made-up ids never get past the first question."""
    if case.path_parameters and case.path_parameters.get("project"):
        case.path_parameters["project"] = project_id
    if isinstance(case.body, dict):
        named = case.body.get("projectId")
        if isinstance(named, str) and named:
            case.body["projectId"] = project_id


def test_the_document_is_served_and_names_every_route(service: Service) -> None:
    with service.client() as client:
        document = client.get("/api/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    served = {(row.method.lower(), row.path) for row in ROUTES}
    served |= {("post", path) for path in EVENT_PATHS}
    named = {(method, path) for path, verbs in document["paths"].items() for method in verbs}
    assert named == served
    operations = [one for verbs in document["paths"].values() for one in verbs.values()]
    assert all(operation["summary"].endswith(".") for operation in operations)
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
