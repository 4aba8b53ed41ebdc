"""The app's shell, its files, and what the server does for it, as far as no browser is needed."""

import gzip
import json
import re
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from sqlalchemy import Connection, update

from tapeline.accounts import sign_ins, users
from tapeline.accounts.sign_ins import Origin
from tapeline.http.pages import web_app
from tapeline.ids import new_id
from tapeline.store.tables import core
from tests.conftest import Cast, Person, Service, run
from tests.pushing import Model


@pytest.fixture
def browser(service: Service, enter: Callable[[str], Person]) -> Iterator[httpx.Client]:
    """Ada's browser: a session's cookie and nothing else."""
    user = service.store.read_now(users.get, enter("ada").id)
    secret, _ = service.store.write_now(
        sign_ins.begin, user, "browser", Origin("127.0.0.1", "test"), days=30
    )
    with service.client(Origin=service.address) as client:
        client.cookies.set("tapeline_session", secret)
        yield client


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small build, so that these tests need no Node."""
    folder = tmp_path / "app"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text('<!doctype html>\n<html lang="en"><title>Tapeline</title>')
    monkeypatch.setattr(web_app, "BUILT", folder)
    return folder


def age_sessions(service: Service) -> None:
    def age(connection: Connection) -> None:
        hours_ago = time.time() - 7200
        connection.execute(
            update(core.sign_ins).values(last_used_at=hours_ago, expires_at=time.time() + 60)
        )

    service.store.write_now(age)


def test_a_call_with_the_cookie_prolongs_the_session(
    service: Service, browser: httpx.Client
) -> None:
    age_sessions(service)
    answer = browser.get("/api/me")
    assert "max-age=2592000" in answer.headers["set-cookie"].lower()
    own = service.store.read_now(sign_ins.of_user, answer.json()["id"])
    renewed = next(one for one in own if one.kind == "browser")
    assert renewed.expires_at is not None
    assert renewed.expires_at > time.time() + 29 * sign_ins.DAY
    # Once a minute is enough.
    assert "set-cookie" not in browser.get("/api/me").headers


def test_a_call_with_a_token_prolongs_no_session(service: Service, cast: Cast) -> None:
    age_sessions(service)
    assert "set-cookie" not in cast.owner.get("/api/me").headers


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    "path",
    ["/", "/account", "/{id}", "/{id}/deploy", "/{id}/{id}/overview", "/{id}/{id}/{id}/backtest"],
)
def test_every_address_of_the_app_is_its_shell(browser: httpx.Client, path: str) -> None:
    answer = browser.get(path.replace("{id}", new_id()))
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert "<title>Tapeline" in answer.text
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


def test_the_app_can_be_installed(anybody: httpx.Client) -> None:
    answer = anybody.get("/static/app.webmanifest")
    assert answer.headers["content-type"] == "application/manifest+json"
    manifest = answer.json()
    assert (manifest["start_url"], manifest["scope"]) == ("/", "/")
    pictures = [one for one in manifest["icons"] if one["type"] == "image/png"]
    assert {one["purpose"] for one in pictures} == {"any", "maskable"}
    for one in pictures:
        content = anybody.get(one["src"]).content
        width, height = struct.unpack(">2L", content[16:24])
        assert one["sizes"] == f"{width}x{height}"


def test_the_worker_keeps_public_files_alone(anybody: httpx.Client) -> None:
    worker = anybody.get("/service-worker.js")
    assert worker.headers["content-type"].startswith("text/javascript")
    assert worker.headers["cache-control"] == "no-cache"
    assert "connect-src 'self'" in worker.headers["content-security-policy"]
    listed = re.search(r"const SHELL = (.*);", worker.text)
    assert listed is not None
    kept = json.loads(listed[1])
    assert "/offline" in kept
    for path in kept:
        answer = anybody.get(path)  # nobody is signed in
        assert answer.status_code == 200, path
        assert "set-cookie" not in answer.headers
    offline = anybody.get("/offline")
    assert "not live" in offline.text
    assert "script-src 'self'" in offline.headers["content-security-policy"]


def test_signing_out_leaves_nothing_in_the_browser(browser: httpx.Client) -> None:
    answer = browser.post("/auth/signout/form")
    assert answer.headers["clear-site-data"] == '"storage"'


@pytest.mark.usefixtures("built")
def test_who_is_not_signed_in_comes_back_to_the_same_place(anybody: httpx.Client) -> None:
    path = f"/{new_id()}/{new_id()}/overview?x=1"
    answer = anybody.get(path)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/auth/signin?{urlencode({'redirectUrl': path})}"


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("path", ["/nothing", "/nothing/here", "/UPPERCASEUPPERCA", "/favicon.ico"])
def test_what_is_no_id_is_still_nothing(browser: httpx.Client, path: str) -> None:
    assert browser.get(path).json()["code"] == "no_such_page"
    page = browser.get(path, headers={"Accept": "text/html,*/*;q=0.8"})
    assert page.status_code == 404
    assert "There is nothing here" in page.text


@pytest.mark.usefixtures("built")
def test_a_chosen_look_is_there_from_the_first_byte(browser: httpx.Client) -> None:
    browser.cookies.update({"tapeline_theme": "dark", "tapeline_rising": "red"})
    for path in ("/", "/settings"):
        page = browser.get(path)
        assert page.text.startswith(
            '<!doctype html>\n<html lang="en" data-theme="dark" data-rising="red">'
        )
        assert int(page.headers["content-length"]) == len(page.content)
    browser.cookies.update({"tapeline_theme": '"><script>'})
    assert "script" not in browser.get("/settings").text.partition("<head>")[0]


def test_without_a_build_the_page_says_what_to_do(
    browser: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_app, "BUILT", tmp_path)
    answer = browser.get("/")
    assert answer.status_code == 503
    assert "scripts/setup" in answer.text


def test_built_files_are_kept_for_ever_and_packed(built: Path) -> None:
    (built / "assets" / "a-1.js").write_text("let a = 1")
    (built / "assets" / "a-1.js.gz").write_bytes(gzip.compress(b"let a = 1"))
    for accepted, encoding in (("gzip", "gzip"), ("gzip;q=0, br", None), ("", None)):
        answer = run(_file("/a-1.js", accepted))
        assert answer.text == "let a = 1"
        assert answer.headers.get("content-encoding") == encoding
        assert answer.headers["content-type"].startswith("text/javascript")
        assert "immutable" in answer.headers["cache-control"]


async def _file(path: str, accepted: str) -> httpx.Response:
    transport = httpx.ASGITransport(web_app.BuiltFiles())
    async with httpx.AsyncClient(transport=transport, base_url="http://app") as client:
        return await client.get(path, headers={"Accept-Encoding": accepted})


def test_a_name_can_be_changed_and_must_be_one(cast: Cast) -> None:
    assert cast.owner.client.patch("/api/me", json={"name": " Ada "}).json()["name"] == "Ada"
    assert cast.owner.client.patch("/api/me", json={"name": " "}).status_code == 400


def test_a_model_can_be_renamed(model: Model) -> None:
    path, owner = f"/api/models/{model.id}", model.owner.client
    changed = owner.patch(path, json={"name": "New", "general_description": "Words"}).json()
    assert (changed["name"], changed["description"]) == ("New", "Words")
    assert owner.patch(path, json={"name": " "}).json()["field"] == "name"


def test_a_project_tells_which_models_changed(model: Model) -> None:
    path = f"/api/projects/{model.project_id}/stream"
    with model.owner.client.stream("GET", path) as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": connected"
        model.push("/v1/live/log", {"line": "hello", "type": "stdout"})
        found = next(line for line in lines if line.startswith("data: "))
    said = json.loads(found.removeprefix("data: "))
    assert said["model"] == model.id
    assert said["kinds"] in (["log"], [])  # empty where it was found by looking at the tape


def test_a_project_tells_of_models_that_come_change_and_go(cast: Cast) -> None:
    owner, project = cast.owner.client, {"projectId": cast.project_id}
    with owner.stream("GET", f"/api/projects/{cast.project_id}/stream") as stream:
        notices = (
            json.loads(line.removeprefix("data: "))["model"]
            for line in stream.iter_lines()
            if line.startswith("data: ")
        )
        new = {**project, "name": "New", "type": "strategy"}
        made = owner.post("/model/create-model", json=new).json()["modelId"]
        assert next(notices) == made
        owner.patch(f"/api/models/{made}", json={"name": "Other"})
        assert next(notices) == made
        owner.post("/model/delete", json={**project, "modelId": made})
        assert next(notices) == made


def test_a_project_without_runs_lists_none(cast: Cast) -> None:
    answer = cast.owner.get(f"/api/projects/{cast.project_id}/runs")
    assert answer.json() == {"items": [], "next": None}
