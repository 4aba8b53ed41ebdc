"""Links show what their choices leave and nothing else, on every address and in every answer."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from tapeline.http.endpoint import Access
from tapeline.http.pages import PAGES
from tapeline.http.routes import ROUTES
from tapeline.store.share_tables import share_visits, shares
from tapeline.tape import record_check
from tests.conftest import Cast, Person, Service
from tests.http.sharing_scene import (
    BASE,
    CHOICES,
    EXCHANGE,
    FREE,
    LINKS,
    NEVER,
    PRICES,
    RESULT,
    SYMBOLS,
    TEXTS,
    VALUES,
    Link,
    amounts,
    backtest,
    shared,
    sizes,
    spellings,
    trade,
    whole,
)
from tests.pushing import Model, pushing

PAGES_OF_LINKS = [page.path for page in PAGES if "{token}" in page.path and page.method == "GET"]
ADDRESSES = [row.path for row in LINKS] + PAGES_OF_LINKS


@pytest.fixture
def busy(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as model:
        trade(model)
        backtest(model)
        yield model


def hidden_from(model: Model, choices: dict[str, Any]) -> set[str]:
    """Words and numbers that must not occur anywhere."""
    hidden = {*FREE, *NEVER, "label ZQXA", str(BASE)}
    if choices.get("percent_only"):
        hidden |= spellings(amounts(model) | sizes(model))
    if choices.get("hide_sizes"):
        hidden |= spellings(sizes(model))
        if not choices.get("percent_only"):
            # The account as a whole is shown in money: its first value is the first fee.
            hidden -= spellings({one["value"] for one in model.get("/pnl")["series"]})
    if choices.get("hide_symbols"):
        hidden |= {*SYMBOLS, "ZQX", EXCHANGE, "KWD", *spellings(set(PRICES))}
    if any(choices.get(name) for name in ("percent_only", "hide_symbols", "hide_sizes")):
        hidden |= set(TEXTS)
    if choices.get("hide_logs"):
        hidden |= set(TEXTS)
    if choices.get("delay_hours"):
        hidden |= {*TEXTS, "ZQX", EXCHANGE, *spellings(set(PRICES) | sizes(model) | set(VALUES))}
    return hidden


def answers(link: Link, service: Service) -> Iterator[tuple[str, httpx.Response]]:
    """Of every address that a link has; streams from their beginning to their end."""
    for path in ADDRESSES:
        address = path.replace("{token}", link.token)
        yield path, link.client.get(address, headers={"Last-Event-ID": "0"})


@pytest.mark.heavy
@pytest.mark.parametrize("of", ["live", "backtest"])
@pytest.mark.parametrize("chosen", CHOICES)
def test_nothing_hidden_is_anywhere_in_any_answer(
    busy: Model, service: Service, chosen: str, of: str
) -> None:
    choices = CHOICES[chosen]
    hidden = hidden_from(busy, choices)
    with service.client() as stranger:
        subject = {} if of == "live" else {"backtest_id": "b-sentinel"}
        link = shared(busy, stranger, **choices, **subject)
        service.services.watchers.close()  # so that streams end after what there is
        seen = 0
        for path, answer in answers(link, service):
            text, forbidden = whole(answer), hidden
            if path.endswith("/record") and not forbidden & set(TEXTS):
                forbidden = forbidden - {"indicator-sentinel", "btextra-sentinel"}
                forbidden = forbidden - {"description-sentinel", "label ZQXA"}
            if path.endswith("/stream") and of == "live" and chosen != "delay":
                assert text.count("event: order") == 4
            leaked = {one for one in forbidden if one in text}
            assert not leaked, f"{path}: {leaked}"
            assert answer.status_code in (200, 404), path
            if answer.status_code == 200:
                assert answer.headers["x-robots-tag"] == "noindex"
            seen += answer.status_code == 200
        if chosen != "delay" or of == "live":
            assert seen >= len(ADDRESSES) - 4
        preview = busy.owner.post(f"/api/models/{busy.id}/shares/preview", json=choices | subject)
        assert not {one for one in hidden if one in whole(preview)}


def test_a_preview_is_exactly_what_a_stranger_sees(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        for choices in CHOICES.values():
            link = shared(busy, stranger, **choices)
            preview = busy.owner.post(f"/api/models/{busy.id}/shares/preview", json=choices).json()
            seen = link.json("/export.json")
            for one in (preview, seen):
                one["shared"].pop("as_of")
                one["shared"].pop("expires_at")
                for item in one["trades"]["items"]:
                    assert item.pop("id").startswith("o")
            assert preview == seen
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
            assert not {one for one in hidden_from(busy, choices) if one in whole(preview)}
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


def test_a_shared_page_tells_all_that_its_choices_leave(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(busy, stranger, base=BASE)
        page = stranger.get(f"/s/{link.token}").text
        for told in ("log-sentinel", "note-sentinel", "metric-sentinel", "Positions", "Drawdown",
                     "Returns by month", "▲", "▼", "reported late", "Running"):  # fmt: skip
            assert told in page, told
        assert f"curl -o record.ndjson {service.address}/api/shared/{link.token}/record" in page
        assert "tapeline verify record.ndjson" in page
        assert 'class="curve curve wide"' in page
        assert 'class="curve curve narrow"' in page
        hidden = stranger.get(f"/s/{shared(busy, stranger, hide_sizes=True).token}").text
        assert "Symbols traded" in hidden
        assert "<h2>Log</h2>" not in hidden
        locked = shared(busy, stranger, password="open sesame")
        stranger.post(f"/s/{locked.token}", data={"password": "open sesame"},
                      headers={"Origin": service.address})  # fmt: skip
        assert "share-pass" in stranger.get(f"/s/{locked.token}").text


def test_a_link_without_choices_shows_the_record(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(busy, stranger, base=BASE)
        head = link.json()
        assert (head["title"], head["kind"], head["currency"]) == ("Pusher", "live", "KWD")
        assert (head["symbols"], head["exchanges"]) == (list(SYMBOLS), [EXCHANGE])
        assert (head["trades"], head["late"], head["base"]) == (4, 4, BASE)
        assert head["lifecycle"]["running"] is True
        pnl = busy.get("/pnl")
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


def test_percent_only_rebases_what_is_shown(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        series = [one["value"] for one in busy.get("/pnl")["series"]]
        based = shared(busy, stranger, percent_only=True, base=BASE)
        curve = based.json("/curve")
        assert curve["unit"] == "percent"
        assert [one["value"] for one in curve["items"]] == pytest.approx(
            [100 * (BASE + value) / BASE for value in series]
        )
        alone = shared(busy, stranger, percent_only=True).json("/curve")
        assert alone["unit"] == "index"
        values = [0.0, *(one["value"] for one in alone["items"])]
        assert max(values) - min(values) == pytest.approx(100)
        tested = shared(busy, stranger, percent_only=True, backtest_id="b-sentinel")
        curve = tested.json("/curve")
        assert curve["unit"] == "percent"
        assert curve["items"][0]["value"] == 100
        assert curve["items"][-1]["value"] == pytest.approx(100 * VALUES[-1] / VALUES[0])
        kinds = {one["type"] for one in tested.json("/metrics")["computed"].values()}
        assert "money" not in kinds
        assert tested.json("/round-trips")["items"][0]["profit_percent"] is not None


def test_pseudonyms_are_the_same_everywhere(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        live = shared(busy, stranger, hide_symbols=True)
        assert live.json()["symbols"] == ["S1", "S2"]
        traded = [one["symbol"] for one in live.json("/trades")["items"]]
        assert traded == ["S1", "S2", "S2", "S1"]
        assert {one["symbol"] for one in live.json("/positions")["items"]} == {"S1", "S2"}
        assert {one["exchange"] for one in live.json("/trades")["items"]} == {"E1"}
        assert live.json()["title"] == "A live record"
        tested = shared(busy, stranger, hide_symbols=True, backtest_id="b-sentinel", title="Mine")
        assert (tested.json()["title"], tested.json()["symbols"]) == ("Mine", ["S1", "S2"])
        sent = [{"ZQXA-KWD": "S1", "ZQXB-KWD": "S2"}[one["symbol"]] for one in RESULT["trades"]]
        assert [one["symbol"] for one in tested.json("/trades")["items"]] == sent[::-1]
        assert ">S1<" in tested.get("/tear-sheet").text


@pytest.mark.heavy
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
        model.push("/v1/live/spot-market", _order("late-comer", "NEW-KWD"))
        assert now.json()["trades"] == 5
        for path in paths[:-1]:
            assert not _stripped(later.json(path), "items") or path != "/trades"
        monkeypatch.setattr(
            "tapeline.sharing.asof.time", SimpleNamespace(time=lambda: moment + 7 * 3600)
        )
        for path in paths:
            assert _stripped(later.json(path)) == _stripped(then[path]), path
        seen = later.json()
        for name in ("symbols", "exchanges", "trades", "late", "figures", "lifecycle", "counts"):
            assert seen[name] == head[name], name
        assert seen["seals"]["events"] == head["seals"]["events"]
        record = later.get("/record").text
        assert '"newer"' not in record
        assert "9999.125" not in record
        checked = record_check.check(record.encode().splitlines(keepends=True))
        assert (checked.reason, checked.events) == (None, head["seals"]["events"])
        service.services.watchers.close()
        streamed = later.get("/stream", headers={"Last-Event-ID": "0"}).text
        assert "newer" not in streamed
        assert streamed.count("event: order") == 4


def _order(order_id: str, symbol: str) -> dict[str, Any]:
    return {
        "id": order_id, "symbol": symbol, "exchange": "e", "side": "buy", "size": 1,
        "executionPrice": 5,
    }  # fmt: skip


def _stripped(value: Any, only: str | None = None) -> Any:
    """Without the pseudonyms of orders, which are each link's own."""
    if only is not None:
        return value.get(only)
    for one in value.get("items", []):
        one.pop("id", None)
    return value


def test_whatever_has_no_projection_is_not_there(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(busy, stranger)
        for row in ROUTES:
            if row.access in (Access.PUBLIC, Access.SHARED) or row.method != "GET":
                continue
            address = row.path.replace("{model}", busy.id).replace("{backtest}", "b-sentinel")
            address = re.sub(r"\{\w+\}", busy.project_id, address)
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


def test_a_link_can_be_changed_expires_and_is_revoked(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(busy, stranger)
        (made,) = busy.owner.get(f"/api/models/{busy.id}/shares").json()["items"]
        assert link.token not in str(made)
        one = f"/api/models/{busy.id}/shares/{made['id']}"
        assert link.get("/logs").status_code == 200
        assert busy.owner.patch(one, json={"hide_logs": True, "title": "T"}).json()["title"] == "T"
        assert link.get("/logs").status_code == 404
        assert link.json()["title"] == "T"
        past = busy.owner.patch(one, json={"expires_at": 5})
        assert (past.status_code, past.json()["field"]) == (400, "expires_at")
        assert busy.owner.patch(one, json={"expires_at": time.time() + 0.3}).is_success
        assert link.get().status_code == 200
        time.sleep(0.35)
        assert link.get().status_code == 404
        assert busy.owner.patch(one, json={"expires_at": None}).is_success
        assert link.get().status_code == 200
        assert busy.owner.delete(one).is_success
        assert {link.get(path).status_code for path in ("", "/curve", "/record")} == {404}
        assert busy.owner.delete(one).status_code == 404
        assert {entry["action"] for entry in _audit(busy)} >= {
            "share_created", "share_changed", "share_revoked",
        }  # fmt: skip


def _audit(model: Model) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = model.owner.get(f"/api/projects/{model.project_id}/audit").json()[
        "items"
    ]
    return found


def test_a_password_is_exchanged_for_a_pass(busy: Model, service: Service) -> None:
    with service.client() as stranger, service.client() as browser:
        link = shared(busy, stranger, password="open sesame")
        answer = link.get()
        assert (answer.status_code, answer.json()["code"]) == (401, "share_password_needed")
        assert link.get("/record").status_code == 401
        passing = f"/api/shared/{link.token}/pass"
        wrong = stranger.post(passing, json={"password": "wrong one"})
        assert (wrong.status_code, wrong.json()["field"]) == (401, "password")
        given = stranger.post(passing, json={"password": "open sesame"}).json()
        assert given["expires_at"] > time.time() + 3600
        headers = {"share-pass": given["pass"]}
        assert link.get("/curve", headers=headers).status_code == 200
        ends, _, mark = given["pass"].partition(".")
        for forged in (f"{int(ends) + 1}.{mark}", f"{ends}.{'0' * 64}", "x", "5.é"):
            sent = {b"share-pass": forged.encode()}
            assert link.get(headers=sent).status_code == 401
        page = browser.get(f"/s/{link.token}")
        assert page.status_code == 200
        assert "password" in page.text
        assert "og:image" not in page.text
        assert "Pusher" not in page.text
        assert browser.get(f"/s/{link.token}/picture.png").status_code == 404
        assert "password" in browser.get(f"/embed/{link.token}").text
        ours = {"Origin": service.address}
        form = browser.post(f"/s/{link.token}", data={"password": "no"}, headers=ours)
        assert form.status_code == 401
        form = browser.post(f"/s/{link.token}", data={"password": "open sesame"}, headers=ours)
        assert form.status_code == 303
        assert "httponly" in form.headers["set-cookie"].lower()
        assert "Pusher" in browser.get(f"/s/{link.token}").text
        (made,) = busy.owner.get(f"/api/models/{busy.id}/shares").json()["items"]
        assert made["has_password"] is True
        one = f"/api/models/{busy.id}/shares/{made['id']}"
        assert busy.owner.patch(one, json={"password": "another one"}).is_success
        assert link.get("/curve", headers=headers).status_code == 401  # it died with its password
        assert busy.owner.patch(one, json={"password": None}).is_success
        assert link.get("/curve").status_code == 200


@pytest.mark.heavy
def test_guessing_passwords_is_limited(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(busy, stranger, password="open sesame")
        statuses = [
            stranger.post(f"/api/shared/{link.token}/pass", json={"password": "x"}).status_code
            for _ in range(service.services.settings.signin_limit_account + 1)
        ]
        assert statuses[-1] == 429
        assert set(statuses[:-1]) == {401}


def test_views_are_counted_once_a_day_and_no_address_is_kept(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(busy, stranger)
        for agent in ("one", "one", "two"):
            headers = {"User-Agent": agent}
            assert stranger.get(f"/s/{link.token}", headers=headers).status_code == 200
            assert link.get(headers=headers).status_code == 200
        (made,) = busy.owner.get(f"/api/models/{busy.id}/shares").json()["items"]
        assert made["views"] == 2
        assert made["last_viewed_at"] is not None
        busy.owner.post(f"/api/models/{busy.id}/shares/preview", json={})
        rows = service.store.read_now(lambda c: c.execute(share_visits.select()).all())
        assert len(rows) == 2
        assert "127.0.0.1" not in str(rows)
        stored = service.store.read_now(lambda c: str(c.execute(shares.select()).all()))
        assert link.token not in stored


def test_who_may_share(service: Service, cast: Cast) -> None:
    with pushing(service, cast.owner, cast.project_id) as model:
        path = f"/api/models/{model.id}/shares"
        tried = [
            person.post(path, json={}).status_code
            for person in (cast.owner, cast.admin, cast.member, cast.viewer, cast.outsider)
        ]
        assert tried == [200, 200, 403, 403, 404]
        assert len(cast.viewer.get(path).json()["items"]) == 2
        assert cast.outsider.get(path).status_code == 404
        wrong = cast.owner.post(path, json={"backtest_id": "none"})
        assert (wrong.status_code, wrong.json()["code"]) == (404, "no_such_backtest")


def test_only_the_frame_may_stand_in_other_pages(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(busy, stranger, title="<b>Mine</b>")
        page = stranger.get(f"/s/{link.token}")
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert page.headers["x-frame-options"] == "DENY"
        frame = stranger.get(f"/embed/{link.token}")
        assert "frame-ancestors *" in frame.headers["content-security-policy"]
        assert "x-frame-options" not in frame.headers
        for text in (page.text, frame.text):
            # Whatever runs in them is a file of ours; nothing is written into the page.
            assert all(one.startswith(' type="module" src="/app/assets/') for one in
                       re.findall(r"<script([^>]*)", text))  # fmt: skip
            assert "<b>Mine" not in text
            assert "<svg" in text
        assert "data-theme" not in frame.text
        dark = stranger.get(f"/embed/{link.token}?theme=dark")
        assert '<html lang="en" data-theme="dark">' in dark.text
        assert "theme=" not in stranger.get(f"/embed/{link.token}?theme=x%22%3E").text
        assert f'content="{service.address}/s/{link.token}/picture.png"' in page.text
        assert "d late" in page.text
        assert "What is proved" in page.text


def test_the_picture_is_a_png_of_the_right_size(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        for choices in ({}, {"backtest_id": "b-sentinel"}, {"delay_hours": 5}):
            link = shared(busy, stranger, **choices)
            answer = stranger.get(f"/s/{link.token}/picture.png")
            if "delay_hours" in choices:
                assert answer.status_code == 200
            assert answer.content[:8] == b"\x89PNG\r\n\x1a\n"
            width, height = (int.from_bytes(answer.content[at : at + 4]) for at in (16, 20))
            assert (width, height) == (1200, 630)
            # Pixels alone: no words about where and when.
            chunks = set(re.findall(rb"tEXt|iTXt|zTXt|eXIf|tIME", answer.content))
            assert not chunks


def test_a_stream_of_a_link_ends_when_it_is_revoked(
    busy: Model, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeline.http.stream.HEARTBEAT", 0.2)
    with service.client() as stranger:
        link = shared(busy, stranger, hide_sizes=True)
        (made,) = busy.owner.get(f"/api/models/{busy.id}/shares").json()["items"]
        with stranger.stream("GET", f"/api/shared/{link.token}/stream") as answer:
            lines = answer.iter_lines()
            assert next(lines) == ": connected"
            busy.push("/v1/live/spot-market", _order("x", "NEW-KWD"))
            data = next(line for line in lines if line.startswith("data:"))
            assert '"symbol":"NEW-KWD"' in data
            assert '"size":null' in data
            busy.owner.delete(f"/api/models/{busy.id}/shares/{made['id']}")
            assert all(line.startswith(":") or not line for line in lines)


def test_a_model_that_is_deleted_takes_its_links_along(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(busy, stranger)
        body = {"projectId": busy.project_id, "modelId": busy.id}
        assert busy.owner.post("/model/delete", json=body).is_success
        assert link.get().status_code == 404


def test_a_backtest_that_is_not_there_yet_says_so(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(busy, stranger, backtest_id="b-sentinel", delay_hours=1)
        answer = link.get()
        assert (answer.status_code, answer.json()["code"]) == (404, "nothing_to_show_yet")
        assert "Nothing to show yet" in stranger.get(f"/s/{link.token}").text
        busy.owner.delete(f"/api/models/{busy.id}/backtests/b-sentinel")
        assert link.get("/curve").json()["code"] == "no_such_backtest"


def test_a_record_verifies_whatever_is_hidden(
    busy: Model, service: Service, tmp_path: Path
) -> None:
    whole_record = busy.owner.get(f"/api/models/{busy.id}/record")
    checked = record_check.check(_lines(whole_record))
    assert checked.is_whole, checked.reason
    assert (checked.hidden, checked.partly, checked.events) == (0, 0, busy.size())
    assert checked.lists == 3
    assert [one.seq for one in checked.late] == [5, 6, 7, 13]
    with service.client() as stranger:
        for name, choices in CHOICES.items():
            for subject in ({}, {"backtest_id": "b-sentinel"}):
                link = shared(busy, stranger, **choices, **subject)
                answer = link.get("/record")
                checked = record_check.check(_lines(answer))
                assert checked.is_whole, (name, checked.reason)
                if name != "delay":
                    assert checked.events >= 16
                    assert checked.hidden
                    assert checked.last is not None


def _lines(answer: httpx.Response) -> list[bytes]:
    assert answer.status_code == 200, answer.text
    return answer.content.splitlines(keepends=True)
