"""Downloads take places of their tenants, and none of them outlives the right to it."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

import httpx
import pytest

from tapeline.accounts import users
from tapeline.accounts.actor import OPERATOR
from tapeline.errors import Overloaded
from tapeline.fair_line import VISITORS, Owner
from tapeline.http.core import long_answers
from tapeline.http.routes import ROUTES
from tapeline.http.wire import download_places
from tapeline.http.wire.download_places import Places
from tapeline.settings import Settings
from tapeline.turns import Turns
from tests.archives import zipped
from tests.conftest import Cast, Person, Service, let_in, run, running
from tests.http.deployment.uploading import send
from tests.http.downloading import begun, content_of, is_download
from tests.pushing import ORDER, RESULT, Model, pushing
from tests.test_error_shape import check_shape
from tests.waiting import wait_for

NOBODY: dict[str, str] = {}


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    return sqlite_settings


def places(service: Service, monkeypatch: pytest.MonkeyPatch, count: int) -> Places:
    found = service.services.downloads
    monkeypatch.setattr(found, "_turns", Turns(count, apart=()))
    monkeypatch.setattr(found, "_patience", 300.0)  # of a slow machine
    return found


def token_of(person: Person) -> dict[str, str]:
    return {"token": person.client.headers["token"]}


def archive_of(person: Person, size: int = 6_000_000) -> str:
    """Where a large archive of theirs is."""
    content = zipped({"data.bin": os.urandom(size)})
    answer = send(person, "/model/upload", content, createNew="true", name="Large")
    said = answer.json()
    return f"/api/models/{said['modelId']}/versions/{said['versionId']}/archive"


@dataclass(frozen=True)
class Files:
    """A model with something in each of its files, and where they are."""

    model: Model
    of_member: dict[str, str]
    of_links: dict[str, str]

    @property
    def paths(self) -> list[str]:
        return [*self.of_member.values(), *self.of_links.values()]


@pytest.fixture
def files(service: Service, cast: Cast) -> Iterator[Files]:
    with pushing(service, cast.owner, cast.project_id) as model:
        model.push("/v1/live/log", {"line": "x"})
        model.push("/v1/backtest/log", {"line": "x", "backtest_id": "b1"})
        model.push("/v1/live/spot-market", ORDER)
        model.push("/v1/backtest/result", RESULT)
        said = send(cast.owner, "/model/upload", zipped(), modelId=model.id).json()
        starter = {"name": "momentum", "version_id": said["versionId"]}
        cast.owner.post(f"/api/models/{model.id}/starters", json=starter).raise_for_status()
        home = f"/api/models/{model.id}/shares"
        live, tested = (
            cast.owner.post(home, json=one).json()["token"] for one in ({}, {"backtest_id": "b1"})
        )
        names = {"model": model.id, "backtest": "b1", "version": said["versionId"]}
        rows = [row.path for row in ROUTES if is_download(row)]
        of_member = {
            row: row.format(**names, starter="momentum") for row in rows if "{token}" not in row
        }
        of_links = {
            row: row.format(token=tested if "round-trips" in row else live)
            for row in rows
            # One answer in JSON that was made before its head is sent.
            if "{token}" in row and not row.endswith("export.json")
        }
        yield Files(model, of_member, of_links)


class Download(threading.Thread):
    """One that is read in the background, as soon as it begins."""

    def __init__(self, service: Service, path: str, headers: dict[str, str]) -> None:
        super().__init__(daemon=True)
        self._service, self._path, self._headers = service, path, headers
        self.content = b""
        self.is_whole = False
        self.start()

    def run(self) -> None:
        with (
            self._service.client(**self._headers) as client,
            client.stream("GET", self._path, timeout=300) as answer,
        ):
            assert answer.status_code == 200, (self._path, answer.read())
            try:
                for piece in answer.iter_raw():
                    self.content += piece
                self.is_whole = True
            except httpx.RemoteProtocolError:
                return


def test_no_download_of_the_application_outlives_the_right_to_it(
    service: Service, cast: Cast, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each waits for its place while the right to it ends, so not a byte of it may come."""
    monkeypatch.setattr(long_answers, "AUTHORISED_EVERY", 0.0)
    monkeypatch.setattr(download_places, "WAITED", 600.0)
    taken = places(service, monkeypatch, 1)
    large, member = archive_of(cast.outsider), token_of(cast.member)
    with begun(service, large, token_of(cast.outsider)):
        waiting = [Download(service, path, member) for path in files.of_member.values()]
        waiting += [Download(service, path, NOBODY) for path in files.of_links.values()]
        wait_for(lambda: len(taken._turns) == len(files.paths))
        assert set(taken._turns._lines) == {cast.member.id, cast.owner.id}, "tenants, nothing else"
        service.store.write_now(users.set_disabled, OPERATOR, cast.member.email, disabled=True)
        home = f"/api/models/{files.model.id}/shares"
        for share in cast.owner.get(home).json()["items"]:
            cast.owner.delete(f"{home}/{share['id']}").raise_for_status()
    for one in waiting:
        one.join(60)
        assert (one.is_alive(), one.is_whole, one.content) == (False, False, b""), one._path
    wait_for(lambda: not taken._taken)


def test_head_of_a_file_needs_no_place(
    service: Service, cast: Cast, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    places(service, monkeypatch, 1)
    large = archive_of(cast.outsider)
    with begun(service, large, token_of(cast.outsider)) as answer:
        head = cast.outsider.client.head(large)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == answer.headers["content-length"]
        for path in files.of_member.values():
            assert cast.member.client.head(path).status_code == 200, path


def test_a_download_leaves_no_copy_behind_whether_it_is_read_or_left(
    service: Service, enter: Callable[[str], Person]
) -> None:
    ada = enter("ada")
    large, spool = archive_of(ada), service.services.settings.data / "spool"
    with begun(service, large, token_of(ada)):
        assert list(spool.iterdir()) == []
    assert len(ada.get(large).content) > 6_000_000
    assert list(spool.iterdir()) == []


def test_archives_in_object_storage_are_read_there(settings: Settings, password_hash: str) -> None:
    """Another spelling of a folder, so that the library reads it, as it does a bucket."""
    folder = settings.data.parent / "bucket"
    folder.mkdir()
    with (
        running(replace(settings, blobs=f"file://localhost{folder}")) as service,
        ExitStack() as end,
    ):
        ada = let_in(service, "ada@example.com", password_hash)
        end.enter_context(ada.client)
        large = archive_of(ada)
        (stored,) = folder.iterdir()
        assert ada.get(large).content == stored.read_bytes()
        source = large.replace("/archive", "/files")
        assert "data.bin" in ada.get(source).text
        assert len(ada.get(f"{source}/content?path=data.bin").content) == 6_000_000
        assert ada.get(f"{source}/text").json()["path"] == "main.py"
        assert list((settings.data / "spool").iterdir()) == []
        stored.unlink()
        for path in (large, f"{source}/text"):
            assert "not on this server" in check_shape(ada.get(path), 404)["error"]


def test_slow_readers_at_the_link_of_a_tenant_keep_nobody_from_downloading(
    service: Service, enter: Callable[[str], Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download_places, "WAITED", 0.2)
    taken = places(service, monkeypatch, 3)
    ada, ben, eve = enter("ada"), enter("ben"), enter("eve")
    with pushing(service, ada) as model, ExitStack() as stack:
        for _ in range(100):
            model.push("/v1/batch", [{"path": "/v1/live/log", "body": {"line": "x" * 60_000}}])
        record = f"/api/models/{model.id}/record"
        link = ada.post(f"/api/models/{model.id}/shares", json={}).json()["token"]
        visitors = [
            stack.enter_context(begun(service, f"/api/shared/{link}/record", NOBODY))
            for _ in range(2)
        ]
        third = Download(service, f"/api/shared/{link}/record", NOBODY)
        wait_for(lambda: len(taken._turns) == 1)
        own, large = token_of(ben), archive_of(ben)
        bens = stack.enter_context(begun(service, large, own))  # the place that ada cannot have
        assert eve.get(archive_of(eve)).status_code == 200, "from one of the two visitors"
        assert ada.get(record).status_code == 200, "her own people come before visitors"
        assert len(content_of(bens) or b"") > 6_000_000
        assert None in [content_of(one) for one in visitors]
        third.join(60)
        assert third.is_whole
    wait_for(lambda: not taken._taken)


def test_a_slow_reader_makes_room_for_somebody_who_has_none_and_a_fast_one_does_not(
    service: Service, enter: Callable[[str], Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download_places, "WAITED", 0.1)
    monkeypatch.setattr(download_places, "SLOW", 0)
    taken = places(service, monkeypatch, 1)
    monkeypatch.setattr(taken, "_patience", 1.0)
    ada, ben = enter("ada"), enter("ben")
    of_ada, of_ben = archive_of(ada), archive_of(ben)
    with begun(service, of_ada, token_of(ada)) as slow:
        assert check_shape(ben.get(of_ben), 503)["code"] == "overloaded"
        monkeypatch.setattr(taken, "_patience", 300.0)
        monkeypatch.setattr(download_places, "SLOW", 100_000_000)
        assert len(ben.get(of_ben).content) > 6_000_000
        assert content_of(slow) is None


def test_a_place_that_nobody_waits_for_any_more_is_free() -> None:
    async def act() -> None:
        found = Places(1, 0.05)
        ada, ben = Owner("ada", "p"), Owner("ben", VISITORS)
        async with found.take(ada):
            with pytest.raises(Overloaded):
                async with found.take(ben):
                    raise AssertionError
            left = asyncio.create_task(found.take(ben).__aenter__())
            await asyncio.sleep(0)
            left.cancel()
        await asyncio.wait([left])
        assert not found._taken
        async with found.take(ben):
            assert [one.owner for one in found._taken] == [ben]
        assert not found._taken

    run(act())
