"""The files of models on this host's disk, and their removal once the models are deleted.

Found by listing the disk, so it does not matter which server deleted a model, or which process
was killed while doing so. Rows are in `store/belongings.py`.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
from sqlalchemy import Connection, select

from tapeline.background import Background
from tapeline.logs import Log
from tapeline.models import versions
from tapeline.runs.engines import shims
from tapeline.runs.environments.cache import Made
from tapeline.runs.sandbox import foreign_files
from tapeline.runs.sandbox.belonging import LONGEST_NAME
from tapeline.store.store import Store
from tapeline.store.tables.core import deleted_models, projects
from tapeline.store.tables.runs import runs

log = Log(__name__)

EVERY, WITHIN = 5.0, 300.0  # seconds
NOT_RUNS = {"locks"}
NOTE = "model"
"""In the folder of a run: whose it is, which no row says any more once the model is deleted."""


def keep_removing(background: Background, store: Store, data: Path) -> None:
    """In the background of a server that runs models."""

    async def turn() -> None:
        for about, error in (await asyncio.to_thread(remove, store, data)).items():
            work.note(error, about)

    work = background.loop("remains", turn, every=EVERY, within=WITHIN)


class Remains(msgspec.Struct, frozen=True):
    """What lies on a host's disk, by its owners."""

    launched: list[str]
    owners: list[str]
    archives: list[str]
    environments: dict[str, Made]
    models: dict[str, str] = {}
    """Of the runs that were launched here. Those that cannot be told are missing."""


class Doomed(msgspec.Struct, frozen=True):
    """What of that nobody owns any more."""

    models: list[str] = []
    archives: list[str] = []
    environments: list[str] = []


def remove(store: Store, data: Path) -> dict[str, OSError]:
    """Remove the files of deleted models, except those of runs that are still ending. Returns what
    could not be removed, and why."""
    # List first, query after: by then, an archive unpacked for a new version has its row.
    remains = found(data)
    return discard(data, store.read_now(doomed, remains))


def found(data: Path) -> Remains:
    owned = _launched(data)
    return Remains(
        sorted(owned),
        sorted(of_models(data)),
        sorted(_names(data / "versions") | _names(data / "archives")),
        of_tenants(data),
        {run: model for run, model in owned.items() if model},
    )


def doomed(connection: Connection, remains: Remains) -> Doomed:
    launched = set(remains.launched)
    # The supervisor ends those first: they may still write to the files of their models.
    ending = launched - _known(connection, launched)
    untold = ending - remains.models.keys()
    busy = {remains.models[run] for run in ending - untold}
    deleted = set() if untold else _deleted(connection, set(remains.owners)) - busy
    return Doomed(
        sorted(deleted),
        sorted(versions.unused(connection, remains.archives)),
        _orphaned(connection, remains.environments),
    )


def discard(data: Path, some: Doomed) -> dict[str, OSError]:
    """What could not be removed, and why: one model's files never keep those of another."""
    failed: dict[str, OSError] = {}

    def attempt(about: str, act: Callable[[Path, str], None], name: str) -> None:
        try:
            act(data, name)
        except OSError as error:
            failed[f"{about} {name}"] = error

    for model in some.models:
        attempt("model", _remove_model, model)
    for archive in some.archives:
        attempt("archive", _remove_archive, archive)
    for environment in some.environments:
        attempt("environment", _remove_environment, environment)
    return failed


def left(data: Path, owners: Iterable[str], launched: Iterable[str]) -> bool:
    """Whether any file of these models and runs is here."""
    return bool(of_models(data) & set(owners) or of_runs(data) & set(launched))


def of_runs(data: Path) -> set[str]:
    """The runs that have a folder: a copy of the model, its output, its journal."""
    return {
        name
        for name in _names(data / "runs") - NOT_RUNS
        if "-" not in name and (data / "runs" / name).is_dir()
    }


def _launched(data: Path) -> dict[str, str]:
    """The same with their models; empty where an earlier version made no note. Such a run counts
    only while it lives: a folder that cannot be removed must not keep the files of others."""
    found = {run: _model_of(data / "runs" / run) for run in of_runs(data)}
    return {run: model for run, model in found.items() if model or _lives(data / "runs" / run)}


def _model_of(run: Path) -> str:
    noted = foreign_files.read_text(run / NOTE, LONGEST_NAME)
    lock = foreign_files.read_text(run / "lock", LONGEST_NAME) or run.name
    return noted or ("" if lock == run.name else lock)  # what is deployed has its model's lock


def _lives(run: Path) -> bool:
    return shims.is_held(run.parent / "locks" / run.name) or shims.is_running(run)


def of_models(data: Path) -> set[str]:
    """The models that have a state folder, or a lock of what is deployed of them."""
    locks = {name for name in _names(data / "runs" / "locks") if "-" not in name}
    return _names(data / "state") | locks


def of_tenants(data: Path) -> dict[str, Made]:
    """The environments that belong to one project, or hold files of one archive."""
    found = {}
    for file in (data / "environments" / "made").glob("*.json"):
        with suppress(OSError, msgspec.DecodeError):
            made = msgspec.json.decode(file.read_bytes(), type=Made)
            if made.project or made.archive:
                found[file.stem] = made
    return found


def _orphaned(connection: Connection, found: dict[str, Made]) -> list[str]:
    """They can be rebuilt, so an unknown owner is reason enough to delete them."""
    owners = {made.project for made in found.values()} - {""}
    there = set(connection.scalars(select(projects.c.id).where(projects.c.id.in_(owners))))
    archives = {made.archive for made in found.values()} - {""}
    unused = versions.unused(connection, sorted(archives))
    return [
        key
        for key, made in found.items()
        if made.project not in {"", *there} or made.archive in unused
    ]


def _remove_environment(data: Path, key: str) -> None:
    folder = data / "environments"
    # The record goes first, as everywhere: an environment without one is not found.
    (folder / "made" / f"{key}.json").unlink(missing_ok=True)
    foreign_files.remove(folder / "made" / key)
    for note in (folder / "requests").glob("*.json"):
        if f'"{key}"' in note.read_text():
            note.unlink()
    log.info("remains_removed", environment=key)


def _remove_archive(data: Path, name: str) -> None:
    for folder in ("versions", "archives"):
        foreign_files.remove(data / folder / name)


def _remove_model(data: Path, model: str) -> None:
    lock = data / "runs" / "locks" / model
    if shims.is_held(lock):
        return  # something of it is still alive
    foreign_files.remove(data / "state" / model)
    lock.unlink(missing_ok=True)
    log.info("remains_removed", model=model)


def _names(folder: Path) -> set[str]:
    """Names of unfinished folders begin with a dot."""
    try:
        return {one.name for one in folder.iterdir() if not one.name.startswith(".")}
    except FileNotFoundError:
        return set()


def _known(connection: Connection, ids: set[str]) -> set[str]:
    """The runs among these whose model exists."""
    return set(connection.scalars(select(runs.c.id).where(runs.c.id.in_(sorted(ids)))))


def _deleted(connection: Connection, ids: set[str]) -> set[str]:
    query = select(deleted_models.c.id).where(deleted_models.c.id.in_(sorted(ids)))
    return set(connection.scalars(query))
