"""Two real servers: one keeps a log, the other witnesses it, and a third lies about the first."""

import asyncio
import io
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import Connection, update

from tapeline.background import Background
from tapeline.health.storing import witnesses as health
from tapeline.settings import Settings
from tapeline.store.tables.witnesses import witnesses as table
from tapeline.tape.proof import signer
from tapeline.tape.record import checking
from tapeline.tape.record.outcome import Checked
from tapeline.tape.roots import trees
from tapeline.tape.roots.rounds import Roots
from tapeline.tape.witnessing import asking, introductions, logs, witnesses
from tapeline.tape.witnessing.submitting import Submitting
from tests import spawner
from tests.conftest import Person, Service, let_in, running
from tests.pushing import Model, pushing
from tests.waiting import SLOW_MACHINE

pytestmark = pytest.mark.heavy

Empty = Callable[[str, Path], Settings]


@dataclass
class Log:
    """A server whose log is witnessed; the test says when."""

    service: Service
    model: Model
    submitting: Submitting

    def round(self, line: str) -> None:
        self.model.push("/v1/live/log", {"line": line})
        asyncio.run(self.roots().make())

    def roots(self) -> Roots:
        services = self.service.services
        return Roots(services.settings, services.store, services.inbox.appender, Background())

    def submit(self) -> None:
        asyncio.run(self.submitting.turn())

    @property
    def standing(self) -> witnesses.Witness:
        (one,) = self.service.store.read_now(witnesses.every)
        return one

    def record(self) -> bytes:
        return self.model.owner.get(f"/api/models/{self.model.id}/record").content

    def checked(self) -> Checked:
        return checking.check(io.BytesIO(self.record()))

    def verdict(self) -> str:
        return health.look(self.service.services.health.parts).state


@contextmanager
def logging(
    settings: Settings, password_hash: str, email: str = "ada@example.com"
) -> Iterator[Log]:
    with running(settings) as service:
        ada: Person = let_in(service, email, password_hash)
        with ada.client, pushing(service, ada) as model:
            yield Log(service, model, submitting(service))


def submitting(service: Service) -> Submitting:
    return Submitting(service.services.settings, service.store, Background())


@pytest.fixture
def log(tmp_path: Path, empty: Empty, password_hash: str) -> Iterator[Log]:
    with logging(empty("sqlite", tmp_path / "log"), password_hash) as made:
        made.round("one")  # before there is a witness: the server's own round is an hour away
        yield made


@pytest.fixture
def witness(tmp_path: Path, empty: Empty) -> Iterator[Service]:
    settings = replace(
        empty("sqlite", tmp_path / "witness"), public_url="https://witness.example.com"
    )
    with running(settings) as started:
        yield started


def add(log: Log, address: str) -> None:
    said = introductions.of(address)
    assert log.service.store.write_now(witnesses.add, address, said.witness, said.keys, 1.0)


def allow(witness: Service, log: Log) -> None:
    said = introductions.of(log.service.address)
    witness.store.write_now(logs.allow, said.log, log.service.address, said.keys, 1.0)


def introduce(log: Log, witness: Service) -> None:
    allow(witness, log)
    add(log, witness.address)


def test_a_witness_signs_each_head_and_records_carry_its_signatures(
    log: Log, witness: Service
) -> None:
    introduce(log, witness)
    log.submit()
    (found,) = log.checked().cosignatures
    key = introductions.of(witness.address).keys[-1]
    assert (found.name, found.fingerprint) == ("witness.example.com", key.fingerprint)
    log.round("two")
    log.submit()
    standing = log.standing
    assert (standing.size, standing.problem, standing.evidence) == (2, None, None)
    assert [one.seq for one in log.checked().cosignatures] == [1, 2]
    assert log.verdict() == "green"
    (seen,) = witness.store.read_now(logs.every)
    assert (seen.size, seen.address) == (2, log.service.address)


def test_a_witness_that_is_away_is_asked_again_and_the_gap_is_shown(
    log: Log, tmp_path: Path, empty: Empty
) -> None:
    settings = empty("sqlite", tmp_path / "witness")
    with running(settings) as witness:
        introduce(log, witness)
        address = witness.address
    log.submit()
    assert log.standing.problem == f"{address}/witness/add-checkpoint cannot be reached" + (
        " (ConnectionRefusedError)."
    )
    assert log.verdict() == "yellow"
    assert log.checked().cosignatures == []  # the record is there all the same
    log.round("two")
    log.submit()  # its pause has just begun: it is not asked
    with running(settings) as witness:
        log.service.store.write_now(_moved, address, witness.address)
        again = Log(log.service, log.model, submitting(log.service))
        again.submit()
        assert (again.standing.size, again.standing.problem) == (2, None)
        assert log.verdict() == "green"


def test_a_server_that_is_not_allowed_yet_is_told_what_its_witness_has_to_do(
    log: Log, witness: Service
) -> None:
    add(log, witness.address)
    log.submit()
    assert "does not witness this server yet" in (log.standing.problem or "")
    assert "tapeline witness allow URL" in (log.standing.problem or "")


def test_a_lying_server_is_caught_by_its_witness(
    log: Log, witness: Service, tmp_path: Path, empty: Empty, password_hash: str
) -> None:
    """Its database is taken back to an older copy, and goes on differently from there."""
    introduce(log, witness)
    log.submit()
    log.round("a loss")
    older = copied(log, empty("sqlite", tmp_path / "liar"))
    for line in ("another loss", "a third"):
        log.round(line)
        log.submit()
    with logging(older, password_hash, "eve@example.com") as liar:
        liar.round("a gain")
        liar.submit()
        standing = liar.standing
        assert standing.evidence is not None
        assert "has seen 4 entries of this log, and this database has 3" in (standing.problem or "")
        assert "proof that this server signed two histories" in (standing.problem or "")
        assert liar.verdict() == "red"
        assert liar.checked().cosignatures == []
        file = tmp_path / "record.ndjson"
        file.write_bytes(liar.record())
        key = said_key(log)
        assert verified(file, "--key", key).status == 0
        caught = verified(file, "--key", key, "--witness", witness.address)
        assert (caught.status, "showed another history" in caught.said) == (1, True)
    assert health.look(witness.services.health.parts).state == "yellow"
    # The witness shows both heads to anyone, and anyone can check them with the log's own key.
    said = introductions.of(log.service.address)
    found = asking.view(witness.address, {"log": said.log, "sizes": "3"}).two_histories
    assert found is not None
    assert found.is_proof([bytes.fromhex(one.public_key) for one in said.keys])
    # The history that it saw first goes on.
    log.round("a fourth")
    log.submit()
    assert (log.standing.size, log.standing.evidence) == (5, None)


def test_a_restored_server_begins_a_new_log_and_what_it_lost_is_said(
    log: Log, witness: Service, tmp_path: Path, empty: Empty, password_hash: str
) -> None:
    introduce(log, witness)
    log.submit()
    older = copied(log, empty("sqlite", tmp_path / "restored"))
    for line in ("a loss", "another loss"):  # after the backup
        log.round(line)
        log.submit()
    with logging(older, password_hash, "eve@example.com") as restored:
        restored.service.store.write_now(trees.begin_anew)
        with restored.service.client() as client:  # the model goes on
            headers, said = log.model.headers, {"line": "a gain"}
            assert client.post("/v1/live/log", headers=headers, json=said).is_success
        restored.round("a gain")
        restored.submit()
        assert restored.standing.evidence is None
        assert "does not witness this server yet" in (restored.standing.problem or "")
        allow(witness, restored)
        again = Log(restored.service, restored.model, submitting(restored.service))
        again.submit()
        assert (again.standing.size, again.standing.problem) == (1, None)
        file = tmp_path / "record.ndjson"
        # Of the model that was in the backup: the record has the heads of both logs.
        token = log.model.owner.client.headers["token"]
        with restored.service.client(token=token) as ada:
            file.write_bytes(ada.get(f"/api/models/{log.model.id}/record").content)
        found = verified(file, "--key", said_key(log), "--witness", witness.address)
        assert found.status == 0
        assert "The server began a new log before event 2: it was restored" in found.said
        assert "the log before the restore up to entry 3; this record follows" in found.said


def test_a_liar_that_waits_until_its_log_is_longer_is_caught_too(
    log: Log, witness: Service, tmp_path: Path, empty: Empty, password_hash: str
) -> None:
    introduce(log, witness)
    log.round("a loss")
    older = copied(log, empty("sqlite", tmp_path / "liar"))
    log.round("another loss")
    log.submit()  # of size 3
    with logging(older, password_hash, "eve@example.com") as liar:
        for line in ("a gain", "another gain"):
            liar.round(line)
        liar.submit()  # of size 4
        assert "does not extend what it has seen before" in (liar.standing.problem or "")
        assert liar.standing.evidence is not None


def test_keys_of_both_servers_can_be_replaced(log: Log, witness: Service) -> None:
    introduce(log, witness)
    log.submit()
    for one in (log.service, witness):
        signer.rotate(one.services.settings.data / "keys")
    log.round("two")
    log.submit()
    assert (log.standing.size, log.standing.problem) == (2, None)
    assert len(log.standing.keys) == 2
    (seen,) = witness.store.read_now(logs.every)
    assert len(seen.keys) == 2
    found = log.checked()
    assert found.reason is None
    keys = introductions.of(witness.address).keys
    assert [one.fingerprint for one in found.cosignatures] == [one.fingerprint for one in keys]


def test_a_witness_with_another_key_does_not_count(log: Log, tmp_path: Path, empty: Empty) -> None:
    with running(empty("sqlite", tmp_path / "witness")) as witness:
        introduce(log, witness)
        address = witness.address
    with running(empty("sqlite", tmp_path / "impostor")) as impostor:
        allow(impostor, log)
        log.service.store.write_now(_moved, address, impostor.address)
        log.submit()
        assert "signs with a key or a name that is not the one" in (log.standing.problem or "")
        assert log.checked().cosignatures == []


def test_a_record_is_whole_after_a_rotation_without_new_events(log: Log, witness: Service) -> None:
    """The head of the log is signed with the new key, which no checkpoint has used yet."""
    introduce(log, witness)
    log.record()  # signs the end of the tape, with the old key
    signer.rotate(log.service.services.settings.data / "keys")
    asyncio.run(log.roots().make())
    log.submit()
    found = log.checked()
    assert (found.reason, len(found.cosignatures)) == (None, 1)


def test_verify_says_what_a_known_witness_signed_and_that_unknown_ones_count_for_nothing(
    log: Log, witness: Service, tmp_path: Path
) -> None:
    introduce(log, witness)
    log.submit()
    file = tmp_path / "record.ndjson"
    file.write_bytes(log.record())
    key = ("--key", said_key(log))
    stranger = verified(file, *key)
    assert "under the name of witness.example.com count if you know the witness" in stranger.said
    by_key = introductions.of(witness.address).keys[-1].fingerprint
    for named in (by_key, by_key[:16], witness.address):
        known = verified(file, *key, "--witness", named)
        assert known.status == 0
        assert "The witness witness.example.com signed the log" in known.said
    assert "has seen 1 of the 1 heads of the log in this record" in known.said
    gone = verified(file, *key, "--witness", "http://127.0.0.1:9")
    assert (gone.status, "cannot be reached" in gone.said) == (5, True)


def test_operators_introduce_their_servers_to_each_other(
    log: Log, witness: Service, tmp_path: Path
) -> None:
    ours = ("--data", str(log.service.services.settings.data))
    theirs = ("--data", str(witness.services.settings.data))
    key = introductions.of(witness.address).keys[0].fingerprint
    there, here = witness.address, log.service.address
    assert "has no key" in typed(tmp_path, "witness", "add", there, *ours, "--key", "a" * 16).said
    assert key in typed(tmp_path, "witness", "add", there, *ours, "--key", key[:16]).said
    assert "is a witness already" in typed(tmp_path, "witness", "add", there, *ours).said
    assert "is this server" in typed(tmp_path, "witness", "add", here, *ours).said
    assert "This server witnesses" in typed(tmp_path, "witness", "allow", here, *theirs).said
    log.submit()
    listed = json.loads(typed(tmp_path, "witness", "list", *ours, "--json").said)
    assert [(one["name"], one["size"]) for one in listed["witnesses"]] == [
        ("witness.example.com", 1)
    ]
    assert here in typed(tmp_path, "witness", "list", *theirs).said
    assert typed(tmp_path, "witness", "remove", there, *ours).status == 0
    assert typed(tmp_path, "witness", "forbid", here, *theirs).status == 0
    assert "is not a witness" in typed(tmp_path, "witness", "remove", there, *ours).said
    assert len(log.checked().cosignatures) == 1  # what it signed stays


class Typed(NamedTuple):
    status: int
    said: str
    """In one line."""


def verified(file: Path, *more: str) -> Typed:
    return typed(file.parent, "verify", str(file), *more)


def typed(home: Path, *words: str) -> Typed:
    """What the command says."""
    ended = spawner.run(
        words, environment={"HOME": str(home)}, cwd=home, stdin="", seconds=SLOW_MACHINE
    )
    return Typed(ended.returncode, " ".join((ended.stdout + ended.stderr).split()))


def said_key(log: Log) -> str:
    return introductions.of(log.service.address).keys[0].fingerprint


def _moved(connection: Connection, address: str, to: str) -> None:
    """The same witness, as its name leads to another port now."""
    mine = update(table).where(table.c.address == address)
    connection.execute(mine.values(address=to))


def copied(log: Log, settings: Settings) -> Settings:
    """The database and the keys as they are now."""
    data = log.service.services.settings.data
    with (
        closing(sqlite3.connect(data / "tapeline.db")) as here,
        closing(sqlite3.connect(settings.data / "tapeline.db")) as there,
    ):
        here.backup(there)
    shutil.copytree(data / "keys", settings.data / "keys")
    return settings
