"""One rule for every name that comes in: it can be shown as it is."""

import json
import sys
import unicodedata
from collections.abc import Callable, Iterator

import pytest

from tapeline.accounts import plain_names
from tests.conftest import Person, Service
from tests.pushing import JSON, ORDER, Model, pushing

WRONG = ["a\x1b[2Jb", "a\u202eb", "a\r\nb", "a\x7fb", "a\x85b", "a\u2066b", "a\u2028b"]
WRONG += ["a\u061cb", "a\u200eb", "a\u200fb"]
UNSEEN = ["\u200b", "\ufeff\u2060", "\U000e0041\U000e007f", "\u3164", "\u2800", "\u0301", "\ufe0f"]
AS_JSON = {"content-type": JSON}
FINE = [
    "BTC-USD",
    "Ünï çödé",
    "模型",
    "नमूना\u200c",
    "👩\u200d🚀",
    "🏴\U000e0067\U000e007f",
    "e\u0301",
    "₿",
    "נתיב-אביב",
    "نموذج",
]
TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
STRONG = {"L", "R", "AL"}
WITH_A_SHAPE = "\u070f\U000110bd\U000110cd" + "".join(map(chr, range(0x13430, 0x13440)))
"""Signs of Syriac, Kaithi and hieroglyphs: they draw something, over or around their letters."""


def test_a_name_is_refused_if_it_cannot_be_shown_as_it_is() -> None:
    assert all(plain_names.fault(one) for one in WRONG + UNSEEN)
    assert not any(plain_names.fault(one) for one in ["", *FINE])


def test_every_control_and_every_direction_mark_of_unicode_is_refused() -> None:
    refused = {
        one
        for one in map(chr, range(sys.maxunicode + 1))
        if (kind := unicodedata.category(one)) in {"Cc", "Cs", "Zl", "Zp"}
        or unicodedata.bidirectional(one) in TURNING
        or (kind == "Cf" and unicodedata.bidirectional(one) in STRONG and one not in WITH_A_SHAPE)
    }
    assert set(plain_names.CONTROL.findall("".join(map(chr, range(sys.maxunicode + 1))))) == refused


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def test_names_of_models_projects_accounts_and_keys_and_titles_of_links_follow_it(
    model: Model,
) -> None:
    owner, project = model.owner, model.project_id
    named: list[tuple[str, dict[str, str], str]] = [
        ("/model/create-model", {"projectId": project}, "name"),
        ("/project/create", {}, "name"),
        ("/project/generate-project-token", {"projectId": project}, "name"),
        (f"/api/models/{model.id}/shares", {}, "title"),
    ]
    for path, body, field in named:
        for one in WRONG + UNSEEN:
            answer = owner.post(path, json={**body, field: one})
            assert (answer.status_code, answer.json()["field"]) == (400, field), (path, one)
        assert owner.post(path, json={**body, field: FINE[2]}).is_success


def test_symbols_and_exchanges_follow_it_however_the_event_is_written(model: Model) -> None:
    for key in ("symbol", "exchange"):
        for one in WRONG + UNSEEN:
            assert model.refused("/v1/live/spot-market", {**ORDER, key: one})["field"] == key
            raw = json.dumps({**ORDER, key: one}, ensure_ascii=False)
            shape = model.refused("/v1/live/spot-market", content=raw.encode(), headers=AS_JSON)
            assert shape["field"] == key, repr(one)
    for number, one in enumerate(FINE):
        model.push("/v1/live/spot-market", {**ORDER, "id": str(number), "symbol": one})
    assert [one["symbol"] for one in model.get("/orders")["items"]] == FINE[::-1]
