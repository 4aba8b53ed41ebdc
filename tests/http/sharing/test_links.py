"""The life of a link: who makes it, how it ends, who may look and how often they did."""

import re
import time
from typing import Any

import pytest

from tapeline.accounts import limits
from tapeline.sharing.links import visits
from tapeline.store.tables.shares import share_visits, shares
from tests.conftest import Cast, Service, on_both
from tests.http.sharing.scene import RESULT, an_order, shared
from tests.pushing import Model, pushing


@on_both
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
        assert busy.owner.patch(one, json={"expires_at": time.time() + 600}).is_success
        assert link.get().status_code == 200
        over = shares.update().values(expires_at=time.time() - 1)
        service.store.write_now(lambda connection: connection.execute(over))
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


@on_both
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
def test_guessing_passwords_is_limited(
    busy: Model, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SHORTEST_WAIT", 600.0)
    with service.client() as stranger:
        link = shared(busy, stranger, password="open sesame")
        statuses = [
            stranger.post(f"/api/shared/{link.token}/pass", json={"password": "x"}).status_code
            for _ in range(service.services.settings.signin_limit_account + 1)
        ]
        assert statuses[-1] == 429
        assert set(statuses[:-1]) == {401}


def test_no_more_visitors_are_remembered_than_a_link_has_in_a_good_day(
    busy: Model, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visits, "MOST_A_DAY", 3)
    with service.client() as stranger:
        link = shared(busy, stranger)
        for number in range(6):
            assert link.get(headers={"User-Agent": f"agent {number}"}).status_code == 200
    (made,) = busy.owner.get(f"/api/models/{busy.id}/shares").json()["items"]
    assert made["views"] == 3


@on_both
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
        assert "What this proves" in page.text


@on_both
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


def test_the_picture_of_a_deleted_backtest_is_gone_at_once(busy: Model, service: Service) -> None:
    busy.push("/v1/backtest/result", RESULT | {"backtest_id": "b-gone"})
    with service.client() as stranger:
        link = shared(busy, stranger, backtest_id="b-gone")
        picture = f"/s/{link.token}/picture.png"
        assert stranger.get(picture).status_code == 200
        deleted = busy.owner.delete(f"/api/models/{busy.id}/backtests/b-gone")
        assert deleted.status_code == 200, deleted.text
        assert (link.get().status_code, stranger.get(picture).status_code) == (404, 404)


def test_a_stream_of_a_link_shows_what_its_choices_leave(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(busy, stranger, hide_sizes=True)
        with stranger.stream("GET", f"/api/shared/{link.token}/stream") as answer:
            lines = answer.iter_lines()
            assert next(lines) == ": connected"
            busy.push("/v1/live/spot-market", an_order("x", "NEW-KWD"))
            data = next(line for line in lines if line.startswith("data:"))
            assert '"symbol":"NEW-KWD"' in data
            assert '"size":null' in data


def test_a_model_that_is_deleted_takes_its_links_along(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(busy, stranger)
        body = {"projectId": busy.project_id, "modelId": busy.id}
        assert busy.owner.post("/model/delete", json=body).is_success
        assert link.get().status_code == 404


@on_both
def test_a_backtest_that_is_not_there_yet_says_so(busy: Model, service: Service) -> None:
    with service.client() as stranger:
        link = shared(busy, stranger, backtest_id="b-sentinel", delay_hours=1)
        answer = link.get()
        assert (answer.status_code, answer.json()["code"]) == (404, "nothing_to_show_yet")
        assert "Nothing to show yet" in stranger.get(f"/s/{link.token}").text
        busy.owner.delete(f"/api/models/{busy.id}/backtests/b-sentinel")
        assert link.get("/curve").json()["code"] == "no_such_backtest"
