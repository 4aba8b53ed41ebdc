"""Whatever is sent to the events API, in whatever encoding: an answer in our shape, never a 500."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tapeline.tape.events.kinds import BY_PATH
from tests.conftest import on_both
from tests.examples import some
from tests.http.events.test_api import BODIES
from tests.pushing import FORM, JSON, NDJSON, RESULT, Model

pytestmark = on_both  # each refuses other texts and numbers
PATHS = (*BY_PATH, "/v1/batch")
EXPECTED = {200, 400, 401, 404, 409, 413, 415, 429}
KEYS = sorted({key for body in (*BODIES.values(), RESULT) for key in body})

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["", "1", "-1", "1e400", "null", "\0", "buy", "2020-01-01", "[" * 2000])
    | st.sampled_from([2**63, 10**30, -(10**400), "é" * 600])
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), VALUES, max_size=4)
ENCODINGS = st.sampled_from(
    [JSON, FORM, NDJSON, "multipart/form-data; boundary=x", "application/json;charset=x", "", "a/b"]
)
HEADERS = st.dictionaries(
    st.sampled_from(["time", "idempotency-key", "content-encoding"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"),
            max_size=20).map(str.strip),
    max_size=2,
)  # fmt: skip
ONE_SERVICE = settings(
    max_examples=some(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def base(path: str) -> dict[str, Any]:
    """A body that is right, to be spoilt."""
    return RESULT if path == "/v1/backtest/result" else BODIES.get(BY_PATH[path].name, {})


def check(model: Model, path: str, **sent: Any) -> None:
    raw = {name: value.encode("latin-1") for name, value in sent.pop("headers").items()}
    headers = {name: value.encode() for name, value in model.headers.items()} | raw
    answer = model.client.post(path, headers=headers, **sent)
    assert answer.status_code in EXPECTED, (path, sent, answer.text)
    told = answer.json()
    if answer.status_code == 200:
        assert told == {"status": "success"}
    else:
        assert isinstance(told["error"], str)
        assert set(told) <= {"error", "code", "field"}


@pytest.mark.heavy
def test_spoilt_bodies_get_an_answer_in_every_encoding(model: Model) -> None:
    @ONE_SERVICE
    @given(st.sampled_from(sorted(BY_PATH)), OBJECTS, HEADERS, st.booleans())
    def spoil(path: str, change: dict[str, Any], headers: dict[str, str], batched: bool) -> None:
        body = base(path) | change
        content = json.dumps(body).encode("utf-8", "surrogatepass")
        if batched:
            content = b'[{"path": %s, "body": %s}]' % (json.dumps(path).encode(), content)
            path = "/v1/batch"
        check(model, path, content=content, headers=headers | {"content-type": JSON})
        parts = [(key, (None, json.dumps(value))) for key, value in body.items()]
        check(model, "/v1/batch" if batched else path, files=parts, headers=headers)
        form = {key: str(value) for key, value in body.items()}
        check(model, path, data=form, headers=headers)

    spoil()
    assert model.first_break() is None


@pytest.mark.heavy
def test_noise_gets_an_answer(model: Model) -> None:
    @ONE_SERVICE
    @given(
        st.sampled_from(PATHS),
        st.binary(max_size=40) | VALUES.map(lambda value: json.dumps(value).encode()),
        ENCODINGS,
        HEADERS,
    )
    def shout(path: str, content: bytes, encoding: str, headers: dict[str, str]) -> None:
        check(model, path, content=content, headers=headers | {"content-type": encoding})

    shout()
    assert model.first_break() is None
