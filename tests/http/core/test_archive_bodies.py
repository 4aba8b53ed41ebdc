"""Uploads as they come over the wire: large, slow, broken off, or not an upload at all."""

import json
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tapeline.ids import new_id
from tapeline.settings import Settings
from tests.archives import zipped
from tests.conftest import Cast, Service, running
from tests.http.deployment.uploading import deployed, kept, send
from tests.loop_time import longest_goes
from tests.test_error_shape import check_shape


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    """Nothing here depends on the database."""
    return sqlite_settings


def connect(service: Service) -> socket.socket:
    address = urlsplit(service.address)
    assert address.hostname
    assert address.port
    return socket.create_connection((address.hostname, address.port), timeout=20)


def head(token: str, length: int | None) -> bytes:
    sized = b"transfer-encoding: chunked" if length is None else b"content-length: %d" % length
    return (
        b"POST /model/deploy HTTP/1.1\r\nhost: 127.0.0.1\r\ntoken: " + token.encode() + b"\r\n"
        b"content-type: multipart/form-data; boundary=b\r\n" + sized + b"\r\n\r\n"
    )


PART = b'--b\r\ncontent-disposition: form-data; name="model"; filename="m.zip"\r\n\r\n'


def small(service_settings: Settings) -> Settings:
    return replace(service_settings, max_archive=100_000, max_body=10_000)


def test_too_large_an_archive_is_413_before_the_whole_body_was_read(
    service: Service, cast: Cast
) -> None:
    with running(small(service.services.settings)) as tight:
        token = tight.services.ring.sign(*cast.owner.actor.signed_in())
        with connect(tight) as announced:
            announced.sendall(head(token, 500_000_000))
            assert announced.recv(4096).startswith(b"HTTP/1.1 413")
        with connect(tight) as unannounced:
            unannounced.sendall(head(token, None))
            unannounced.sendall(b"%x\r\n" % (len(PART) + 105_000) + PART + bytes(105_000) + b"\r\n")
            answer = unannounced.recv(4096)
            assert answer.startswith(b"HTTP/1.1 413"), answer
            assert b'"code":"too_large"' in answer
        wait_until_empty(tight.services.staging.spool)
        with tight.client(token=token) as client:
            big = {"model": ("m.zip", zipped({"x": new_id() * 20_000}) + bytes(100_000))}
            check_shape(client.post("/model/deploy", files=big), 413)


def test_a_stranger_is_refused_before_the_body_is_read(service: Service) -> None:
    with connect(service) as stranger:
        stranger.sendall(head("rubbish", 50_000_000))
        assert stranger.recv(4096).startswith(b"HTTP/1.1 401")


def test_a_client_that_goes_away_leaves_nothing(service: Service, cast: Cast) -> None:
    with connect(service) as leaving:
        leaving.sendall(head(cast.owner.client.headers["token"], 90_000_000))
        leaving.sendall(PART + bytes(2_000_000))
        deadline = time.monotonic() + 60
        while not any(service.services.staging.spool.rglob("*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert any(service.services.staging.spool.rglob("*"))
    wait_until_empty(service.services.staging.spool)
    assert kept(service) == []


def wait_until_empty(folder: Path) -> None:
    deadline = time.monotonic() + 60
    while any(folder.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(folder.iterdir())


def test_texts_beside_the_archive_are_bounded_together(service: Service, cast: Cast) -> None:
    many: dict[str, Any] = {f"text{number}": "x" * 100_000 for number in range(11)}
    shape = check_shape(send(cast.owner, "/model/deploy", **many), 413)
    assert "texts" in shape["error"]
    wait_until_empty(service.services.staging.spool)


@pytest.mark.heavy
def test_others_are_answered_while_a_large_archive_is_checked(service: Service, cast: Cast) -> None:
    """Inflating lets go of the interpreter's lock, so a thread is enough."""
    row = b"".join(b"%d,%d\n" % (number, number * 7919 % 10_007) for number in range(100_000))
    content = zipped({"prices.csv": row * 40})
    with longest_goes(service) as goes:
        said = deployed(cast.owner, content)
    assert said["version"] == 1
    assert len(goes) > 10
    assert max(goes) < 0.25, "it takes tens of milliseconds"


def test_a_part_without_a_file_name_is_still_an_archive(cast: Cast) -> None:
    parts = {"model": (None, zipped()), "createNew": (None, "true"), "name": (None, "x")}
    answer = cast.owner.post("/model/deploy", files=parts)
    assert answer.status_code == 200, json.dumps(answer.json())
