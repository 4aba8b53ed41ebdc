"""Who may call what: every route that is not public, with everybody who could try."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import msgspec
import pytest
from sqlalchemy import Connection, insert

from tapeline.accounts import invitations, keys, members, sign_ins, users
from tapeline.accounts.sign_ins import Origin
from tapeline.http.core.endpoint import Access, Endpoint
from tapeline.http.routes import ROUTES
from tapeline.ids import new_id
from tapeline.models import models, published, secrets, versions
from tapeline.models.archives.manifest import Manifest
from tapeline.models.plans import Plan
from tapeline.runs import described_hosts
from tapeline.runs.described_hosts import Description
from tapeline.runs.supervision import desired
from tapeline.sharing.links import links
from tapeline.sharing.links.choices import Choices
from tapeline.store.tables.watch import incidents
from tapeline.tape import tapes
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.watch.rules import stored as rules
from tapeline.watch.telling import channels
from tests.archives import zipped
from tests.conftest import PASSWORD, Cast, Person, Service, on_both
from tests.http.access_matrix import MATRIX, ROLES, Route

Enter = Callable[[str], Person]

BACKTEST = "b-1"
SECRET = "EXCHANGE_KEY"

# What links open has tests of its own, in test_sharing.py.
GUARDED = {
    (row.method, row.path): row
    for row in ROUTES
    if row.access not in (Access.PUBLIC, Access.SHARED)
}


@dataclass(frozen=True)
class Scene:
    """Makes what a request needs, anew for each one, so that no call spoils the next."""

    service: Service
    cast: Cast
    teammates: Iterator[Person]

    def facts(self, caller: Person, row: Endpoint) -> dict[str, str]:
        """A value for every name that the route asks for; all of them exist."""
        makers: dict[str, Callable[[], str]] = {
            "project": lambda: self.cast.project_id,
            "projectId": lambda: self.cast.project_id,
            "user": self._teammate,
            "sign_in": lambda: self._sign_in(caller),
            "tokenId": lambda: self._key()[0],
            "modelId": self._model,
            "model": self._model_with_a_backtest,
            "backtest": lambda: BACKTEST,
            "current_password": lambda: PASSWORD,
            "new_password": lambda: PASSWORD,
            "name": lambda: "fresh",
            "secret": lambda: SECRET,
            "host": self._host,
            "value": lambda: "hidden",
            "role": lambda: "member",
            "positions": lambda: "long_only",
            # In a path it is the id, in a body the secret of the link.
            "invitation": lambda: self._invitation()["{invitation}" in row.path],
        }
        found = {name: make() for name, make in makers.items() if name in wanted(row)}
        if "rule" in wanted(row) or "incident" in wanted(row):
            found["rule"] = self._rule()
            found["incident"] = self._incident(found["rule"])
        if "when" in wanted(row):
            found["when"] = "crashed"
        if "channel" in wanted(row):
            found["channel"] = self._channel()
        if "address" in wanted(row):  # where nothing listens, and nothing may go
            found |= {"address": "https://127.0.0.1:9/", "name": f"channel {new_id()}"}
        if "rule" in wanted(row):  # a name that no other rule has
            found["name"] = f"rule {new_id()}"
        if "run" in wanted(row):
            found["run"] = self._run(found["model"])
        if "version" in wanted(row):
            newest = self.service.store.read_now(versions.newest, found["model"])
            assert newest is not None
            found["version"] = newest.id
        if "starter" in wanted(row):
            found["starter"] = self._starter(found["model"])
        if "share" in wanted(row):
            found["share"] = self._share(found["model"])
        return found

    def request(self, row: Endpoint, facts: dict[str, str]) -> dict[str, Any]:
        """The arguments of an httpx request for a route."""
        fields = {field.encode_name for field in msgspec.structs.fields(row.takes)}
        body = {name: value for name, value in facts.items() if name in fields}
        sent = {"method": row.method, "url": row.path.format_map(facts)}
        if row.attaches:
            return sent | {"data": body, "files": {"model": ("model.zip", zipped())}}
        return sent | ({"json": body} if fields else {})

    def key(self, *, read: bool = True) -> tuple[str, str]:
        """A key of the project that may write, and its pass."""
        return self._key(read=read)

    def _host(self) -> str:
        known = Description("k3vx8qhmw2td5rfy", "attic", "1.2.3")
        self.service.store.write_now(described_hosts.describe, known)
        return known.name

    def _teammate(self) -> str:
        person = next(self.teammates)
        store = self.service.store
        store.write_now(members.join, self.cast.project_id, person.id, "viewer")
        return person.id

    def _sign_in(self, caller: Person) -> str:
        store = self.service.store
        user = store.read_now(users.get, caller.id)
        _, actor = store.write_now(sign_ins.begin, user, "token", Origin("127.0.0.1", "other"))
        return actor.signed_in()[1]

    def _invitation(self) -> tuple[str, str]:
        owner, project = self.cast.owner.actor, self.cast.project_id
        store = self.service.store
        secret, made = store.write_now(invitations.invite, owner, project, "member", 1)
        return secret, made.id

    def _key(self, *, read: bool = True) -> tuple[str, str]:
        key, secret = self.service.store.write_now(
            keys.generate,
            self.cast.owner.actor,
            self.cast.project_id,
            name="",
            read=read,
            write=True,
            autogenerated=False,
        )
        return key.id, secret

    def _model(self) -> str:
        """With a version and a secret."""
        owner, services = self.cast.owner.actor, self.service.services
        file = services.staging.spool / "archive-of-scene"
        file.write_bytes(zipped())
        services.blobs.put("none", file)

        def make(connection: Connection) -> str:
            model = models.create(
                connection,
                owner,
                self.cast.project_id,
                name="Momentum",
                type="strategy",
                description="",
            )
            versions.add(
                connection,
                owner,
                model,
                archive="none",
                content="none",
                size=1,
                manifest=Manifest(main_script="main.py"),
                plan="nano",
                python_version=services.pythons[0],
                description="",
            )
            secrets.put(connection, owner, services.cipher, model, SECRET, "hidden")
            return model.id

        return self.service.store.write_now(make)

    def _run(self, model_id: str) -> str:
        owner = self.cast.owner.actor

        def make(connection: Connection) -> str:
            model = models.find(connection, owner, model_id)
            version = versions.newest(connection, model_id)
            assert version is not None
            plan = Plan("nano", 256, 250)
            run = desired.go_live(
                connection, owner, model, version, plan, version.python_version, schedule=None
            )
            return run.id

        return self.service.store.write_now(make)

    def _rule(self) -> str:
        owner, rule = self.cast.owner.actor, {"name": f"rule {new_id()}", "when": "crashed"}
        store = self.service.store
        return store.write_now(rules.make, owner, self.cast.project_id, None, rule).id

    def _channel(self) -> str:
        cipher, owner = self.service.services.cipher, self.cast.owner.actor
        address = channels.address_of("https://127.0.0.1:9/")
        name = f"channel {new_id()}"
        made, _ = self.service.store.write_now(
            channels.create, owner, cipher, self.cast.project_id, name, address
        )
        return made.id

    def _incident(self, rule_id: str) -> str:
        incident_id = new_id()
        row = {
            "id": incident_id, "rule_id": rule_id, "project_id": self.cast.project_id,
            "subject": incident_id, "name": "rule", "severity": "info", "spec": {}, "said": "",
            "began_at": 1.0, "fired_at": 1.0,
        }  # fmt: skip
        self.service.store.write_now(
            lambda connection: connection.execute(insert(incidents).values(row)).rowcount
        )
        return incident_id

    def _starter(self, model_id: str) -> str:
        owner, name = self.cast.owner.actor, f"starter-{new_id()}"

        def make(connection: Connection) -> str:
            model = models.find(connection, owner, model_id)
            version = versions.newest(connection, model_id)
            assert version is not None
            return published.publish(connection, owner, model, version, name).name

        return self.service.store.write_now(make)

    def _share(self, model_id: str) -> str:
        share, _ = self.service.store.write_now(
            links.create,
            self.cast.owner.actor,
            model_id,
            backtest_id=None,
            title=None,
            choices=Choices(),
            password_hash=None,
            expires_at=None,
        )
        return share.id

    def _model_with_a_backtest(self) -> str:
        model_id = self._model()

        def push(connection: Connection) -> None:
            status = {"backtest_id": BACKTEST, "successful": True}
            event = Event(
                tape=tapes.open_tape(connection, model_id),
                kind=kinds.BACKTEST_STATUS,
                fields=status,
                body=msgspec.json.encode(status),
                time=1.0,
                received_at=1.0,
                backtest_id=BACKTEST,
            )
            inbox = self.service.services.inbox
            inbox.appender.append(connection, [Submission([event], None)])

        self.service.store.write_now(push)
        return model_id


def sent(client: httpx.Client, request: dict[str, Any]) -> httpx.Response:
    """The answer; of a stream, which has no end, its beginning."""
    with client.stream(**request) as response:
        if response.headers.get("content-type") != "text/event-stream; charset=utf-8":
            response.read()
        return response


@pytest.fixture
def scene(service: Service, cast: Cast, enter: Enter) -> Scene:
    return Scene(service, cast, (enter(f"teammate{number}") for number in range(1000)))


def wanted(row: Endpoint) -> set[str]:
    """The names in a route's path and in the body that it takes."""
    fields = {field.encode_name for field in msgspec.structs.fields(row.takes)}
    return fields | set(re.findall(r"{(\w+)}", row.path))


def in_project(row: Endpoint) -> bool:
    return bool({"project", "projectId"} & wanted(row))


def visible(response: httpx.Response) -> tuple[int, bytes, dict[str, str]]:
    """All that a caller can see of an answer but the time of day."""
    headers = {name: value for name, value in response.headers.items() if name != "date"}
    return response.status_code, response.content, headers


def test_every_route_that_is_not_public_has_an_access_test() -> None:
    assert set(MATRIX) == set(GUARDED)


def test_each_role_may_do_exactly_what_the_matrix_says(
    scene: Scene, cast: Cast, anybody: httpx.Client
) -> None:
    answers: dict[Route, list[int]] = {route: [] for route in MATRIX}
    for role in reversed(ROLES):  # the owner last: their calls end the project
        person = cast.owner if role == "nobody" else cast.person(role)
        client = anybody if role == "nobody" else person.client
        for route, row in ((route, GUARDED[route]) for route in MATRIX):
            response = sent(client, scene.request(row, scene.facts(person, row)))
            answers[route].insert(0, response.status_code)
            if row.path == "/api/invitations/accept" and response.status_code == 200:
                left = person.delete(f"/api/projects/{cast.project_id}/members/{person.id}")
                assert left.status_code == 200
    assert answers == {route: list(expected) for route, expected in MATRIX.items()}


def test_an_outsider_learns_nothing_about_a_project(scene: Scene, cast: Cast) -> None:
    """What exists and what does not is answered alike, to the byte."""
    nowhere = dict.fromkeys(("project", "projectId"), new_id())
    tried = 0
    for row in filter(in_project, GUARDED.values()):
        facts = scene.facts(cast.outsider, row)
        real = cast.outsider.client.request(**scene.request(row, facts))
        unreal = cast.outsider.client.request(**scene.request(row, facts | nowhere))
        assert visible(real) == visible(unreal), row.path
        assert real.status_code == 404
        assert real.json()["code"] == "no_such_project"
        tried += 1
    assert tried >= 17


def test_an_outsider_learns_nothing_about_a_model(scene: Scene, cast: Cast) -> None:
    for row in GUARDED.values():
        if "model" not in wanted(row):
            continue
        facts = scene.facts(cast.outsider, row)
        real = cast.outsider.client.request(**scene.request(row, facts))
        unreal = cast.outsider.client.request(**scene.request(row, facts | {"model": new_id()}))
        assert visible(real) == visible(unreal), row.path
        assert (real.status_code, real.json()["code"]) == (404, "no_such_model")


@on_both
def test_things_of_another_project_are_not_found_in_ones_own(scene: Scene, cast: Cast) -> None:
    """The owner of one project cannot reach into another by naming the own one in the request."""
    own = dict.fromkeys(("project", "projectId"), cast.outsider.id)
    for route, code in {
        ("PATCH", "/api/projects/{project}/members/{user}"): "no_such_member",
        ("DELETE", "/api/projects/{project}/members/{user}"): "no_such_member",
        ("DELETE", "/api/projects/{project}/invitations/{invitation}"): "no_such_invitation",
        ("POST", "/project/delete-project-token"): "no_such_token",
        ("POST", "/model/details"): "no_such_model",
        ("POST", "/model/delete"): "no_such_model",
        ("POST", "/model/deploy"): "no_such_model",
        ("POST", "/model/run"): "no_such_model",
        ("POST", "/model/kill"): "no_such_model",
        ("POST", "/model/status"): "no_such_model",
    }.items():
        row = GUARDED[route]
        facts = scene.facts(cast.outsider, row)
        unreal = facts | dict.fromkeys(("user", "invitation", "tokenId", "modelId"), new_id())
        real = cast.outsider.client.request(**scene.request(row, facts | own))
        made_up = cast.outsider.client.request(**scene.request(row, unreal | own))
        assert visible(real) == visible(made_up), route
        assert (real.status_code, real.json()["code"]) == (404, code)


def test_a_sign_in_that_ended_opens_nothing(scene: Scene, cast: Cast) -> None:
    requests = [scene.request(row, scene.facts(cast.owner, row)) for row in GUARDED.values()]
    _, sign_in_id = cast.owner.actor.signed_in()
    scene.service.store.write_now(sign_ins.end, cast.owner.actor, sign_in_id)
    for request in requests:
        refused = cast.owner.client.request(**request)
        assert (refused.status_code, refused.json()["code"]) == (401, "invalid_token"), request


@on_both
def test_a_key_reads_its_own_project_and_does_nothing_else(scene: Scene, cast: Cast) -> None:
    key, secret = scene.key()
    opened = []
    with scene.service.client(api_key=key, api_pass=secret) as client:
        for route, row in GUARDED.items():
            answer = sent(client, scene.request(row, scene.facts(cast.owner, row)))
            if answer.status_code == 200:
                opened.append(route)
            else:
                assert (answer.status_code, answer.json()["code"]) == (401, "unidentified"), route
        elsewhere = client.get(f"/api/projects/{cast.outsider.id}")
        nowhere = client.get(f"/api/projects/{new_id()}")
    assert opened == [route for route, row in GUARDED.items() if row.access is Access.READER]
    assert elsewhere.status_code == 404
    assert visible(elsewhere) == visible(nowhere)


def test_a_key_that_may_only_write_is_known_and_reads_nothing(scene: Scene, cast: Cast) -> None:
    key, secret = scene.key(read=False)
    with scene.service.client(api_key=key, api_pass=secret) as client:
        for route, row in GUARDED.items():
            if row.access is Access.READER:
                answer = sent(client, scene.request(row, scene.facts(cast.owner, row)))
                said = answer.status_code, answer.json()["code"]
                assert said == (403, "key_lacks_right"), route
