"""The server signs the file of a record as it wrote it, so a reader sees if a part was hidden."""

import re
from collections.abc import Iterable

import pytest

from tapeline.tape.proof import signer
from tapeline.tape.record import checking
from tapeline.tape.record.outcome import Checked
from tests.conftest import Service
from tests.http.sharing.scene import shared
from tests.pushing import Model

ORDER = {"symbol": "BTC-USD", "exchange": "x", "side": "buy", "size": 1, "executionPrice": 5}


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


def record_of(model: Model) -> list[bytes]:
    answer = model.owner.get(f"/api/models/{model.id}/record")
    assert answer.status_code == 200
    return answer.content.splitlines(keepends=True)


def check(lines: Iterable[bytes], service: Service) -> Checked:
    with service.client() as anyone:
        keys = anyone.get("/.well-known/tapeline-keys.json").json()["keys"]
    return checking.check(lines, known=[one["public_key"] for one in keys])


def test_an_owner_gets_a_signed_file_in_which_all_is_shown(model: Model, service: Service) -> None:
    model.push("/v1/live/log", {"line": "before"})
    model.push("/v1/live/spot-market", {**ORDER, "id": "1"})
    lines = record_of(model)
    assert b'"version":3' in lines[0]
    assert b'"shows":"all"' in lines[0]
    found = check(lines, service)
    assert (found.verdict, found.is_file_signed, found.is_partial) == ("proven", True, False)
    assert check(lines[:-1], service).verdict == "file_not_signed"
    hidden = [re.sub(rb'"hidden":\[\]', b'"hidden":["%b"]' % (b"0" * 64), one) for one in lines]
    assert check(hidden, service).verdict == "not_all_shown"
    claimed = [lines[0].replace(b'"all"', b'"part"'), *lines[1:]]
    assert check(claimed, service).verdict == "file_changed"


def test_a_model_without_events_has_a_signed_file(model: Model, service: Service) -> None:
    found = check(record_of(model), service)
    assert (found.verdict, found.is_file_signed, found.events) == ("unsigned", True, 0)


def test_a_new_key_signs_the_file_at_once(model: Model, service: Service) -> None:
    """No event has come since the key was replaced, so it has signed nothing else."""
    model.push("/v1/live/log", {"line": "before"})
    before = record_of(model)
    made = signer.rotate(service.services.settings.data / "keys")
    after = record_of(model)
    assert made.key_id.encode() in after[-1]
    assert after[1:-1] == before[1:-1]
    assert check(after, service).verdict == "proven"


@pytest.mark.parametrize("choices", [{}, {"delay_hours": 1}, {"hide_symbols": True}])
def test_a_link_gives_a_signed_file(
    choices: dict[str, object], model: Model, service: Service
) -> None:
    model.push("/v1/live/spot-market", {**ORDER, "id": "1", "annotation": "why"})
    with service.client() as stranger:
        lines = shared(model, stranger, **choices).get("/record").content.splitlines(keepends=True)
    found = check(lines, service)
    assert found.is_file_signed, found.reason
    assert b'"shows":"part"' in lines[0]
