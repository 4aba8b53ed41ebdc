"""A model is deleted while a visitor of its link is being answered, after any step of the answer.

The link went with it, and that is all that a visitor is told: nothing of the model behind it."""

from typing import Any

import httpx
import pytest

from tapeline.http.core import long_answers
from tapeline.http.core.endpoint import Endpoint
from tapeline.models import models
from tapeline.store.store import Store
from tests.conftest import Service
from tests.http.sharing.scene import LINKS, an_order, shared
from tests.pushing import Model

STEPS = 6  # an answer reads less often than this


@pytest.fixture
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture(autouse=True)
def _looked_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_answers, "AUTHORISED_EVERY", 0.05)
    monkeypatch.setattr(long_answers, "QUIET", 0.05)


def deleted_after(model: Model, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is deleted once something was read this many times."""
    read, left = Store.read_now, steps

    def racing(store: Store, job: Any, *args: Any, **more: Any) -> Any:
        nonlocal left
        answer = read(store, job, *args, **more)
        left -= 1
        if left == 0:
            store.write_now(models.remove, model.owner.actor, model.project_id, model.id)
        return answer

    monkeypatch.setattr(Store, "read_now", racing)


@pytest.mark.parametrize("step", range(1, STEPS + 1))
@pytest.mark.parametrize("row", LINKS, ids=lambda row: row.path.rpartition("{token}")[2])
def test_whoever_looks_while_the_model_is_deleted_learns_only_that_the_link_is_gone(
    model: Model, monkeypatch: pytest.MonkeyPatch, row: Endpoint, step: int
) -> None:
    with model.service.client() as stranger:
        link = shared(model, stranger)
        model.push("/v1/live/spot-market", an_order("o1", "BTC-USD"))  # not in the books yet
        deleted_after(model, step, monkeypatch)
        status, said = _answer(stranger, row.path.format(token=link.token))
    if status != 200:
        assert status == 404, said
        assert '"no_such_share"' in said or '"not_shared"' in said, said
    elif "event: end" in said:
        assert '"no_such_share"' in said, said
    assert "Model" not in said


def _answer(stranger: httpx.Client, path: str) -> tuple[int, str]:
    """All of it; a download that is cut off has said what it said."""
    content = b""
    with stranger.stream("GET", path) as answer:
        try:
            for piece in answer.iter_bytes():
                content += piece
        except httpx.RemoteProtocolError:
            assert path.endswith(("/record", ".csv")), path
    return answer.status_code, content.decode()
