"""No files that a model made keep a backup from being made, checked and restored."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tapeline.backups import manifest, restoring, writing
from tapeline.backups.drafts import BackupFailed
from tapeline.backups.process import Order, carry_out
from tapeline.runs.sandbox import foreign_copies
from tapeline.settings import Settings
from tests import needs
from tests.backups.conftest import Installation, gets, names_in, refused
from tests.deep_trees import KINDS, LONG, OPERATOR, as_operator, nest

ODD = os.fsdecode(b"\xff\xfe not unicode")


@pytest.fixture
def hostile(on_sqlite: Installation, place: Path) -> Installation:
    """Its model has nested folders of both kinds, and names a file by bytes that are no text."""
    data = place / "data"
    foreign_copies.copy(on_sqlite.settings.data, data)
    made = Installation(replace(on_sqlite.settings, data=data), on_sqlite.model_id)
    for kind, (name, levels) in KINDS.items():
        nest(state_of(data, made) / kind, name, levels)
    (state_of(data, made) / "kept").write_text("weights")
    (state_of(data, made) / ODD).write_text("weights")
    return made


def state_of(data: Path, installation: Installation) -> Path:
    return data / "state" / installation.model_id


def test_a_backup_is_made_and_restored_and_says_what_it_leaves_out(
    hostile: Installation, place: Path
) -> None:
    told = gets("backup", str(place / "backup"), *hostile.options)
    assert f"2 files or folders in state/{hostile.model_id}" in told["left_out"]
    page = manifest.read(place / "backup")
    assert page is not None
    assert page.left_out == {f"state/{hostile.model_id}": 2}
    again = gets("restore", str(place / "backup"), "--data", str(place / "new"))
    assert again["left_out"] == told["left_out"]
    assert again["broken"] == []
    for name in ("kept", ODD):
        assert (state_of(place / "new", hostile) / name).read_text() == "weights"
    assert names_in(place) == ["backup", "data", "new"]
    (state_of(place / "backup", hostile) / ODD).unlink()
    (place / "other").mkdir()
    said = refused("restore", str(place / "backup"), "--data", str(place / "other"))
    assert f"missing or changed: state/{hostile.model_id}/" in said


@needs.root("only root can be somebody else")
def test_scheduled_backups_go_on_without_root(hostile: Installation, place: Path) -> None:
    order = Order(
        data=str(hostile.settings.data),
        database="",
        folder=str(place / "backups"),
        keep="1 last",
        recipients="",
        installation="abc",
        parent=os.getpid(),
    )
    old = "tapeline-abc-20260101T000000Z"
    for kind, (name, levels) in KINDS.items():
        nest(place / "backups" / old / "state" / kind, name, levels)
    give_all(place)
    with as_operator():
        made = carry_out(order)
        target = Settings(data=place / "new")
        checked = restoring.restore(Path(made.path), target)
    assert f"in state/{hostile.model_id}" in made.remarks
    assert "could not be removed" not in made.remarks
    assert names_in(place / "backups") == [Path(made.path).name], "the old one is gone"
    assert checked.left_out in made.remarks
    assert (state_of(target.data, hostile) / "kept").read_text() == "weights"


def give_all(folder: Path) -> None:
    """Without recursion, and however deep."""
    waiting = [os.open(folder, os.O_RDONLY)]
    while waiting:
        here = waiting.pop()
        os.fchown(here, OPERATOR, OPERATOR)
        for name in os.listdir(here):  # noqa: PTH208
            os.chown(name, OPERATOR, OPERATOR, dir_fd=here, follow_symlinks=False)
            try:
                waiting.append(os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=here))
            except NotADirectoryError:
                continue
        os.close(here)


def test_a_backup_of_deeper_folders_is_restored_only_if_the_operator_insists(
    on_sqlite: Installation, place: Path
) -> None:
    """As somebody may have changed it, or an earlier version have made it."""
    backup = on_sqlite.backup(place / "backup")
    nest(state_of(backup, on_sqlite), *LONG)
    with pytest.raises(BackupFailed, match="These cannot be copied: state"):
        restoring.restore(backup, Settings(data=place / "new"))
    assert names_in(place) == ["backup"]
    checked = restoring.restore(backup, Settings(data=place / "new"), keep_broken=True)
    assert "These cannot be copied: state" in checked.broken[0]


def test_what_a_killed_backup_left_of_deep_folders_is_removed(
    on_sqlite: Installation, place: Path
) -> None:
    for kind, (name, levels) in KINDS.items():
        nest(place / ".backup.12345.part" / "state" / kind, name, levels)
    writing.folder(on_sqlite.settings, place / "backup")
    assert names_in(place) == ["backup"]
