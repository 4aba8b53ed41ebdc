"""Uploads on the wire: what clients send and read back, and that a refusal leaves nothing."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, insert, select, update

from tapeline.ids import new_id
from tapeline.models import versions
from tapeline.store.tables.core import models as models_table
from tapeline.store.tables.runs import runs, samples
from tests.archives import raw_zip, zipped
from tests.conftest import Cast, Service, on_both, running
from tests.http.deployment.uploading import deployed, kept, send
from tests.test_error_shape import check_shape

ANSWER = {
    "status", "projectId", "modelId", "versionId", "version", "runId", "createdAt", "timestamp",
}  # fmt: skip


def all_runs(service: Service, model_id: str) -> list[Any]:
    def read(connection: Connection) -> list[Any]:
        query = select(runs).where(runs.c.model_id == model_id).order_by(runs.c.created_at)
        return list(connection.execute(query))

    return service.store.read_now(read)


def a_python(service: Service) -> str:
    return service.services.pythons[0]


def unlike_others() -> bytes:
    """An archive that no other test sends: equal ones are stored once."""
    return zipped({"own.txt": new_id()})


def test_a_new_model_is_deployed_and_the_answer_has_every_key(service: Service, cast: Cast) -> None:
    before = kept(service)
    said = deployed(
        cast.owner, unlike_others(), projectId=cast.project_id, versionDescription="the first"
    )
    assert set(said) == ANSWER
    assert (said["status"], said["version"], said["projectId"]) == ("success", 1, cast.project_id)
    assert said["createdAt"] == pytest.approx(time.time(), abs=60)
    (run,) = all_runs(service, said["modelId"])
    assert (run.id, run.kind, run.state, run.desired) == (
        said["runId"], "live", "pending", "running",
    )  # fmt: skip
    assert (run.plan, run.memory_mb, run.cpu_milli) == ("nano", 256, 250)
    assert run.python_version == a_python(service)
    shown = cast.viewer.get(f"/api/models/{said['modelId']}/versions").json()
    (version,) = shown["items"]
    assert version["version"] == 1
    assert version["version_id"] == said["versionId"]
    assert version["description"] == "the first"
    assert version["python_version"] == a_python(service)
    assert version["backtest_args"] is None
    assert shown["next"] is None
    stored = service.store.read_now(versions.get, said["modelId"], said["versionId"])
    assert sorted([*before, f"blobs/{stored.archive}"]) == kept(service)


def test_an_existing_client_deploys_and_backtests_unchanged(service: Service, cast: Cast) -> None:
    """Multipart as the older command line sends it, with its zip and its manifest."""
    made = cast.owner.post(
        "/model/create-model",
        data={"projectId": cast.owner.id, "type": "strategy", "name": "Old", "description": ""},
    ).json()
    old = zipped(root="/model/", manifest="blankly.json", working_directory=".")
    fields = {
        "pythonVersion": a_python(service),
        "versionDescription": "note",
        "projectId": cast.owner.id,
        "modelId": made["modelId"],
        "type": "strategy",
        "plan": "micro",
    }
    said = send(cast.owner, "/model/deploy", old, **fields).json()
    assert (said["status"], said["modelId"], said["version"]) == ("success", made["modelId"], 1)
    backtest = fields | {"backtestArgs": '{"to": "1y"}', "backtestDescription": "a year"}
    backtest.pop("versionDescription")
    tested = send(cast.owner, "/model/backtest", old, **backtest)
    assert set(tested.json()) == ANSWER | {"backtestId"}
    assert tested.json()["version"] == 2
    run = all_runs(service, made["modelId"])[-1]
    assert (run.kind, run.arguments, run.description) == ("backtest", {"to": "1y"}, "a year")
    assert (run.backtest_id, run.plan) == (tested.json()["backtestId"], "micro")
    spellings: dict[str, dict[str, Any]] = {
        "/model/backtestUploadedModel": {"backtestArgs": {"to": "2y"}},
        "/model/backtest-uploaded-model": {"backtestArgs": '{"to": "2y"}', "plan": "slow"},
    }
    for path, extra in spellings.items():
        body = {"projectId": cast.owner.id, "modelId": made["modelId"]} | extra
        body |= {"versionId": said["versionId"], "backtestDescription": "again"}
        again = cast.owner.post(path, json=body)
        assert (again.status_code, again.json()["version"]) == (200, 1)
        assert all_runs(service, made["modelId"])[-1].arguments == {"to": "2y"}
    assert all_runs(service, made["modelId"])[-1].plan == "slow"
    # The plan of a backtest alone is not what the model goes live with next.
    assert deployed(cast.owner, modelId=made["modelId"])["version"] == 3
    assert all_runs(service, made["modelId"])[-1].plan == "micro"


@on_both
def test_a_deploy_replaces_the_live_run_and_kill_stops_it(service: Service, cast: Cast) -> None:
    first = deployed(cast.owner)
    second = deployed(cast.owner, modelId=first["modelId"])
    wanted = {run.id: run.desired for run in all_runs(service, first["modelId"])}
    assert wanted == {first["runId"]: "stopped", second["runId"]: "running"}
    rolled = cast.owner.post(
        "/model/run",
        data={"projectId": cast.owner.id, "modelId": first["modelId"],
              "versionId": first["versionId"], "plan": "small"},
    )  # fmt: skip
    assert set(rolled.json()) == ANSWER
    assert (rolled.json()["version"], rolled.json()["versionId"]) == (1, first["versionId"])
    status = cast.owner.post("/model/status", json={"modelId": first["modelId"]}).json()
    assert set(status) == {"status", "lifecycle", "run"}
    assert set(status["lifecycle"]) == {"message", "start_at", "end_at", "running"}
    assert (status["run"]["run_id"], status["run"]["plan"]) == (rolled.json()["runId"], "small")
    for _ in range(2):
        killed = cast.owner.post("/model/kill", data={"modelId": first["modelId"]})
        assert (killed.status_code, killed.json()) == (200, {"status": "success"})
    assert {run.desired for run in all_runs(service, first["modelId"])} == {"stopped"}
    everything = cast.owner.get("/model/status").json()
    assert everything["status"] == "success"
    assert [one["modelId"] for one in everything["models"]] == [first["modelId"]]
    assert cast.outsider.get("/model/status").json()["models"] == []


@on_both
def test_a_stop_that_waits_for_a_server_that_is_down_says_so(service: Service, cast: Cast) -> None:
    made, store = deployed(cast.owner), service.store
    model, run = made["modelId"], made["runId"]

    def launch(connection: Connection) -> None:
        connection.execute(update(runs).values(host="gone", fence=1, state="running"))
        seen = {"run_id": run, "at": 1_800_000_000.0, "memory": 1, "cpu": 0.1}
        connection.execute(insert(samples).values(seen))

    store.write_now(launch)
    for path in ("/model/kill", f"/api/models/{model}/runs/{run}/stop"):
        said = cast.owner.post(path, json={"modelId": model})
        assert (said.status_code, said.json()["code"]) == (503, "not_supervised")
        assert "host gone" in said.json()["error"]
        assert "silent since 2027-01-15 08:00:00 UTC" in said.json()["error"]
        assert f"tapeline stop --here {model}" in said.json()["error"]
    (stopped,) = all_runs(service, model)
    assert (stopped.desired, stopped.state) == ("stopped", "stopping"), "it is recorded and shown"
    again = deployed(cast.owner, modelId=model)["runId"]
    for one, says in ((run, "nobody knows whether it runs"), (again, f"the end of run {run} on")):
        shown = cast.owner.get(f"/api/models/{model}/runs/{one}").json()
        assert (shown["silent_host"], shown["silent_since"]) == ("gone", 1_800_000_000.0)
        assert says in shown["trouble"]
        assert f"tapeline stop --here {model}" in shown["trouble"]
    listed = cast.owner.get(f"/api/projects/{cast.owner.id}/runs").json()["items"]
    assert [one["silent_host"] for one in listed] == ["gone"]
    if store.database.claims is not None:  # its server is back
        assert store.database.claim("gone")
        assert cast.owner.post("/model/kill", json={"modelId": model}).status_code == 200


def test_a_stop_on_a_node_says_what_is_wrong_with_the_server_that_leads(
    service: Service, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = deployed(cast.owner)
    launched = update(runs).values(host="n1", fence=1, state="running", lease_until=1e12)
    service.store.write_now(lambda connection: connection.execute(launched) and None)
    runner = service.services.runner
    monkeypatch.setattr(runner, "trouble", lambda *ids: "Ray is away" if ids else None)
    said = cast.owner.post("/model/kill", json={"modelId": made["modelId"]})
    assert (said.status_code, "Ray is away" in said.text) == (503, True)


def test_an_upload_stores_a_version_and_runs_nothing(service: Service, cast: Cast) -> None:
    said = send(cast.owner, "/model/upload", createNew="True", name="Quiet").json()
    assert set(said) == ANSWER - {"runId"}
    assert all_runs(service, said["modelId"]) == []
    assert cast.owner.post("/model/status", json={"modelId": said["modelId"]}).json()["run"] is None
    started = cast.owner.post("/model/run", json={"modelId": said["modelId"]})
    assert started.json()["versionId"] == said["versionId"]


def test_a_start_runs_the_version_that_ran_last(service: Service, cast: Cast) -> None:
    first = deployed(cast.owner)
    model = first["modelId"]
    second = deployed(cast.owner, modelId=model)
    third = send(cast.owner, "/model/upload", modelId=model).json()

    def run(**said: Any) -> Any:
        return cast.owner.post("/model/run", json={"modelId": model, **said}).json()["versionId"]

    assert run() == second["versionId"], "what was only uploaded trades by being chosen"
    assert run(versionId=first["versionId"]) == first["versionId"]
    assert cast.owner.post("/model/kill", json={"modelId": model}).is_success
    assert run() == first["versionId"], "after a rollback and a stop too"
    tested = cast.owner.post("/model/backtest-uploaded-model", json={"modelId": model}).json()
    assert tested["versionId"] == third["versionId"]


def test_the_file_may_come_first_last_or_under_another_name(cast: Cast) -> None:
    content = zipped()
    for part in ("model", "file", "anything"):
        assert send(cast.owner, "/model/deploy", part=part, createNew="1", name="x").is_success
    for order in (1, -1):
        parts: list[tuple[str, Any]] = [
            ("model", ("m.zip", content)), ("name", (None, "x")), ("createNew", (None, "true")),
        ]  # fmt: skip
        assert cast.owner.post("/model/deploy", files=parts[::order]).is_success
    two = [("one", ("1.zip", content)), ("two", ("2.zip", content)), ("name", (None, "x"))]
    shape = check_shape(cast.owner.post("/model/deploy", files=two), 400)
    assert shape["field"] == "model"


def test_a_body_without_a_file_is_told_how_to_send_one(cast: Cast) -> None:
    fields = {"createNew": "true", "name": "x"}
    bodies: list[dict[str, Any]] = [
        {"json": {"name": "x"}},
        {"data": fields},
        {"json": {}},
        {"files": {"name": (None, "x")}},
    ]
    for path in ("/model/deploy", "/model/backtest", "/model/upload"):
        for sent in bodies:
            shape = check_shape(cast.owner.post(path, **sent), 400)
            assert (shape["code"], shape["field"]) == ("missing_field", "model")
            assert "multipart/form-data" in shape["error"]


def test_what_the_request_lacks_comes_from_the_archive_then_from_the_model(
    service: Service, cast: Cast
) -> None:
    python = a_python(service)
    first = deployed(cast.owner, zipped(plan="small", python_version=python), plan="medium")
    model = first["modelId"]
    deployed(cast.owner, modelId=model)
    deployed(cast.owner, zipped(plan="micro"), modelId=model, plan="")
    assert [run.plan for run in all_runs(service, model)] == ["medium", "medium", "micro"]
    cast.owner.post("/model/run", json={"modelId": model, "versionId": first["versionId"]})
    assert all_runs(service, model)[-1].plan == "medium"


@on_both
def test_a_refused_plan_or_python_is_quoted_beside_what_there_is(
    service: Service, cast: Cast
) -> None:
    new: dict[str, Any] = {"createNew": "true", "name": "x"}
    refused = check_shape(send(cast.owner, "/model/deploy", plan="huge", **new), 400)
    assert (refused["code"], refused["field"]) == ("unknown_plan", "plan")
    assert "'huge'" in refused["error"]
    assert "nano, micro, small, medium, large" in refused["error"]
    assert "slow" not in refused["error"]
    check_shape(send(cast.owner, "/model/deploy", plan="slow", **new), 400)
    assert send(cast.owner, "/model/backtest", plan="slow", **new).is_success
    for said in ({"pythonVersion": "2.7"}, {}):
        content = zipped(python_version="2.7")
        refused = check_shape(send(cast.owner, "/model/deploy", content, **new, **said), 400)
        assert (refused["code"], refused["field"]) == ("unknown_python", "pythonVersion")
        assert "'2.7'" in refused["error"]
        assert a_python(service) in refused["error"]
    listed = cast.viewer.get("/api/pythons").json()["items"]
    assert [one["version"] for one in listed] == service.services.pythons
    assert set(listed[0]) == {"version", "release", "source"}


@on_both
def test_name_and_description_update_the_model_and_create_new_makes_another(cast: Cast) -> None:
    first = deployed(cast.owner, generalDescription="root", versionDescription="v")
    model = {"projectId": cast.owner.id, "modelId": first["modelId"]}
    deployed(cast.owner, modelId=first["modelId"], name="")
    shown = cast.owner.post("/model/details", json=model).json()
    assert (shown["name"], shown["description"]) == ("Momentum", "root")
    deployed(cast.owner, modelId=first["modelId"], name="Carry", generalDescription="new root")
    shown = cast.owner.post("/model/details", json=model).json()
    assert (shown["name"], shown["description"]) == ("Carry", "new root")
    other = deployed(cast.owner, modelId=first["modelId"], createNew="True", name="Other")
    assert other["modelId"] != first["modelId"]
    assert other["version"] == 1


@pytest.mark.parametrize(
    ("fields", "status", "field"),
    [
        ({}, 400, "modelId"),
        ({"name": "x"}, 400, "modelId"),
        ({"createNew": "false", "name": "x"}, 400, "modelId"),
        ({"createNew": "true"}, 400, "name"),
        ({"createNew": "true", "name": " "}, 400, "name"),
        ({"createNew": "true", "name": "x" * 121}, 400, "name"),
        ({"createNew": "perhaps", "name": "x"}, 400, "createNew"),
        ({"createNew": "true", "name": "x", "type": "robot"}, 400, "type"),
        ({"createNew": "true", "name": "x", "type": "screener"}, 400, "schedule"),
        ({"createNew": "true", "name": "x", "type": "screener", "schedule": "x"}, 400, "schedule"),
        ({"createNew": "true", "name": "x", "versionDescription": "x" * 10_001}, 400,
         "versionDescription"),
        ({"createNew": "true", "name": "x", "projectId": "elsewhere"}, 404, "projectId"),
        ({"modelId": "nothing"}, 404, "modelId"),
        ({"modelId": ["a", "b"]}, 400, "modelId"),
    ],
)  # fmt: skip
def test_a_refused_upload_names_the_field_and_leaves_nothing(
    service: Service, cast: Cast, fields: dict[str, Any], status: int, field: str
) -> None:
    before = kept(service)
    shape = check_shape(send(cast.owner, "/model/deploy", unlike_others(), **fields), status)
    assert shape["field"] == field
    assert kept(service) == before
    assert cast.owner.get("/model/status").json()["models"] == []


@pytest.mark.parametrize(
    "content",
    [
        b"", b"not a zip", zipped()[:-5], zipped() + b"more", zipped(root="other/"),
        zipped(root=""), zipped(main_script="none.py"), zipped({"../../evil": "x"}),
        raw_zip([("model/main.py", "x")]), zipped({"zeros": bytes(3_000_000)}),
    ],
)  # fmt: skip
def test_a_bad_archive_is_refused_in_the_error_shape_and_leaves_nothing(
    service: Service, cast: Cast, content: bytes
) -> None:
    before = kept(service)
    for path in ("/model/deploy", "/model/backtest", "/model/upload"):
        shape = check_shape(send(cast.owner, path, content, createNew="true", name="x"), 400)
        assert shape["code"] in {"invalid_archive", "invalid_manifest"}
        assert shape["field"] == "model"
    assert kept(service) == before
    assert cast.owner.get("/model/status").json()["models"] == []


def test_backtest_arguments_are_json_or_python_and_nothing_else(
    service: Service, cast: Cast
) -> None:
    content = zipped(backtest_args={"to": "3y"})
    model = deployed(cast.owner, content)["modelId"]
    for text, wanted in {
        '{"a": [1, null, true]}': {"a": [1, None, True]},
        "{'a': (1, None, True)}": {"a": [1, None, True]},
        "{}": {},
        "": {"to": "3y"},
    }.items():
        answer = send(cast.owner, "/model/backtest", content, modelId=model, backtestArgs=text)
        assert answer.is_success
        assert all_runs(service, model)[-1].arguments == wanted
    before = len(all_runs(service, model))
    for text in ("[1]", "x", "{1: 2}", "{'a': print()}", "{'a': 1e999}", "{'a': b'x'}", "{" * 5000,
                 '{"a": "\\u0000"}', "{'a': {1}}", "9" * 9999):  # fmt: skip
        answer = send(cast.owner, "/model/backtest", content, modelId=model, backtestArgs=text)
        assert check_shape(answer, 400)["field"] == "backtestArgs", text
    assert len(all_runs(service, model)) == before


def test_a_screener_takes_its_schedule_from_the_request_or_the_archive(
    service: Service, cast: Cast
) -> None:
    content = zipped(type="screener", screener={"schedule": "30 14 * * 1-5"})
    model = deployed(cast.owner, content)["modelId"]
    deployed(cast.owner, content, modelId=model, schedule="@hourly")
    cast.owner.post("/model/run", json={"modelId": model, "schedule": "0 9 * * *"})
    found = [(run.kind, run.schedule) for run in all_runs(service, model)]
    assert found == [
        ("screener", "30 14 * * 1-5"), ("screener", "@hourly"), ("screener", "0 9 * * *"),
    ]  # fmt: skip
    assert cast.owner.get(f"/api/models/{model}").json()["type"] == "screener"


@on_both
def test_a_repeat_with_one_idempotency_key_is_one_deploy(service: Service, cast: Cast) -> None:
    header = {"Idempotency-Key": "once"}
    data = {"createNew": "true", "name": "x"}
    before, content = kept(service), unlike_others()
    answers = [
        cast.owner.post(
            "/model/deploy", headers=header, data=data, files={"model": ("m.zip", content)}
        )
        for _ in range(2)
    ]
    assert answers[0].content == answers[1].content
    other = {"model": ("m.zip", zipped({"more.txt": "more"}))}
    reused = cast.owner.post("/model/deploy", headers=header, data=data, files=other)
    assert check_shape(reused, 409)["code"] == "idempotency_key_reused"
    assert len(cast.owner.get("/model/status").json()["models"]) == 1
    assert len(kept(service)) == len(before) + 1


@on_both
def test_concurrent_deploys_number_versions_without_gaps_on_two_servers(
    service: Service, cast: Cast
) -> None:
    model = deployed(cast.owner)["modelId"]
    start = threading.Barrier(8)
    token = cast.owner.client.headers["token"]

    def one(client: httpx.Client) -> int:
        start.wait(20)
        files = {"model": ("m.zip", zipped({"x": new_id()}))}
        answer = client.post("/model/deploy", data={"modelId": model}, files=files)
        assert answer.status_code == 200, answer.text
        return int(answer.json()["version"])

    second_data = service.services.settings.data.parent / "second"
    second_data.mkdir(mode=0o700)
    settings = service.services.settings
    if settings.database:
        settings = replace(settings, data=second_data)
    with (
        running(settings) as second,
        service.client(token=token) as here,
        second.client(token=second.services.ring.sign(*cast.owner.actor.signed_in())) as there,
        ThreadPoolExecutor(8) as pool,
    ):
        numbers = [one.result() for one in [pool.submit(one, c) for c in (here, there) * 4]]
    assert sorted(numbers) == list(range(2, 10))
    wanted = [run.desired for run in all_runs(service, model)]
    assert wanted.count("running") == 1
    listed = cast.owner.get(f"/api/models/{model}/versions?limit=4").json()
    assert [one["version"] for one in listed["items"]] == [9, 8, 7, 6]
    rest = cast.owner.get(f"/api/models/{model}/versions?limit=9&cursor={listed['next']}").json()
    assert [one["version"] for one in rest["items"]] == [5, 4, 3, 2, 1]


def test_plans_are_listed_by_use(cast: Cast) -> None:
    live = cast.owner.post("/project/plans", data={"type": "live"}).json()
    assert live == {
        "nano": {"cpu": 250, "ram": 256}, "micro": {"cpu": 500, "ram": 512},
        "small": {"cpu": 1000, "ram": 1024}, "medium": {"cpu": 2000, "ram": 2048},
        "large": {"cpu": 4000, "ram": 4096},
    }  # fmt: skip
    tests = cast.owner.post("/project/plans", data={"type": "backtesting"}).json()
    assert tests == live | {"slow": {"cpu": 250, "ram": 512}}
    assert cast.owner.post("/project/plans", json={}).json() == live
    assert (
        check_shape(cast.owner.post("/project/plans", json={"type": "x"}), 400)["field"] == "type"
    )


def test_a_starter_model_can_be_downloaded_and_deployed(cast: Cast, anybody: httpx.Client) -> None:
    listed = anybody.get("/model/starter-models").json()
    assert {one["modelType"] for one in listed} == {"strategy", "screener"}
    for one in listed:
        assert set(one) == {"shortName", "path", "url", "exchange", "modelType"}
        packed = anybody.get(one["url"])
        assert packed.headers["content-type"] == "application/zip"
        said = deployed(cast.owner, packed.content, name=one["shortName"])
        assert said["version"] == 1
    check_shape(anybody.get("/model/starter-models/none.zip"), 404)


@on_both
def test_secrets_can_be_set_and_named_but_never_read(service: Service, cast: Cast) -> None:
    model = deployed(cast.owner, projectId=cast.project_id)["modelId"]
    home = f"/api/models/{model}/secrets"
    value = "s3cret-" + new_id()
    for _ in range(2):
        put = cast.member.client.put(f"{home}/EXCHANGE_KEY", json={"value": value})
        assert put.status_code == 200, put.text
        assert set(put.json()) == {"name", "changed_at"}
    listed = cast.member.get(home)
    assert [one["name"] for one in listed.json()["items"]] == ["EXCHANGE_KEY"]
    assert cast.member.get(f"{home}/EXCHANGE_KEY").json() == listed.json()["items"][0]
    audit = cast.owner.get(f"/api/projects/{cast.project_id}/audit")
    assert "secret_set" in audit.text
    for answer in (listed, audit):
        assert value not in answer.text
    assert cast.viewer.get(home).status_code == 403
    assert cast.member.delete(f"{home}/EXCHANGE_KEY").json() == {"status": "success"}
    gone = cast.member.delete(f"{home}/EXCHANGE_KEY")
    assert check_shape(gone, 404)["code"] == "no_such_secret"
    wrong = cast.member.client.put(f"{home}/TAPELINE_URL", json={"value": "x"})
    assert check_shape(wrong, 400)["field"] == "name"


@on_both
def test_the_models_page_shows_plan_python_and_version(service: Service, cast: Cast) -> None:
    said = deployed(cast.owner, plan="micro")
    shown = cast.owner.get(f"/api/models/{said['modelId']}").json()
    assert (shown["plan"], shown["python_version"]) == ("micro", a_python(service))
    assert shown["version"]["version"] == 1

    def stored(connection: Connection) -> Any:
        columns = (models_table.c.plan, models_table.c.python_version)
        query = select(*columns).where(models_table.c.id == said["modelId"])
        return connection.execute(query).first()

    assert tuple(service.store.read_now(stored)) == ("micro", a_python(service))
