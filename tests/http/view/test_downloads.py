"""A download that cannot be finished breaks off: nobody can take a part of it for the whole."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tapeline.http.routes import ROUTES
from tapeline.settings import Settings
from tests.conftest import Person, Service, running
from tests.http.downloading import SMALL_BUFFER, begun, content_of, is_download
from tests.http.sharing.scene import DAY, START
from tests.pushing import RESULT, Model, pushing

MODEL, BACKTEST, LINK = (
    "/api/models/{model}",
    "/api/models/{model}/backtests/b1",
    "/api/shared/{token}",
)
OF_MODEL = (MODEL + "/tape", MODEL + "/record", MODEL + "/logs.txt", BACKTEST + "/logs.txt")
OF_BOOKS = MODEL + "/orders.csv"
OF_RESULT = tuple(
    BACKTEST + one for one in ("/export.csv", "/trades.csv", "/round-trips.csv", "/export.json")
)
OF_LINK = (LINK + "/record", LINK + "/trades.csv", LINK + "/round-trips.csv")
# With their length, or as a single chunk.
SMALL = {
    LINK + "/curve.csv",
    LINK + "/export.json",
    "/model/starter-models/{starter}.zip",
    MODEL + "/versions/{version}/archive",
    MODEL + "/versions/{version}/files/content",
}
TEXT = "x" * 200
LARGE = 2**22  # bytes


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    return sqlite_settings


@pytest.fixture
def listeners(monkeypatch: pytest.MonkeyPatch) -> list[socket.socket]:
    """Of the services that are started: new connections have the buffers that these have."""
    found: list[socket.socket] = []
    usual = socket.create_server

    def create(*where: Any, **more: Any) -> socket.socket:
        found.append(usual(*where, **more))
        return found[-1]

    monkeypatch.setattr("tests.conftest.socket.create_server", create)
    return found


@pytest.fixture
def service(settings: Settings, listeners: list[socket.socket]) -> Iterator[Service]:
    assert not listeners
    with running(settings) as started:
        yield started


@pytest.fixture
def long(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    """A model with more in each of its files than fits into what is on the way."""
    with pushing(service, enter("ada")) as model:
        logs = [{"path": "/v1/live/log", "body": {"line": TEXT}}] * 3_000
        of_backtest = {"line": TEXT, "backtest_id": "b1"}
        logs_of_backtest = [{"path": "/v1/backtest/log", "body": of_backtest}] * 3_000
        order = {"symbol": "A-USD", "exchange": "e", "side": "buy", "size": 1}
        orders = [
            {"path": "/v1/live/spot-market", "body": order | {"id": str(n)}} for n in range(10_000)
        ]
        for batch in (logs, logs_of_backtest, orders):
            model.push("/v1/batch", batch)
        model.push("/v1/backtest/result", result(10_000))
        assert model.get("/backtests/b1/round-trips")["items"]  # computed
        yield model


def result(length: int) -> dict[str, object]:
    values = [{"time": START + n * 20, "value": 1_000.0 + n % 7} for n in range(3 * length)]
    trades = [
        {"symbol": "A-USD", "side": ("buy", "sell")[n % 2], "time": START + n * 60, "price": 5.25,
         "size": 1, "annotation": TEXT}
        for n in range(length)
    ]  # fmt: skip
    stop = START + max(1, length // 1_440) * DAY
    return RESULT | {
        "start_time": START, "stop_time": stop, "account_values": values, "trades": trades,
    }  # fmt: skip


def test_every_download_is_known_here() -> None:
    files = {row.path for row in ROUTES if is_download(row)}
    known = {*OF_MODEL, OF_BOOKS, *OF_RESULT, *OF_LINK, *SMALL}
    assert {one.replace("/b1", "/{backtest}") for one in known} == files


@pytest.mark.heavy
def test_a_download_of_what_is_deleted_or_replaced_meanwhile_breaks_off(
    service: Service, long: Model, listeners: list[socket.socket]
) -> None:
    token = {"token": long.owner.client.headers["token"]}
    made = long.owner.post(f"/api/models/{long.id}/shares", json={}).json()
    tested = long.owner.post(f"/api/models/{long.id}/shares", json={"backtest_id": "b1"}).json()

    def delete() -> None:
        body = {"projectId": long.project_id, "modelId": long.id}
        assert long.owner.post("/model/delete", json=body).status_code == 200

    def replace() -> None:
        long.push("/v1/backtest/result", result(length=3))

    def revoke() -> None:
        for share in (made, tested):
            at = f"/api/models/{long.id}/shares/{share['id']}"
            assert long.owner.delete(at).status_code == 200

    def breaks(paths: dict[str, str], deed: Callable[[], None]) -> set[str]:
        """Those that break off, of all that are under way when it happens."""
        listeners[-1].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LARGE)
        whole = {name: long.owner.get(path).content for name, path in paths.items()}
        # Connections that hold little: what was not read yet was not written yet.
        listeners[-1].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL_BUFFER)
        with ExitStack() as stack:
            under_way = {
                name: stack.enter_context(begun(service, path, token))
                for name, path in paths.items()
            }
            deed()
            got = {name: content_of(answer) for name, answer in under_way.items()}
        # What was sent already when it happened may arrive, but then all of it.
        assert all(one in (None, whole[name]) for name, one in got.items())
        return {name for name, one in got.items() if one is None}

    of_links = {
        f"{of} {one}": one.replace("{token}", link["token"])
        for of, link in (("live", made), ("backtest", tested))
        for one in OF_LINK
        if of == "backtest" or "round-trips" not in one
    }
    of_result = {one: one.replace("{model}", long.id) for one in OF_RESULT}
    of_tests = {name: path for name, path in of_links.items() if name.startswith("backtest")}
    of_tests = {name: path for name, path in of_tests.items() if name.endswith("csv")}
    tables = {BACKTEST + "/trades.csv", f"backtest {LINK}/trades.csv"}
    assert breaks(of_result | of_tests, replace) >= tables
    long.push("/v1/backtest/result", result(10_000))
    assert long.get("/backtests/b1/round-trips")["items"]
    assert breaks(of_links, revoke) >= {f"live {LINK}/trades.csv"}
    assert breaks({OF_BOOKS: OF_BOOKS.replace("{model}", long.id)}, lambda: None) == set()
    of_model = {one: one.replace("{model}", long.id) for one in (*OF_MODEL, *OF_RESULT)}
    # The next part is read while one is sent, so any one of them may have been read to its end.
    assert breaks(of_model, delete) & {MODEL + "/tape", MODEL + "/record", MODEL + "/logs.txt"}
