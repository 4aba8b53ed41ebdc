"""Versions are numbered without gaps, and archives that none of them names are swept out."""

import os
import time
from pathlib import Path

import pytest

from tapeline.accounts.actor import OPERATOR, Actor
from tapeline.errors import NoSuchModel, NoSuchProject, NoSuchVersion, UnknownPlan, UnknownPython
from tapeline.models import cleanup, models, onboarding, plans, uploading, versions
from tapeline.models.archives.manifest import Manifest
from tapeline.models.uploading import Archive, Offer, Wish
from tapeline.settings import Settings
from tapeline.store.blobs import GRACE, Blobs
from tapeline.store.store import Store
from tests.conftest import run

OFFER = Offer(plans.offered(Settings(), "live"), ["3.12", "3.9"], 20 * 10**9)


@pytest.fixture
def ada(store: Store) -> Actor:
    user = store.write_now(
        onboarding.add_by_operator, email="ada@example.com", name="Ada", password_hash="x"
    )
    return Actor(kind="account", id=user.id, label=user.email)


def upload(
    store: Store,
    actor: Actor,
    wish: Wish,
    manifest: Manifest | None = None,
    blob: str = "b",
    size: int = 3,
) -> tuple[models.Model, versions.Version]:
    said = manifest or Manifest(main_script="main.py")
    sent = Archive(blob, size, said, "c")
    resolved = store.read_now(uploading.resolve, actor, wish, sent, OFFER)
    return store.write_now(uploading.store, actor, wish, resolved, sent)


def new(store: Store, actor: Actor, **more: str) -> models.Model:
    return upload(store, actor, Wish(create_new=True, name="Momentum", **more))[0]


def test_versions_count_from_one_and_come_back_as_they_were(store: Store, ada: Actor) -> None:
    said = Manifest(main_script="main.py", backtest_args={"a": [1, None]}, network=False)
    model, first = upload(store, ada, Wish(create_new=True, name="x"), said)
    wish = Wish(model_id=model.id, version_description="second")
    _, second = upload(store, ada, wish)
    assert (first.number, second.number) == (1, 2)
    assert store.read_now(versions.get, model.id, first.id) == first
    assert first.manifest == said
    assert store.read_now(versions.newest, model.id) == second
    assert store.read_now(versions.of_model, model.id) == [second, first]
    assert store.read_now(versions.of_model, model.id, before=2) == [first]
    store.write_now(versions.set_lock, first.id, "numpy==2.0")
    assert store.read_now(versions.get, model.id, first.id).lock == "numpy==2.0"
    with pytest.raises(NoSuchVersion):
        store.read_now(versions.get, new(store, ada).id, first.id)


def test_a_version_that_is_undone_leaves_no_gap(store: Store, ada: Actor) -> None:
    model = new(store, ada)
    sent = Archive("b", 3, Manifest(main_script="m"), "c")
    resolved = store.read_now(uploading.resolve, ada, Wish(model_id=model.id), sent, OFFER)

    def fail(connection: object) -> None:
        archive = Archive("b", 3, Manifest(main_script="m"), "c")
        uploading.store(connection, ada, Wish(model_id=model.id), resolved, archive)  # type: ignore[arg-type]
        raise NoSuchModel

    with pytest.raises(NoSuchModel):
        store.write_now(fail)
    assert upload(store, ada, Wish(model_id=model.id))[1].number == 2


def test_plan_and_python_come_from_the_request_the_archive_the_model_then_the_default(
    store: Store, ada: Actor
) -> None:
    def chosen(wish: Wish, **keys: str) -> tuple[str, str]:
        manifest = Manifest(main_script="m", **keys)  # type: ignore[arg-type]
        sent = Archive("b", 3, manifest, "c")
        found = store.read_now(uploading.resolve, ada, wish, sent, OFFER)
        return found.plan.name, found.python_version

    fresh = Wish(create_new=True, name="x")
    assert chosen(fresh) == ("nano", "3.12")
    assert chosen(fresh, plan="micro", python_version="3.9") == ("micro", "3.9")
    asking = Wish(create_new=True, name="x", plan="small", python_version="3.12")
    assert chosen(asking, plan="micro", python_version="3.9") == ("small", "3.12")
    model, _ = upload(store, ada, Wish(create_new=True, name="x", plan="large"), None)
    assert chosen(Wish(model_id=model.id)) == ("large", "3.12")
    with pytest.raises(UnknownPlan, match="'slow'"):
        chosen(fresh, plan="slow")
    with pytest.raises(UnknownPython, match=r"'3.7'.*3.12, 3.9"):
        chosen(fresh, python_version="3.7")


def test_others_models_are_not_found(store: Store, ada: Actor) -> None:
    model = new(store, ada)
    bob = store.write_now(
        onboarding.add_by_operator, email="bob@example.com", name="", password_hash="x"
    )
    actor = Actor(kind="account", id=bob.id, label="bob")
    with pytest.raises(NoSuchModel):
        upload(store, actor, Wish(model_id=model.id))
    with pytest.raises(NoSuchProject):
        upload(store, actor, Wish(model_id=model.id, project_id=model.project_id))
    with pytest.raises(NoSuchProject):
        upload(store, actor, Wish(create_new=True, name="x", project_id=model.project_id))
    with pytest.raises(NoSuchProject):
        store.write_now(models.create, OPERATOR, "none", name="x", type="strategy", description="")


def test_archives_nobody_names_are_swept_out_once_they_are_old(
    store: Store, ada: Actor, tmp_path: Path
) -> None:
    blobs = Blobs(tmp_path / "blobs")
    source = tmp_path / "source"
    source.write_bytes(b"zip")
    for name in ("used", "failed", "young"):
        blobs.put(name, source)
    model, _ = upload(store, ada, Wish(create_new=True, name="x"), blob="used")
    old = time.time() - GRACE - 60
    for name in ("used", "failed"):
        os.utime(tmp_path / "blobs" / name, (old, old))
    assert run(cleanup.clean_up(store, blobs, time.time())) == 1
    assert sorted(one.name for one in (tmp_path / "blobs").iterdir()) == ["used", "young"]
    # Put again it is young again, and so outlives a sweep that comes before its new version.
    blobs.put("used", source)
    store.write_now(models.remove, ada, model.project_id, model.id)
    assert run(cleanup.clean_up(store, blobs, time.time())) == 0
    assert run(cleanup.clean_up(store, blobs, time.time() + GRACE + 60)) == 2
    assert list((tmp_path / "blobs").iterdir()) == []
