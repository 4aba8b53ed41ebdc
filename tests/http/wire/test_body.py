"""Three encodings, one dictionary: what JSON must get right and what forms may get away with."""

from typing import Any

import httpx
import msgspec
import pytest

from tapeline.errors import Invalid, MissingField
from tapeline.http.wire.body import Body, convert
from tests.conftest import Cast


class Record(msgspec.Struct):
    name: str
    size: float | None = None
    count: int = 0
    live: bool = False
    tags: list[str] = []


def from_json(**values: Any) -> Record:
    return convert(Body(values, lenient=False), Record)


def from_form(**values: Any) -> Record:
    return convert(Body(values, lenient=True), Record)


def test_forms_read_numbers_and_booleans_from_texts() -> None:
    for true in ("True", "true", "1"):
        assert from_form(name="a", live=true).live is True
    for false in ("False", "false", "0"):
        assert from_form(name="a", live=false).live is False
    assert from_form(name="a", size="1.5", count="3") == Record("a", 1.5, 3)


def test_json_takes_a_numeric_text_for_a_number_and_nothing_else_of_the_wrong_type() -> None:
    assert from_json(name="a", size="1.5", count="3") == Record("a", 1.5, 3)
    for wrong in (
        {"name": 5},
        {"name": None},
        {"name": "a", "size": "many"},
        {"name": "a", "count": 1.5},
        {"name": "a", "live": "true"},
        {"name": "a", "live": 1},
        {"name": "a", "tags": "x"},
    ):
        with pytest.raises(Invalid) as caught:
            from_json(**wrong)
        assert caught.value.field == list(wrong)[-1]


def test_errors_say_what_was_wanted_and_what_came() -> None:
    with pytest.raises(Invalid, match=r"`size` must be a number or null, not true or false\."):
        from_json(name="a", size=True)
    with pytest.raises(MissingField, match="`name` is required"):
        from_json()


def test_an_empty_text_counts_as_missing_only_where_it_is_required() -> None:
    with pytest.raises(MissingField):
        from_json(name="")
    with pytest.raises(MissingField):
        from_form(name="")


def test_unknown_keys_are_ignored() -> None:
    assert from_json(name="a", colour="red") == Record("a")


@pytest.mark.parametrize("encoding", ["json", "data", "multipart", "file"])
def test_one_route_reads_all_three_encodings_alike(cast: Cast, encoding: str) -> None:
    fields = {"name": "Ünïcode ✓", "description": "a=b&c"}
    answer: httpx.Response
    if encoding == "json":
        answer = cast.owner.post("/project/create", json=fields)
    elif encoding == "data":
        answer = cast.owner.post("/project/create", data=fields)
    elif encoding == "multipart":
        parts = {name: (None, value) for name, value in fields.items()}
        answer = cast.owner.post("/project/create", files=parts)
    else:
        uploads = {name: ("x.txt", value.encode()) for name, value in fields.items()}
        answer = cast.owner.post("/project/create", files=uploads)
    assert answer.status_code == 200
    assert {name: answer.json()[name] for name in fields} == fields


def test_a_content_type_may_carry_parameters_in_any_case(cast: Cast) -> None:
    answer = cast.owner.post(
        "/project/create",
        content=b'{"name": "x"}',
        headers={"content-type": "Application/JSON; charset=utf-8"},
    )
    assert answer.status_code == 200


def test_a_repeated_form_key_is_a_list_and_so_not_a_text(cast: Cast) -> None:
    answer = cast.owner.post("/project/create", data={"name": ["a", "b"]})
    assert answer.status_code == 400
    assert answer.json()["field"] == "name"


def test_the_limit_on_size_counts_what_arrives_not_what_is_announced(cast: Cast) -> None:
    def endless() -> Any:
        for _ in range(100):
            yield b" " * 100_000

    answer = cast.owner.post(
        "/project/create", content=endless(), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 413
    assert "256,000 bytes" in answer.json()["error"]


def test_a_body_at_the_limit_of_depth_is_read_and_one_deeper_is_not(cast: Cast) -> None:
    def nested(levels: int) -> bytes:
        return b'{"name":"x","more":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"

    headers = {"content-type": "application/json"}
    at_limit = cast.owner.post("/project/create", content=nested(32), headers=headers)
    assert at_limit.status_code == 200
    deeper = cast.owner.post("/project/create", content=nested(33), headers=headers)
    assert deeper.status_code == 400
    assert "32 levels" in deeper.json()["error"]
