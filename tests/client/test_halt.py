"""A model that runs elsewhere learns that its project is halted, and that it goes on."""

import gc
import threading
from pathlib import Path

from tapeline_client import Client

from tests.client.answering import answering
from tests.client.conftest import Make
from tests.pushing import Model
from tests.waiting import SLOW_MACHINE, wait_for


def test_a_halt_is_heard_once_and_its_end_too(make: Make, model: Model) -> None:
    heard: list[str] = []
    client = make(on_halt=lambda: heard.append("halt"))
    assert not client.halted
    path = f"/api/projects/{model.project_id}"
    for times in (1, 2):
        assert model.owner.post(f"{path}/halt", json={}).status_code == 200

        def is_told() -> bool:
            client.log("still here")
            client.flush()
            return client.halted

        wait_for(is_told)
        assert is_told()
        assert heard == ["halt"] * times
        assert model.owner.post(f"{path}/resume", json={}).status_code == 200
        wait_for(lambda: not is_told())


def test_a_callback_that_fails_stops_no_event(make: Make, model: Model) -> None:
    def fails() -> None:
        raise RuntimeError("the model's own")

    client = make(on_halt=fails)
    model.owner.post(f"/api/projects/{model.project_id}/halt", json={})

    def is_told() -> bool:
        client.log("still here")
        assert client.flush()
        return client.halted

    wait_for(is_told)
    assert client.stats()["rejected"] == 0


def test_a_callback_that_outlives_the_client_leaves_no_connection(tmp_path: Path) -> None:
    is_called, may_end = threading.Event(), threading.Event()

    def called() -> None:
        is_called.set()
        may_end.wait()

    with answering() as server:
        server.answers = [(200, {"halt": True}, {})]
        client = Client(server.url, "m", "k", "p", folder=str(tmp_path), on_halt=called)
        client.log("one")
        assert is_called.wait(SLOW_MACHINE)
        assert not client.close(0.1)
        assert client._sender
        thread = client._sender._thread
        assert thread
        may_end.set()
        thread.join()
        del client, thread
        gc.collect()  # a socket that nobody closed would warn here
