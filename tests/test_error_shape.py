"""One error shape over every route of every surface, whatever is wrong with the request."""

import inspect
import time
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from tapeline import errors
from tapeline.errors import Problem
from tapeline.http.core.endpoint import OPEN, Endpoint, Nothing
from tapeline.http.routes import ROUTES
from tapeline.http.wire.errors import STATUS, status_of
from tests.conftest import Cast, Service, run

PROBLEMS = [
    found for _, found in inspect.getmembers(errors, inspect.isclass) if issubclass(found, Problem)
]
WITH_BODY = [row for row in ROUTES if row.takes is not Nothing]


def check_shape(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    shape: dict[str, Any] = answer.json()
    assert set(shape) <= {"error", "code", "field"}
    assert isinstance(shape["error"], str)
    assert shape["error"].strip().endswith((".", "?"))
    assert shape["code"] == shape["code"].lower()
    assert shape["code"].isidentifier()
    assert "field" not in shape or isinstance(shape["field"], str)
    assert "Traceback" not in answer.text
    return shape


def address(row: Endpoint) -> str:
    return row.path.replace("{", "no-").replace("}", "")


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda one: one.__name__)
def test_every_error_has_a_sentence_a_code_and_a_status(problem: type[Problem]) -> None:
    sentence = problem().message
    assert sentence[0].isupper()
    assert sentence.endswith((".", "?", "Bearer`."))
    assert "\n" not in sentence
    assert status_of(problem) in STATUS.values()


def test_codes_are_stable_and_distinct() -> None:
    codes = [problem.code() for problem in PROBLEMS]
    assert len(set(codes)) == len(codes)
    assert errors.NoSuchProject.code() == "no_such_project"
    assert errors.StoreUnavailable.code() == "store_unavailable"


def test_what_is_not_there_and_what_cannot_be_done_to_it(service: Service) -> None:
    with service.client() as client:
        assert check_shape(client.get("/nothing/here"), 404)["code"] == "no_such_page"
        assert check_shape(client.get("/static/none.css"), 404)
        assert check_shape(client.get("/static/../app.py"), 404)
        for row in ROUTES:
            wrong = client.request("TRACE", address(row))
            check_shape(wrong, 405)
            assert row.method in wrong.headers["allow"]


def test_nobody_gets_401_on_every_route_that_asks_who_is_there(service: Service) -> None:
    with service.client() as client:
        for row in ROUTES:
            if row.access not in OPEN:
                check_shape(client.request(row.method, address(row)), 401)
                check_shape(
                    client.request(row.method, address(row), headers={"token": "rubbish"}), 401
                )


@pytest.mark.heavy
def test_every_route_with_a_body_refuses_every_kind_of_bad_one(cast: Cast) -> None:
    client = cast.owner.client
    json, form = "application/json", "application/x-www-form-urlencoded"
    part = b'Content-Disposition: form-data; name="name"\r\n\r\n'
    cases: tuple[tuple[str, bytes, int, str], ...] = (
        (json, b"{", 400, "malformed_body"),
        (json, b"[]", 400, "malformed_body"),
        (json, b"null", 400, "malformed_body"),
        (json, b'{"name": NaN}', 400, "malformed_body"),
        (json, b"\xff\xfe", 400, "malformed_body"),
        (json, b'{"a":' * 100 + b"1" + b"}" * 100, 400, "malformed_body"),
        (json, b'{"name":"a\\u0000b"}', 400, "invalid"),
        (json, b" " * 1_000_001, 413, "too_large"),
        (form, b"name=%ff", 400, "malformed_body"),
        (form, b"&".join(b"a=1" for _ in range(1001)), 400, "malformed_body"),
        (form, b"name=a%00b", 400, "invalid"),
        ("multipart/form-data", b"x", 400, "malformed_body"),
        ("multipart/form-data; boundary=b", b"--b\r\nrubbish", 400, "malformed_body"),
        ("multipart/form-data; boundary=b", b"--b\r\n" + part + b"cut", 400, "malformed_body"),
        ("text/plain", b"name=x", 415, "unknown_encoding"),
        ("application/xml", b"<a/>", 415, "unknown_encoding"),
    )
    for row in WITH_BODY:
        for encoding, content, status, code in cases:
            answer = client.request(
                row.method, address(row), content=content, headers={"content-type": encoding}
            )
            assert check_shape(answer, status)["code"] == code, (row.path, encoding, content[:40])


def test_a_missing_or_empty_field_is_named_on_every_route(cast: Cast) -> None:
    for row in WITH_BODY:
        for body in ({}, _empty(row)):
            if not _required(row):
                continue
            shape = check_shape(cast.owner.client.request(row.method, address(row), json=body), 400)
            assert shape["code"] == "missing_field"
            assert shape["field"] in _required(row)
            assert shape["field"] in shape["error"]


def _required(row: Endpoint) -> list[str]:
    import msgspec

    return [one.encode_name for one in msgspec.structs.fields(row.takes) if one.required]


def _empty(row: Endpoint) -> dict[str, str]:
    return dict.fromkeys(_required(row), "")


def test_a_bug_behind_a_route_answers_in_the_same_shape(
    cast: Cast, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    service.store.write_now(lambda connection: connection.execute(text("drop table invitations")))
    answer = cast.owner.get(f"/api/projects/{cast.project_id}/invitations")
    assert check_shape(answer, 500)["code"] == "problem"
    assert "invitations" not in answer.text
    deadline = time.monotonic() + 60  # it is logged once the answer is out
    while "invitations" not in caplog.text and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "no such table" in caplog.text or "does not exist" in caplog.text


def test_a_bug_answers_in_the_same_shape_and_keeps_its_traceback(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:

    from tapeline.http.wire.middleware import Middleware

    async def broken(_scope: object, _receive: object, _send: object) -> None:
        raise RuntimeError("secret detail")

    sent: list[Any] = []

    async def call() -> None:
        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        middleware = Middleware(broken, service.services.metrics)
        scope: dict[str, Any] = {
            "type": "http",
            "method": "GET",
            "path": "/x",
            "headers": [],
            "client": None,
        }
        await middleware(scope, receive, send)

    run(call())
    assert sent[0]["status"] == 500
    assert b"secret" not in sent[1]["body"]
    assert b'"code":"problem"' in sent[1]["body"]
    assert "bug" in caplog.text
    assert "secret detail" in caplog.text
