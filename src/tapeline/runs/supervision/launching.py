"""The transaction before a launch: it raises the fence and makes a key for this run alone."""

import msgspec
from sqlalchemy import Connection, Exists, or_, select, update

from tapeline.accounts import keys, tenants
from tapeline.models import secrets, versions
from tapeline.models.versions import Version
from tapeline.runs import leases
from tapeline.runs.engines.engine import Job, LaunchSecrets
from tapeline.runs.run import DEPLOYED, Run, find
from tapeline.store.encryption import Cipher
from tapeline.store.rows import record
from tapeline.store.tables.core import models
from tapeline.store.tables.runs import runs
from tapeline.store.tables.tape import tapes
from tapeline.store.tables.watch import halts


def claim(connection: Connection, run: Run, host: str) -> bool:
    """Whether this host has claimed the run."""
    claimed = connection.execute(
        update(runs)
        .where(
            runs.c.id == run.id,
            or_(runs.c.host.is_(None), runs.c.host == host),
            runs.c.ended_at.is_(None),
            runs.c.desired == "running",
            runs.c.fence.is_(None),
        )
        .values(host=host, state="installing")
        .returning(runs.c.id)
    )
    return claimed.first() is not None


def job_of(connection: Connection, run_id: str) -> Job | None:
    run = find(connection, run_id)
    if run is None:
        return None
    version = versions.get(connection, run.model_id, run.version_id)
    project_id = connection.scalar(select(models.c.project_id).where(models.c.id == run.model_id))
    number = connection.scalar(select(tapes.c.no).where(tapes.c.model_id == run.model_id))
    if project_id is None or number is None:
        return None
    return Job(run, version, project_id, number, tenants.of_project(connection, project_id))


def remember_lock(connection: Connection, version: Version, lock: str) -> None:
    """Keep the packages of the first installation for all later ones."""
    versions.set_lock(connection, version.id, lock)


def raise_fence(
    connection: Connection,
    cipher: Cipher,
    job: Job,
    host: str,
    confinement: str,
    lease: float | None = None,
) -> tuple[Run, LaunchSecrets] | None:
    """None when it is no longer desired, its model was deleted, its project is halted, or another
    instance may be alive. `lease` is for how many seconds it may live without a renewal.

    Committed before the process exists: after a crash in between, a later launch has a higher
    fence, and the row says that something may be alive.
    """
    run = job.run
    fence = _next_fence(connection, run)
    if fence is None:
        return None
    row = connection.execute(
        update(runs)
        .where(
            runs.c.id == run.id,
            runs.c.host == host,
            runs.c.ended_at.is_(None),
            runs.c.desired == "running",
            runs.c.fence.is_(None),
            ~_rival(run),
            ~_halt(job),
        )
        .values(
            fence=fence,
            lease_until=leases.granted(connection, lease),
            launches=runs.c.launches + 1,
            confinement=confinement,
        )
        .returning(*runs.c)
    ).first()
    if row is None:
        return None
    key_id, key_pass = keys.generate_for_run(connection, job.project_id, run.id, fence)
    found = secrets.of_model(connection, cipher, run.model_id)
    return record(Run, row), LaunchSecrets(key_id, key_pass, found)


def _next_fence(connection: Connection, run: Run) -> int | None:
    """The model's row is the lock between two servers; None if it was deleted."""
    if not run.is_deployed:
        return run.launches + 1  # any number of backtests: none supersedes another
    raised: int | None = connection.execute(
        update(models)
        .where(models.c.id == run.model_id)
        .values(fence=models.c.fence + 1)
        .returning(models.c.fence)
    ).scalar_one_or_none()
    return raised


def _rival(run: Run) -> Exists:
    other = runs.alias()
    return (
        select(other.c.id)
        .where(
            other.c.model_id == run.model_id,
            other.c.id != run.id,
            runs.c.kind.in_(DEPLOYED),
            other.c.kind.in_(DEPLOYED),
            other.c.ended_at.is_(None),
            other.c.fence.is_not(None),
        )
        .exists()
    )


def _halt(job: Job) -> Exists:
    """One in force that covers a deployed run. A halt may be declared on another server while this
    one was about to start it."""
    covers = or_(halts.c.project_id.is_(None), halts.c.project_id == job.project_id)
    of_deployed = runs.c.kind.in_(DEPLOYED)
    return select(halts.c.id).where(of_deployed, covers, halts.c.resumed_at.is_(None)).exists()


def withdraw(connection: Connection, run: Run) -> None:
    """The launch with this fence did not happen, or is proven gone."""
    connection.execute(
        update(runs).where(runs.c.id == run.id, runs.c.fence == run.fence).values(fence=None)
    )


def give_back(connection: Connection, run: Run) -> None:
    """Its host cannot start it now, and another may."""
    connection.execute(
        update(runs)
        .where(runs.c.id == run.id, runs.c.fence.is_(None), runs.c.ended_at.is_(None))
        .values(host=None, state="pending")
    )


def of(job: Job, run: Run) -> Job:
    """The same job for the run as it is now."""
    return msgspec.structs.replace(job, run=run)
