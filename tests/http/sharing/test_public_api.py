"""Links show what their choices leave and nothing else, on every address and in every answer."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tapeline.http.core.endpoint import Access
from tapeline.http.page_routes import PAGES
from tapeline.http.routes import ROUTES
from tapeline.tape.record import checking
from tests.conftest import Person, Service, let_in, on_both
from tests.http.sharing.scene import (
    BASE,
    CHOICES,
    EXCHANGE,
    FREE,
    LINKS,
    NEVER,
    PRICES,
    RESULT,
    SIZES,
    SYMBOLS,
    TEXTS,
    VALUES,
    Link,
    amounts,
    an_order,
    backtest,
    look_back_from,
    shared,
    sizes,
    spellings,
    trade,
    whole,
)
from tests.pushing import Model, pushing

PAGES_OF_LINKS = [page.path for page in PAGES if "{token}" in page.path and page.method == "GET"]
ADDRESSES = [row.path for row in LINKS] + PAGES_OF_LINKS


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    shared_service.services.watchers.close()  # so that streams end after what there is
    return shared_service


@pytest.fixture(scope="module")
def shown(service: Service, password_hash: str) -> Iterator[Model]:
    """A model that no test changes: each makes links of its own."""
    owner = let_in(service, "ada@example.com", password_hash)
    with owner.client, pushing(service, owner) as model:
        trade(model)
        backtest(model)
        yield model


def hidden_from(model: Model, choices: dict[str, Any]) -> set[str]:
    """Words and numbers that must not occur anywhere."""
    hidden = {*FREE, *NEVER, "label ZQXA", str(BASE)}
    if choices.get("percent_only") or choices.get("hide_sizes"):
        hidden |= spellings(amounts(model) | sizes(model))
    if choices.get("hide_symbols"):
        hidden |= {*SYMBOLS, "ZQX", EXCHANGE, "KWD", *spellings({*PRICES, SIZES[0], SIZES[1]})}
    if any(choices.get(name) for name in ("percent_only", "hide_symbols", "hide_sizes")):
        hidden |= set(TEXTS)
    if choices.get("hide_logs"):
        hidden |= set(TEXTS)
    if choices.get("delay_hours"):
        hidden |= {*TEXTS, "ZQX", EXCHANGE, *spellings(set(PRICES) | sizes(model) | set(VALUES))}
    return hidden


def occurring(hidden: set[str], text: str) -> set[str]:
    """Those in a text: a number only where it is not a piece of a longer one, such as a time, and a
    few letters only at the start of a word, because signatures have any letters inside."""
    found = {one for one in hidden if one in text}
    return {one for one in found if re.search(_in_its_place(one), text)}


def _in_its_place(one: str) -> str:
    if one[0] in "-0123456789":
        return rf"(?<![\d.,]){re.escape(one)}(?!\d)"
    if len(one) < 4:
        return rf"(?<![A-Za-z0-9+/_]){re.escape(one)}"
    return re.escape(one)


def answers(link: Link) -> Iterator[tuple[str, httpx.Response]]:
    """Of every address that a link has; streams from their beginning to their end."""
    for path in ADDRESSES:
        address = path.replace("{token}", link.token)
        yield path, link.client.get(address, headers={"Last-Event-ID": "0"})


@pytest.mark.heavy
@pytest.mark.parametrize("of", ["live", "backtest"])
@pytest.mark.parametrize("chosen", CHOICES)
def test_nothing_hidden_is_anywhere_in_any_answer(
    shown: Model, service: Service, chosen: str, of: str
) -> None:
    check_that_nothing_hidden_is_told(shown, service, chosen, of)


@pytest.mark.heavy
@pytest.mark.databases("postgresql")
@pytest.mark.parametrize("of", ["live", "backtest"])
@pytest.mark.parametrize("chosen", ["nothing", "delay", "all"])
def test_postgresql_reads_for_every_answer_too(
    shown: Model, service: Service, chosen: str, of: str
) -> None:
    check_that_nothing_hidden_is_told(shown, service, chosen, of)


def check_that_nothing_hidden_is_told(model: Model, service: Service, chosen: str, of: str) -> None:
    choices = CHOICES[chosen]
    hidden = hidden_from(model, choices)
    with service.client() as stranger:
        subject = {} if of == "live" else {"backtest_id": "b-sentinel"}
        link = shared(model, stranger, **choices, **subject)
        seen = 0
        for path, answer in answers(link):
            text, forbidden = whole(answer), hidden
            if path.endswith("/record") and not forbidden & set(TEXTS):
                forbidden = forbidden - {"indicator-sentinel", "btextra-sentinel"}
                forbidden = forbidden - {"description-sentinel", "label ZQXA"}
            if path.endswith("/stream") and of == "live" and chosen != "delay":
                assert text.count("event: order") == 4
            leaked = occurring(forbidden, text)
            assert not leaked, f"{path}: {leaked}"
            assert answer.status_code in (200, 404), path
            if answer.status_code == 200:
                assert answer.headers["x-robots-tag"] == "noindex"
            seen += answer.status_code == 200
        if chosen != "delay" or of == "live":
            assert seen >= len(ADDRESSES) - 5
        preview = model.owner.post(f"/api/models/{model.id}/shares/preview", json=choices | subject)
        assert not occurring(hidden, whole(preview))


def test_a_preview_is_exactly_what_a_stranger_sees(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        for choices in CHOICES.values():
            link = shared(busy, stranger, **choices)
            preview = busy.owner.post(f"/api/models/{busy.id}/shares/preview", json=choices).json()
            seen = link.json("/export.json")
            for one in (preview, seen):
                one["shared"].pop("as_of")
                one["shared"].pop("expires_at")
            assert _stripped(preview) == _stripped(seen)
    assert len(busy.owner.get(f"/api/models/{busy.id}/shares").json()["items"]) == len(CHOICES)


@pytest.mark.heavy
@pytest.mark.parametrize("of", ["live", "backtest"])
def test_a_previewed_page_is_the_page_that_a_stranger_sees(
    busy: Model, service: Service, of: str
) -> None:
    subject = {} if of == "live" else {"backtest_id": "b-sentinel"}
    with service.client() as stranger:
        for chosen, choices in CHOICES.items():
            asked = choices | subject | {"title": "Looked at"}
            preview = busy.owner.get(f"/api/models/{busy.id}/shares/preview", params=asked)
            if chosen == "delay" and subject:
                assert preview.status_code == 404
                assert "Nothing to show yet" in preview.text
                continue
            assert preview.status_code == 200, preview.text
            assert not occurring(hidden_from(busy, choices), whole(preview))
            page = stranger.get(f"/s/{shared(busy, stranger, **asked).token}")
            assert _parts(preview.text) == _parts(page.text)
            assert "<script" not in preview.text
            policy = preview.headers["content-security-policy"]
            assert "frame-ancestors 'self'" in policy
            assert preview.headers["x-frame-options"] == "SAMEORIGIN"
    assert len(busy.owner.get(f"/api/models/{busy.id}/shares").json()["items"]) <= len(CHOICES)


def _parts(html: str) -> list[str]:
    """The numbers of a page, without what belongs to its link: addresses and times of looking."""
    tables = re.findall(r"<t[dh][^>]*>.*?</t[dh]>|<dd[^>]*>.*?</dd>|<svg.*?</svg>", html, re.DOTALL)
    return [one for one in tables if "What is" not in one and "signed with" not in one]


def test_a_shared_page_tells_all_that_its_choices_leave(shown: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(shown, stranger, base=BASE)
        page = stranger.get(f"/s/{link.token}").text
        for told in ("log-sentinel", "note-sentinel", "metric-sentinel", "Positions", "Drawdown",
                     "Returns by month", "▲", "▼", "reported late", "Running"):  # fmt: skip
            assert told in page, told
        assert f"curl -o record.ndjson {service.address}/api/shared/{link.token}/record" in page
        assert "tapeline verify record.ndjson" in page
        assert "<small>KWD</small>" in page, "a currency stands beside its amount"
        assert 'class="curve curve wide"' in page
        assert 'class="curve curve narrow"' in page
        hidden = stranger.get(f"/s/{shared(shown, stranger, percent_only=True).token}").text
        assert "Symbols traded" in hidden
        assert "<h2>Log</h2>" not in hidden
        locked = shared(shown, stranger, password="open sesame")
        stranger.post(f"/s/{locked.token}", data={"password": "open sesame"},
                      headers={"Origin": service.address})  # fmt: skip
        assert "share-pass" in stranger.get(f"/s/{locked.token}").text


def test_a_link_without_choices_shows_the_record(shown: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(shown, stranger, base=BASE)
        head = link.json()
        assert (head["title"], head["kind"], head["currency"]) == ("Pusher", "live", "KWD")
        assert (head["symbols"], head["exchanges"]) == (list(SYMBOLS), [EXCHANGE])
        assert (head["trades"], head["late"], head["base"]) == (4, 4, BASE)
        assert head["lifecycle"]["running"] is True
        pnl = shown.get("/pnl")
        curve = link.json("/curve")
        assert curve["unit"] == "money"
        assert [one["value"] for one in curve["items"]] == pytest.approx(
            [one["value"] for one in pnl["series"]], rel=1e-12
        )
        trades = link.json("/trades")["items"]
        assert [one["side"] for one in trades] == ["sell", "buy", "buy", "buy"]
        assert trades[-1]["annotation"] == "note-sentinel"
        assert all(one["late_by"] > 1e6 for one in trades)
        assert [one["size"] for one in link.json("/positions")["items"]] == [
            one["size"] for one in pnl["positions"]
        ]
        assert "log-sentinel" in link.json("/logs")["items"][0]["line"]
        metrics = link.json("/metrics")
        assert metrics["computed"]["total_return"]["value"] is not None
        assert "metric-sentinel" in metrics["custom"]
        assert link.json("/periods")["years"]
        assert link.get("/round-trips").status_code == 404
        assert link.get("/tear-sheet").status_code == 404


def test_percent_only_rebases_what_is_shown(shown: Model, service: Service) -> None:
    with service.client() as stranger:
        series = [one["value"] for one in shown.get("/pnl")["series"]]
        based = shared(shown, stranger, percent_only=True, base=BASE)
        curve = based.json("/curve")
        assert curve["unit"] == "percent"
        assert [one["value"] for one in curve["items"]] == pytest.approx(
            [100, *(100 * (BASE + value) / BASE for value in series)]
        )
        gained = based.json("/metrics")["computed"]["total_return"]["value"]
        assert gained == pytest.approx(series[-1] / BASE), "the first value counts too"
        alone = shared(shown, stranger, percent_only=True).json("/curve")
        assert alone["unit"] == "index"
        values = [0.0, *(one["value"] for one in alone["items"])]
        assert max(values) - min(values) == pytest.approx(100)
        tested = shared(shown, stranger, percent_only=True, backtest_id="b-sentinel")
        curve = tested.json("/curve")
        assert curve["unit"] == "percent"
        assert curve["items"][0]["value"] == 100
        assert curve["items"][-1]["value"] == pytest.approx(100 * VALUES[-1] / VALUES[0])
        kinds = {one["type"] for one in tested.json("/metrics")["computed"].values()}
        assert "money" not in kinds
        assert tested.json("/round-trips")["items"][0]["profit_percent"] is not None


def test_pseudonyms_are_the_same_everywhere(shown: Model, service: Service) -> None:
    with service.client() as stranger:
        live = shared(shown, stranger, hide_symbols=True)
        assert live.json()["symbols"] == ["S1", "S2"]
        traded = [one["symbol"] for one in live.json("/trades")["items"]]
        assert traded == ["S1", "S2", "S2", "S1"]
        assert {one["symbol"] for one in live.json("/positions")["items"]} == {"S1", "S2"}
        assert {one["exchange"] for one in live.json("/trades")["items"]} == {"E1"}
        assert live.json()["title"] == "A live record"
        tested = shared(shown, stranger, hide_symbols=True, backtest_id="b-sentinel", title="Mine")
        assert (tested.json()["title"], tested.json()["symbols"]) == ("Mine", ["S1", "S2"])
        sent = [{"ZQXA-KWD": "S1", "ZQXB-KWD": "S2"}[one["symbol"]] for one in RESULT["trades"]]
        assert [one["symbol"] for one in tested.json("/trades")["items"]] == sent[::-1]
        assert ">S1<" in tested.get("/tear-sheet").text


@pytest.mark.heavy
@on_both
def test_a_delay_shows_what_an_undelayed_link_showed_then(
    service: Service, enter: Callable[[str], Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = ("/curve", "/drawdown", "/periods", "/metrics", "/trades", "/positions", "/logs")
    with pushing(service, enter("ada")) as model, service.client() as stranger:
        trade(model)
        model.get("/tape/seals")
        now, later = (
            shared(model, stranger, base=BASE),
            shared(model, stranger, base=BASE, delay_hours=7),
        )
        then = {path: now.json(path) for path in paths}
        head = now.json()
        model.get("/tape/seals")
        moment = time.time()
        time.sleep(0.05)
        model.push("/v1/live/log", {"line": "newer"})
        model.push("/v1/model/lifecycle", {"running": False})
        model.push("/v1/live/update-trade", {"id": "id-sentinel-2", "executionPrice": 2500.5})
        model.push("/v1/live/mark-price", {"symbol": SYMBOLS[1], "price": 9999.125})
        model.push("/v1/live/spot-market", an_order("late-comer", "NEW-KWD"))
        assert now.json()["trades"] == 5
        for path in paths[:-1]:
            assert not later.json(path).get("items") or path != "/trades"
        look_back_from(monkeypatch, moment + 7 * 3600)
        for path in paths:
            assert _stripped(later.json(path)) == _stripped(then[path]), path
        seen = later.json()
        for name in ("symbols", "exchanges", "trades", "late", "figures", "lifecycle", "counts"):
            assert seen[name] == head[name], name
        assert seen["seals"]["events"] == head["seals"]["events"]
        record = later.get("/record").text
        assert '"newer"' not in record
        assert "9999.125" not in record
        checked = checking.check(record.encode().splitlines(keepends=True))
        assert (checked.reason, checked.events) == (None, head["seals"]["events"])
        streamed = later.get("/stream", headers={"Last-Event-ID": "0"}).text
        assert "newer" not in streamed
        assert streamed.count("event: order") == 4


def _stripped(value: Any) -> Any:
    """Without the pseudonyms of orders, which are each link's own."""
    if isinstance(value, list):
        return [_stripped(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: _stripped(one) for name, one in value.items() if not _is_pseudonym(name, one)}


def _is_pseudonym(name: str, value: Any) -> bool:
    return name == "id" and re.fullmatch("o[0-9a-f]{16}", str(value)) is not None


def test_whatever_has_no_projection_is_not_there(shown: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(shown, stranger)
        for row in ROUTES:
            if row.access in (Access.PUBLIC, Access.SHARED) or row.method != "GET":
                continue
            address = row.path.replace("{model}", shown.id).replace("{backtest}", "b-sentinel")
            address = re.sub(r"\{\w+\}", shown.project_id, address)
            for headers in (
                {"token": link.token},
                {"Authorization": f"Bearer {link.token}"},
                {"share-pass": link.token},
                {"Cookie": f"tapeline_session={link.token}"},
            ):
                assert stranger.get(address, headers=headers).status_code == 401, row.path
        for path in ("/events", "/screener", "/indicators", "/orders", "/pnl", "/tape", "/runs"):
            assert link.get(path).status_code == 404
        assert stranger.get("/api/shared/none").status_code == 404
        assert stranger.get("/s/none").status_code == 404


def test_a_record_verifies_whatever_is_hidden(
    shown: Model, service: Service, tmp_path: Path
) -> None:
    whole_record = shown.owner.get(f"/api/models/{shown.id}/record")
    checked = checking.check(_lines(whole_record))
    assert checked.is_whole, checked.reason
    assert (checked.hidden, checked.partly, checked.events) == (0, 0, shown.size())
    assert checked.lists == 3
    assert [one.seq for one in checked.late] == [5, 6, 7, 12, 13]  # orders and a price
    with service.client() as stranger:
        for name, choices in CHOICES.items():
            for subject in ({}, {"backtest_id": "b-sentinel"}):
                link = shared(shown, stranger, **choices, **subject)
                answer = link.get("/record")
                checked = checking.check(_lines(answer))
                assert checked.is_whole, (name, checked.reason)
                if name != "delay":
                    assert checked.events >= 16
                    assert checked.hidden
                    assert checked.last is not None


def _lines(answer: httpx.Response) -> list[bytes]:
    assert answer.status_code == 200, answer.text
    return answer.content.splitlines(keepends=True)


def test_the_tear_sheet_of_a_locked_link_asks_a_reader_for_its_password(
    shown: Model, service: Service
) -> None:
    with service.client() as stranger:
        locked = shared(shown, stranger, password="open sesame", backtest_id="b-sentinel")
        path, browser = f"/api/shared/{locked.token}/tear-sheet", {"accept": "text/html"}
        led = stranger.get(path, headers=browser)
        assert (led.status_code, led.headers["location"]) == (303, f"/s/{locked.token}")
        told = stranger.get(path).json()
        assert told["code"] == "share_password_needed"
        assert "Open its page in a browser" in told["error"]
        assert "`share-pass`" in told["error"]
