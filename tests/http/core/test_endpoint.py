"""A route takes and gives what the signature of its handler says."""

from typing import Annotated

import msgspec
import pytest
from sqlalchemy import Connection
from starlette.responses import Response

from tapeline.http.core.answers import Csv, Done, Gives, Listed
from tapeline.http.core.endpoint import BodyCall, Call, Endpoint, Nothing, Page, QueryCall
from tapeline.http.view.backtest_api import when_ready


class Order(msgspec.Struct):
    id: str


def place(_connection: Connection, _call: BodyCall[Order]) -> Done:
    return Done()


def listed(_connection: Connection, _call: QueryCall[Page]) -> Listed[Order]:
    return Listed([])


async def table(_call: Call) -> Csv:
    return Response()


async def encoded(_call: Call) -> Annotated[Response, Gives(Order)]:
    return Response()


def forgetful(_connection: Connection, _name: str) -> Done:
    return Done()


def test_a_body_comes_from_the_signature() -> None:
    row = Endpoint("POST", "/orders", writes=place)
    assert (row.takes, row.query, row.gives, row.media) == (
        Order, Nothing, Done, "application/json",
    )  # fmt: skip


def test_a_query_comes_from_the_signature() -> None:
    row = Endpoint("GET", "/orders", reads=listed)
    assert (row.takes, row.query, row.gives) == (Nothing, Page, Listed[Order])


def test_a_response_says_what_is_in_it() -> None:
    csv = Endpoint("GET", "/orders.csv", responds=table)
    assert (csv.gives, csv.media) == (str, "text/csv")
    json = Endpoint("GET", "/orders/last", responds=encoded)
    assert (json.gives, json.media) == (Order, "application/json")


def test_a_wrapped_handler_keeps_its_signature() -> None:
    row = Endpoint("GET", "/orders", responds=when_ready(listed))
    assert (row.query, row.gives) == (Page, Listed[Order])


def test_a_handler_without_a_call_is_refused() -> None:
    row = Endpoint("POST", "/orders", writes=forgetful)
    with pytest.raises(TypeError, match="forgetful takes no call"):
        _ = row.takes
