"""A database that went backwards is noticed by the heads that its server remembers beside it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, update

from tapeline import compose
from tapeline.background import Background
from tapeline.settings import Settings
from tapeline.store import moving
from tapeline.store.store import Store
from tapeline.store.tables.tape import checkpoints
from tapeline.tape.append import appending
from tapeline.tape.proof import heads
from tapeline.tape.proof.rewinds import Rewinds
from tests.conftest import Person, Service, run
from tests.pushing import Model, pushing

LOG = "/v1/live/log"
Enter = Callable[[str], Person]
Copy = Callable[[], Settings]


@pytest.fixture(autouse=True)
def _signed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appending, "SIGNED_EVERY", 0.0)


@pytest.fixture
def copy(settings: Settings, tmp_path: Path, empty: Callable[[str, Path], Settings]) -> Copy:
    """Copies the database as it is now, as a backup of it would."""

    def make() -> Settings:
        kind = "postgresql" if settings.database else "sqlite"
        made = empty(kind, tmp_path / "copy")
        with (
            compose.open_store(settings) as source,
            compose.open_store(made) as target,
            source.database.reading.connect() as reading,
            target.database.writing.connect() as writing,
            writing.begin(),
        ):
            moving.copy(reading, writing, lambda _table, _rows: None)
        return made

    return make


def look(store: Store, data: Path) -> list[str]:
    """A server that starts with this database and this data directory; what it finds missing."""
    run(Rewinds(store, data, Background()).turn())
    return [one.sentence() for one in heads.losses(data)]


def push(model: Model, *lines: str) -> None:
    for line in lines:
        model.push(LOG, {"line": line})


def test_an_older_copy_is_noticed_with_the_number_of_missing_events(
    service: Service, settings: Settings, enter: Enter, copy: Copy,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    data, ada = settings.data, enter("ada")
    with pushing(service, ada) as model:
        push(model, "1")
        older = copy()
        push(model, "2", "3")
    assert look(service.store, data) == []
    with compose.open_store(older) as restored:
        said = look(restored, data)
        assert len(said) == 1
        assert f"The tape of model {model.id} had 3 events at " in said[0]
        assert said[0].endswith("the database holds 1: 2 are missing.")
        assert look(restored, data) == said, "said once, and kept until somebody accepts it"
    told = [one for one in caplog.records if one.getMessage() == "store_went_backwards"]
    assert len(told) == 1
    assert [one.had for one in heads.accept(data)] == [3]
    assert heads.losses(data) == []


def test_a_model_that_is_missing_is_a_loss_and_a_deleted_one_is_not(
    service: Service, settings: Settings, enter: Enter, copy: Copy
) -> None:
    ada = enter("ada")
    older = copy()
    with pushing(service, ada) as model, pushing(service, ada) as deleted:
        push(model, "1")
        push(deleted, "1")
        assert look(service.store, settings.data) == []
        sent = {"projectId": deleted.project_id, "modelId": deleted.id}
        assert ada.post("/model/delete", json=sent).is_success
        assert look(service.store, settings.data) == []
    with compose.open_store(older) as restored:
        said = look(restored, settings.data)
    assert len(said) == 1
    assert model.id in said[0]
    assert said[0].endswith("; the database does not have this model.")


def test_a_copy_that_went_on_without_us_is_noticed_however_long_it_is(
    service: Service, settings: Settings, enter: Enter
) -> None:
    def change(connection: Connection) -> None:
        connection.execute(update(checkpoints).values(link=bytes(32)))

    with pushing(service, enter("ada")) as model:
        push(model, "1")
        assert look(service.store, settings.data) == []
        service.store.write_now(change)
        push(model, "2")
    assert look(service.store, settings.data)[0].endswith("holds 2, but not the same ones.")


def test_a_moved_database_and_more_events_are_no_loss(
    service: Service, settings: Settings, enter: Enter, copy: Copy
) -> None:
    watching = Rewinds(service.store, settings.data, Background())
    with pushing(service, enter("ada")) as model:
        push(model, "1")
        run(watching.turn())
        push(model, "2")
        run(watching.turn())
    remembered = heads.remembered(settings.data)
    assert [one.seq for one in remembered.values()] == [2]
    with compose.open_store(copy()) as moved:
        assert look(moved, settings.data) == []
    assert heads.remembered(settings.data) == remembered


def test_a_model_whose_tape_is_gone_has_lost_all_of_it(
    service: Service, settings: Settings, enter: Enter, copy: Copy
) -> None:
    with pushing(service, enter("ada")) as model:
        older = copy()
        push(model, "1")
    assert look(service.store, settings.data) == []
    with compose.open_store(older) as restored:
        assert look(restored, settings.data)[0].endswith("the database holds 0: 1 are missing.")


def test_a_file_that_somebody_damaged_is_begun_anew(service: Service, settings: Settings) -> None:
    (settings.data / heads.HEADS).write_text("{")
    assert look(service.store, settings.data) == []
