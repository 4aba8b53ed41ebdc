"""A model that runs elsewhere learns that its project is halted, and that it goes on."""

from tests.client.conftest import Make
from tests.pushing import Model
from tests.waiting import wait_for


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
