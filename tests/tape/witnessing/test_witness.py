"""This server as a witness: it signs one history of each log, and keeps what shows another."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tapeline.settings import Settings
from tapeline.tape.proof import key_chain, notes
from tapeline.tape.witnessing import logs, pace, submissions
from tapeline.tape.witnessing.asking import View
from tapeline.tape.witnessing.two_histories import Evidence
from tapeline.tape.witnessing.witness import Witness
from tests.conftest import Service, on_both, running
from tests.tape.witnessing.small_log import SmallLog

ADD = "/witness/add-checkpoint"


@pytest.fixture
def log(service: Service) -> SmallLog:
    return allowed(service, SmallLog().grow("one", "two", "three"))


def allowed(service: Service, log: SmallLog) -> SmallLog:
    service.store.write_now(logs.allow, log.origin, "https://log.example", log.keys, 1.0)
    return log


def add(service: Service, body: bytes) -> httpx.Response:
    with service.client() as client:
        return client.post(ADD, content=body)


def signs(service: Service, body: bytes) -> None:
    answer = add(service, body)
    assert answer.status_code == 200, answer.text
    note = notes.parse(submissions.parse(body).note.text.decode() + "\n" + answer.text)
    published = _published(service)
    keys = [bytes.fromhex(one["public_key"]) for one in published["keys"]]
    assert any(note.cosigned_at(published["witness"], one) is not None for one in keys)


def refuses(service: Service, body: bytes, status: int, code: str) -> None:
    answer = add(service, body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def conflicts(service: Service, body: bytes, size: int) -> None:
    answer = add(service, body)
    assert (answer.status_code, answer.text) == (409, f"{size}\n")
    assert answer.headers["content-type"].startswith("text/x.tlog.size")


def seen(service: Service, log: SmallLog, sizes: str = "") -> View:
    with service.client() as client:
        answer = client.get("/witness/heads", params={"log": log.origin, "sizes": sizes})
    assert answer.status_code == 200, answer.text
    return msgspec_view(answer.json())


def msgspec_view(said: dict[str, Any]) -> View:
    found = said["two_histories"]
    evidence = None if found is None else Evidence(**found)
    return View(said["log"], said["size"], said["heads"], evidence, said["unproven_at"])


def _published(service: Service) -> Any:
    with service.client() as client:
        return client.get("/.well-known/tapeline-keys.json").json()


def public(log: SmallLog) -> list[bytes]:
    return [bytes.fromhex(one.public_key) for one in log.keys]


def test_heads_that_extend_each_other_are_signed(service: Service, log: SmallLog) -> None:
    signs(service, log.body(0, 1))
    signs(service, log.body(1, 3))
    signs(service, log.body(3, 3))  # the same again: its first answer may have been lost
    conflicts(service, log.body(0, 3), 3)
    conflicts(service, log.body(1, 3), 3)
    view = seen(service, log, "1,2")
    assert (view.size, view.two_histories, view.unproven_at) == (3, None, None)
    assert [notes.parse(one).size for one in view.heads] == [1, 3]


def test_two_heads_of_one_size_are_kept_as_evidence(service: Service, log: SmallLog) -> None:
    signs(service, log.body(0, 3))
    other = log.forked(2, "another")
    conflicts(service, other.body(3, 3), 3)
    found = seen(service, log)
    assert found.two_histories is not None
    assert found.two_histories.is_proof(public(log))
    assert not found.two_histories.is_proof(public(SmallLog()))
    signs(service, log.grow("four").body(3))  # the history that it saw first goes on


def test_a_log_that_went_back_is_caught_by_the_head_it_had_at_that_size(
    service: Service, log: SmallLog
) -> None:
    for old, size in ((0, 1), (1, 2), (2, 3)):
        signs(service, log.body(old, size))
    conflicts(service, log.forked(1).body(1), 3)  # only back
    assert seen(service, log).two_histories is None
    conflicts(service, log.forked(1, "another").body(1), 3)
    found = seen(service, log).two_histories
    assert found is not None
    assert found.is_proof(public(log))


def test_a_longer_history_with_another_beginning_is_evidence_by_its_own_proof(
    service: Service, log: SmallLog
) -> None:
    signs(service, log.body(0, 3))
    other = log.forked(2, "another", "four", "five")
    refuses(service, other.body(3), 422, "does_not_extend")
    found = seen(service, log).two_histories
    assert found is not None
    assert found.is_proof(public(log))


def test_a_strangers_proof_is_refused_and_accuses_nobody(service: Service, log: SmallLog) -> None:
    """Heads are public: anyone can send one with rubbish beside it."""
    signs(service, log.body(0, 3))
    log.grow("four", "five")
    refuses(service, log.body(3, proof=[bytes(32)] * 3), 422, "does_not_extend")
    refuses(service, log.body(3, proof=[]), 422, "does_not_extend")
    found = seen(service, log)
    assert found.two_histories is None
    assert found.unproven_at is not None
    signs(service, log.body(3))
    assert seen(service, log).unproven_at is None


def test_only_a_log_that_is_allowed_is_signed_and_only_its_key_counts(
    service: Service, log: SmallLog
) -> None:
    refuses(service, SmallLog("tapeline/stranger").grow("one").body(0), 404, "unknown_log")
    refuses(service, SmallLog(log.origin).grow("one").body(0), 403, "not_the_logs_key")
    body = log.body(0)
    for wrong in (b"", b"old", body[4:], body.replace(b"old 0", b"old 00"), body[:-9], b"\xff"):
        refuses(service, wrong, 400, "malformed_body")
    refuses(service, log.body(3, 2), 400, "malformed_body")
    refuses(service, b"old 0\n" + b"x" * 20_000, 413, "too_large")
    assert seen(service, log).size == 0


def test_a_new_key_is_accepted_if_the_one_before_confirms_it(
    service: Service, log: SmallLog
) -> None:
    signs(service, log.body(0, 1))
    stolen = log.forked(1, "x")
    log.rotate()
    refuses(service, log.body(1), 403, "not_the_logs_key")

    def offer(keys: list[Any]) -> int:
        said = {"log": log.origin, "keys": [_said(one) for one in keys]}
        with service.client() as client:
            return client.post("/witness/keys", json=said).status_code

    assert offer(SmallLog().keys) == 200  # of another chain: nothing follows from it
    refuses(service, log.body(1), 403, "not_the_logs_key")
    assert offer(log.keys) == 200
    signs(service, log.body(1))
    # Whoever stole the old key neither signs with it nor names another successor.
    refuses(service, stolen.body(1), 403, "not_the_logs_key")
    stolen.rotate()
    assert offer(stolen.keys) == 403
    refuses(service, stolen.body(1), 403, "not_the_logs_key")


def _said(key: key_chain.Key) -> dict[str, Any]:
    return {name: getattr(key, name) for name in key.__struct_fields__}


def test_a_log_that_is_forbidden_and_allowed_again_goes_on_where_it_was(
    service: Service, log: SmallLog
) -> None:
    signs(service, log.body(0))
    service.store.write_now(logs.forbid, log.origin)
    refuses(service, log.body(3), 404, "unknown_log")
    allowed(service, log)
    conflicts(service, log.forked(0, "another").body(0), 3)
    conflicts(service, log.forked(2, "another").body(3), 3)
    service.store.write_now(logs.forbid, log.origin)
    assert seen(service, log).two_histories is not None  # whoever asks still sees it
    allowed(service, log)
    signs(service, log.body(3))


def test_killed_between_remembering_and_signing_it_signs_when_asked_again(
    service: Service, log: SmallLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:

        def die(*_: object) -> str:
            raise MemoryError

        killed.setattr(Witness, "_signed", die)
        assert add(service, log.body(0)).status_code == 500
    conflicts(service, log.forked(2, "another").body(0), 3)
    conflicts(service, log.body(0), 3)
    signs(service, log.body(3))


def test_strangers_have_a_pace(
    service: Service, log: SmallLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "MOST", 3)
    for _ in range(3):
        refuses(service, b"x", 400, "malformed_body")
    answer = add(service, log.body(0))
    assert (answer.status_code, answer.json()["code"]) == (429, "limited")
    assert int(answer.headers["retry-after"]) > 0


@pytest.fixture
def two(settings: Settings, tmp_path: Path) -> Iterator[tuple[Service, Service]]:
    """Servers on one database; with SQLite, that can only be one server."""
    with running(settings) as first:
        if not settings.database:
            yield first, first
            return
        other = Settings(data=tmp_path / "other", port=0, database=settings.database)
        with running(other) as second:
            yield first, second


@on_both
def test_of_many_histories_at_once_on_two_servers_one_is_signed(
    two: tuple[Service, Service],
) -> None:
    log = allowed(two[0], SmallLog().grow("one", "two", "three"))
    signs(two[0], log.body(0))
    bodies = [log.forked(3, f"entry {number}", "more").body(3) for number in range(8)]

    def send(number: int) -> int:
        return add(two[number % 2], bodies[number]).status_code

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(send, range(8)))
    assert answers.count(200) == 1
    assert set(answers) == {200, 409}
    for service in two:
        found = seen(service, log).two_histories
        assert found is not None
        assert found.is_proof(public(log))
