"""Two servers behind nginx under load, one of them killed, frozen and cut off: nothing is lost or
doubled, and the other one says within seconds what is the matter."""

import collections
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.acceptance.fleet import Fleet, Member, fleet
from tests.acceptance.loads import all_kinds, assert_complete, under
from tests.archives import zipped
from tests.waiting import wait_for

pytestmark = pytest.mark.heavy

LINES, BATCHES = 500, 12
MUCH = 16_000_000  # bytes: more than all buffers on the way
CHUNK = 65_536


@pytest.fixture(scope="module")
def pair(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: str, postgres_template: str
) -> Iterator[Fleet]:
    """Each test leaves both servers running."""
    places = (tmp_path_factory.mktemp("fleet"), tmp_path_factory.mktemp("c"))
    with fleet(*places, postgres_server, 2, postgres_template) as made:
        yield made


def test_events_arrive_once_while_a_server_is_killed_frozen_and_cut_off(
    pair: Fleet, tmp_path: Path
) -> None:
    victim = pair.members[0]
    deployed = pair.deploy_on(victim)
    pair.trader.wait_for_line(deployed["modelId"], "number 1")
    fence = pair.run(deployed)["fence"]
    key = pair.key()
    loads = all_kinds(pair.address, key, pair.token, tmp_path / "outbox")
    with under(*loads) as running:
        running.get_on()
        said = pair.say(pair.run(deployed)["host"])
        with victim.frozen():
            wait_for(lambda: said.is_unreachable(deployed))
            running.get_on()
        wait_for(lambda: pair.run(deployed)["state"] == "running")
        with victim.cut_off():
            wait_for(lambda: said.is_unreachable(deployed))
            running.get_on()
        wait_for(lambda: pair.run(deployed)["state"] == "running")
        victim.kill()
        wait_for(lambda: said.is_unreachable(deployed))
        running.get_on()
        victim.start()
        wait_for(lambda: pair.run(deployed)["state"] == "running")
        running.get_on()
    assert_complete(pair.tape(key["model_id"]), loads)
    assert pair.run(deployed)["fence"] == fence, "its model never noticed"


def await_the_next(pair: Fleet) -> None:
    """The proxy takes two seconds to believe again in a server that was away before."""
    wait_for(lambda: pair.trader.client.get("/healthz").status_code == 200)


def test_a_download_whose_server_dies_is_cut_and_the_next_server_gives_all_of_it(
    pair: Fleet,
) -> None:
    key = pair.key()
    line = "x" * 2_000
    for batch in range(BATCHES):
        items = [
            {"path": "/v1/live/log", "body": {"line": f"{batch} {one} {line}"}}
            for one in range(LINES)
        ]
        pair.trader.post("/v1/batch", json=items, headers=key)
    path = f"/api/models/{key['model_id']}/tape"
    with pair.trader.client.stream("GET", path) as answer:
        pieces = answer.iter_bytes(CHUNK)
        next(pieces)
        victim = pair.serving()
        victim.kill()
        with pytest.raises(httpx.RemoteProtocolError):
            collections.deque(pieces, maxlen=0)
    await_the_next(pair)
    whole = pair.trader.client.get(path)
    assert whole.status_code == 200, whole.text
    assert len(whole.text.splitlines()) == int(whole.headers["tape-events"]) == BATCHES * LINES
    victim.start()


def test_an_upload_whose_server_dies_leaves_nothing_and_is_repeated_with_the_next(
    pair: Fleet,
) -> None:
    client, model = pair.trader.client, pair.key()["model_id"]
    files = {"model": ("m.zip", zipped({"noise.bin": os.urandom(MUCH)}))}
    whole = client.build_request("POST", "/model/upload", data={"modelId": model}, files=files)
    content, killed = whole.read(), list[Member]()

    def until_the_server_dies() -> Iterator[bytes]:
        yield from _pieces(content[: MUCH // 2])
        killed.append(pair.serving())
        killed[0].kill()
        yield from _pieces(content[MUCH // 2 :])

    half = client.build_request(
        "POST", "/model/upload", content=until_the_server_dies(), headers=whole.headers
    )
    with suppress(httpx.TransportError):  # somebody who is still sending may not hear the answer
        assert client.send(half).status_code == 502
    assert killed
    await_the_next(pair)
    assert pair.get(f"/api/models/{model}/versions")["items"] == []
    repeated = client.send(
        client.build_request("POST", "/model/upload", content=content, headers=whole.headers)
    )
    assert repeated.status_code == 200, repeated.text
    assert len(pair.get(f"/api/models/{model}/versions")["items"]) == 1
    killed[0].start()


def _pieces(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), CHUNK):
        yield content[start : start + CHUNK]
