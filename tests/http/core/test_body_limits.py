"""What a body may cost: its size by row, who is known before it is read, and the work of reading.

No statement here is about time: work is counted in calls."""

import gc
import re
import sys
from collections.abc import Callable
from typing import Any

import httpx
import msgspec
import pytest
from starlette.datastructures import Headers

from tapeline.errors import Invalid, MalformedBody
from tapeline.http.core.endpoint import OPEN, Access, Endpoint
from tapeline.http.events import bodies
from tapeline.http.events.bodies import Moment
from tapeline.http.page_routes import PAGES
from tapeline.http.routes import ROUTES
from tapeline.http.wire import body
from tapeline.models import arguments
from tapeline.settings import Settings
from tests.conftest import Cast, Service, run

WITH_BODY = [row for row in ROUTES if row.has_body]
FORMS = [page for page in PAGES if page.method == "POST"]
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
SETTINGS = Settings()
LARGER = {
    "/witness/keys": 64_000,
    "/model/deploy": 1_000_000,
    "/model/backtest": 1_000_000,
    "/model/upload": 1_000_000,
    "/model/backtest-uploaded-model": 1_000_000,
    "/model/backtestUploadedModel": 1_000_000,
}
"""What needs more room than others. A row that is added here has a reason."""


def address(path: str) -> str:
    return re.sub(r"{[^}]+}", "x", path)


def send(client: httpx.Client, row: Endpoint, size: int, **headers: str) -> httpx.Response:
    content = b'{"more":"' + b"x" * (size - 11) + b'"}'
    headers = {"content-type": JSON} | headers
    return client.request(row.method, address(row.path), content=content, headers=headers)


def test_every_row_has_a_limit_of_its_own() -> None:
    for row in WITH_BODY:
        usual = 16_000 if row.access in OPEN else 256_000
        assert row.longest_body == LARGER.get(row.path, usual), row.path
    assert {row.path for row in WITH_BODY if row.access is Access.PUBLIC} >= {
        "/auth/signin", "/auth/signup", "/auth/token", "/auth/signout",
    }  # fmt: skip


def test_no_row_takes_more_than_its_limit(cast: Cast, anybody: httpx.Client) -> None:
    for row in WITH_BODY:
        client = anybody if row.access in OPEN else cast.owner.client
        answer = send(client, row, row.longest_body + 1)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large"), row.path
        assert f"{row.longest_body:,} bytes" in answer.json()["error"]
    assert send(anybody, _row("/auth/signin"), 16_000).json()["field"] == "email"
    assert send(cast.owner.client, _row("/project/create"), 256_000).json()["field"] == "name"


def test_no_form_of_a_page_takes_more_than_strangers_may_send(service: Service, cast: Cast) -> None:
    with service.client(**{"sec-fetch-site": "same-origin", "content-type": FORM}) as browser:
        for page in FORMS:
            answer = browser.post(address(page.path), content=b"more=" + b"x" * 16_000)
            assert answer.status_code == 413, page.path


def test_a_credential_is_looked_up_before_the_body_is_read(anybody: httpx.Client) -> None:
    browser = {"cookie": "tapeline_session=unknown", "sec-fetch-site": "same-origin"}
    for row in WITH_BODY:
        if row.access not in OPEN:
            assert send(anybody, row, 800_000, **browser).status_code == 401, row.path


def _row(path: str) -> Endpoint:
    return next(row for row in WITH_BODY if row.path == path)


def calls_of(work: Callable[[], object]) -> int:
    """How many functions it calls, of Python and of C."""
    count = 0

    def note(_frame: object, happened: str, _function: object) -> None:
        nonlocal count
        count += happened in {"call", "c_call"}

    before = sys.getprofile()
    gc.disable()  # what it calls is not the work
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


MANY: Any = [[[0], 0]] * 20_000
DEEP: Any = [[[[[[[[0]]]]]]]] * 5_000
HOSTILE = [
    {"e": MANY},
    {"e": ["["] * 50_000, "f": MANY},
    {"e": [{}] * 50_000},
    {"e": ["\\"] * 50_000, "f": MANY},
    {"e": DEEP},
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_the_calls_that_reading_takes_do_not_grow_with_the_body(hostile: dict[str, Any]) -> None:
    content, headers = msgspec.json.encode(hostile), Headers({"content-type": JSON})
    most = 300

    def as_free_event() -> object:
        found = bodies.decoded_object(content, SETTINGS.max_depth)
        update = {"id": "o1", **found}
        return bodies.event(
            "/v1/live/update-trade", update, Moment(1, 2), 1, SETTINGS, lenient=False
        )

    works: list[Callable[[], object]] = [
        lambda: run(body.decode(headers, content, SETTINGS)),
        lambda: body.refuse_nul(hostile),
        lambda: arguments.checked(hostile),
        lambda: arguments.read(content.decode()) if len(content) < 100_000 else None,
        as_free_event,
    ]
    assert [calls_of(work) < most for work in works] == [True] * len(works)


@pytest.mark.parametrize("content", [b"email=" + b"%41" * 5_000, b"email=" + b"%" * 15_000])
def test_neither_do_those_of_a_form(content: bytes) -> None:
    headers = Headers({"content-type": FORM})
    assert calls_of(lambda: run(body.decode(headers, content, SETTINGS))) < 300


def test_a_nul_anywhere_is_refused_with_the_name_of_its_field() -> None:
    for odd in ("a\0", ["\0"], {"b": [{"\0": 1}]}, [[["x", "\0"]]]):
        with pytest.raises(Invalid, match="NUL") as caught:
            body.refuse_nul({"plain": "\\u0000", "odd": odd})
        assert caught.value.field == "odd"
    body.refuse_nul({"plain": "\\u0000", "more": ["\\\\u0000"]})


def test_an_event_with_free_keys_that_is_too_deep_or_holds_nul_is_refused() -> None:
    def push(more: Any) -> object:
        values = {"metrics": {"a": {"value": 1, "more": more}}}
        path = "/v1/live/set-custom-metric"
        return bodies.event(path, values, Moment(1, 2), 1, SETTINGS, lenient=False)

    deep: Any = 0
    for _ in range(29):
        deep = [deep]
    push(deep)
    with pytest.raises(MalformedBody, match="32 levels"):
        push([deep])
    with pytest.raises(Invalid, match="NUL") as caught:
        push({"x": "\0"})
    assert caught.value.field == "metrics"
