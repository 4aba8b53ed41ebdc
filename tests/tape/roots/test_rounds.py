"""All tapes are stamped by one request to a real authority; one that is away delays nothing."""

import asyncio
import io
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pytest
from sqlalchemy import Connection, insert, select

from tapeline.background import Background
from tapeline.health.storing import timestamps
from tapeline.store.tables.core import models
from tapeline.store.tables.roots import head_leaves, head_trees
from tapeline.store.tables.tape import tapes
from tapeline.tape.proof import merkle, outgoing, time_stamps
from tapeline.tape.proof.log_entries import head_data
from tapeline.tape.record import checking, in_words
from tapeline.tape.record.outcome import Checked
from tapeline.tape.roots import trees
from tapeline.tape.roots.rounds import Roots
from tapeline.tape.roots.trees import Entry
from tests.conftest import Person, Service
from tests.pushing import Model, pushing
from tests.tape.roots.authority import Authority, dripping, serving

T = TypeVar("T")


def run(act: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(act)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tsa") / "authority")


@pytest.fixture
def address(authority: Authority) -> Iterator[str]:
    authority.answers = True
    with serving(authority) as found:
        yield found


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def stamping(service: Service, address: str) -> Roots:
    """Without a loop: the test says when."""
    settings = replace(service.services.settings, timestamps=address)
    return Roots(settings, service.store, service.services.inbox.appender, Background())


def record(model: Model) -> bytes:
    return model.owner.get(f"/api/models/{model.id}/record").content


def checked(content: bytes, *trusted: Path) -> Checked:
    found = [one for file in trusted for one in time_stamps.certificates(file.read_bytes())]
    return checking.check(io.BytesIO(content), trusted=lambda: found)


def test_a_record_carries_the_stamp_over_its_tape(
    model: Model, authority: Authority, address: str
) -> None:
    model.push("/v1/live/log", {"line": "one"})
    asked = authority.asked
    roots = stamping(model.service, address)
    run(roots.turn())
    assert authority.asked == asked + 1
    model.push("/v1/live/log", {"line": "two"})
    content = record(model)
    found = checked(content, authority.root)
    assert (found.reason, found.proofs, found.verdict) == (None, 1, "unknown_signer")
    (stamp,) = found.stamps
    assert (stamp.is_trusted, stamp.authority) == (True, address)
    assert found.unstamped == 1
    assert found.stamp_gap is not None
    assert "The last 1 events are not stamped yet" in in_words.words(found)
    # A reader who does not know the authority learns that, and the status stays.
    stranger = checked(content)
    assert (stranger.verdict, stranger.stamps[0].is_trusted) == ("unknown_signer", False)
    assert "--tsa-certificate" in in_words.words(stranger)
    seals = model.get("/tape/seals")
    assert (seals["stamped"], seals["stamped_at"]) == (stamp.seq, stamp.at)
    # The next round is an hour away.
    run(roots.turn())
    assert authority.asked == asked + 1
    for name in ("tree", "log"):
        forged = content.replace(f'"{name}":{{"'.encode(), f'"{name}":{{ "'.encode())
        assert checked(forged).code == "not_canonical"


def test_an_authority_that_is_away_is_asked_again_and_the_gap_is_shown(
    model: Model, authority: Authority, address: str
) -> None:
    model.push("/v1/live/log", {"line": "one"})
    authority.answers = False
    roots = stamping(model.service, address)
    parts = replace(model.service.services.health.parts, roots=roots)
    run(roots.turn())
    (standing,) = roots.authorities
    assert (standing.failures, standing.last_error) == (1, f"{address} answered with status 503.")
    assert timestamps.look(parts).state == "yellow"
    assert not standing.is_due()
    assert checked(record(model)).proofs == 0
    authority.answers = True
    standing.worked()  # its pause is over
    run(roots.turn())
    assert timestamps.look(parts).state == "green"
    assert checked(record(model), authority.root).stamps[0].is_trusted


@pytest.mark.parametrize("answer", [b"", b"no stamp", b"0" * 99_000])
def test_an_answer_that_is_not_a_stamp_is_refused(
    authority: Authority, address: str, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setattr(authority, "reply", lambda _query: answer)
    with pytest.raises(time_stamps.NoStamp, match="does not answer as a time-stamp authority"):
        time_stamps.ask(address, b"text")


def test_a_stamp_over_something_else_is_refused(authority: Authority, address: str) -> None:
    answer, at = time_stamps.ask(address, b"text")
    trusted = time_stamps.certificates(authority.root.read_bytes())
    assert time_stamps.check(answer, b"text", trusted) == time_stamps.Stamped(at, True)
    for other in (answer[:-9], b"", answer[:-9] + bytes(9)):
        with pytest.raises(time_stamps.WrongStamp):
            time_stamps.check(other, b"text", trusted)
    with pytest.raises(time_stamps.WrongStamp):
        time_stamps.check(answer, b"another text", trusted)
    with pytest.raises(time_stamps.NoStamp, match="cannot be reached"):
        time_stamps.ask("http://127.0.0.1:9/", b"text")


def test_an_answer_that_never_ends_is_given_up_and_holds_up_no_other(
    model: Model, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.push("/v1/live/log", {"line": "one"})
    monkeypatch.setattr(outgoing, "PATIENCE", 60.0)
    closed_at = outgoing._closed_at
    with dripping() as endless:

        def sooner(plain: socket.socket, end: float) -> AbstractContextManager[None]:
            """After a second, but the prompt one has its minute: it is a real process."""
            is_endless = plain.getpeername()[1] == urlsplit(endless).port
            return closed_at(plain, end - 59 if is_endless else end)

        monkeypatch.setattr(outgoing, "_closed_at", sooner)
        roots = stamping(model.service, f"{endless}, {address}")
        run(roots.turn())
    slow, prompt = roots.authorities
    assert slow.last_error == f"{endless} did not answer within 60 s."
    assert prompt.failures == 0


MANY = 1_000  # tapes: four parts


@pytest.mark.heavy
def test_every_tape_of_a_thousand_has_a_path_to_the_one_root(model: Model, address: str) -> None:
    """And trees of older days are thinned to one a day; the log keeps all their roots."""
    store = model.service.store
    model.push("/v1/live/log", {"line": "one"})
    store.write_now(_many_tapes, model.project_id)
    roots = stamping(model.service, address)
    for _ in range(3):
        run(roots.make())
    made = store.read_now(_entries)
    assert [one.size for one in made] == [MANY + 1] * 3
    assert store.read_now(_all_lead_to_the_root, made[1])
    log = store.read_now(trees.log_tree, made[0].log)
    assert merkle.extends(1, log.root(1), 3, log.root(3), log.consistency(1, 3))
    store.write_now(trees.store_stamp, made[1].log, 1, address, b"", made[1].at)
    assert store.write_now(trees.thin, made[2].at + 1, 10) == 2
    assert store.read_now(_with_leaves) == {1}
    assert store.write_now(trees.thin, made[2].at + 1, 10) == 0
    assert store.read_now(trees.log_tree, made[0].log).root() == log.root()


def _many_tapes(connection: Connection, project: str) -> None:
    rows = [{"id": f"m{number}", "project_id": project} for number in range(MANY)]
    base = connection.execute(select(models).limit(1)).mappings().one()
    connection.execute(insert(models), [{**base, **row, "name": row["id"]} for row in rows])
    tape = {**connection.execute(select(tapes).limit(1)).mappings().one()}
    tape.pop("no")
    connection.execute(
        insert(tapes),
        [{**tape, "model_id": row["id"], "seq": 5, "link": merkle.leaf_hash(row["id"].encode())}
         for row in rows],
    )  # fmt: skip


def _entries(connection: Connection) -> list[Entry]:
    columns = [head_trees.c[name] for name in Entry._fields]
    rows = connection.execute(select(*columns).order_by(head_trees.c.entry))
    return [Entry(row.log, row.entry, row.at, row.size, bytes(row.root)) for row in rows]


def _all_lead_to_the_root(connection: Connection, made: Entry) -> bool:
    for row in connection.execute(select(tapes).where(tapes.c.seq > 0)):
        found = trees.leaf_of(connection, made.log, made.entry, row.no)
        assert found is not None
        index, leaf = found
        assert leaf.hash == merkle.leaf_hash(head_data(row.model_id, row.seq, bytes(row.link)))
        path = trees.path_of(connection, made, row.no)
        if merkle.root_of_path(leaf.hash, index, made.size, path) != made.root:
            return False
    return True


def _with_leaves(connection: Connection) -> set[int]:
    return set(connection.scalars(select(head_leaves.c.entry)))
