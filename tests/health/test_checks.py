"""Each check by itself: what makes it yellow or red, and that it then says what to do."""

import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert

from tapeline.background import State
from tapeline.health.checklist import CHECKS, Check
from tapeline.health.machine import descriptors, disk, memory, processes
from tapeline.health.machine.processes import Level
from tapeline.health.running import hold, hosts, journals, quotas, runs, work
from tapeline.health.storing import archives, database, keys, queue, statements, store
from tapeline.health.verdict import Verdict, duration, size
from tapeline.runs.holding import holds
from tapeline.runs.supervision.install_places import Queue
from tapeline.store.backends.slowest import Slow
from tapeline.store.tables.core import models, projects
from tapeline.store.tables.runs import runs as run_rows
from tapeline.store.tables.runs import versions
from tapeline.store.tables.tape import tapes
from tests.conftest import Service, let_in, on_both
from tests.store.disk import small_disk

GB = 1_000_000_000


def test_the_size_of_a_database_counts_what_is_only_in_its_log() -> None:
    """Before the first checkpoint that is nearly all of it."""
    found = database.judged(4096, 3_100_000)
    assert found.says == "The database has 3.1 MB, 3.1 MB of it in the write-ahead log."


@pytest.mark.parametrize(
    ("verdict", "state"),
    [
        (disk.judged(60 * GB, 100 * GB), "green"),
        (disk.judged(4 * GB, 100 * GB), "yellow"),
        (disk.judged(GB // 3, 100 * GB), "red"),
        (disk.judged(GB // 3, GB), "green"),
        (descriptors.judged(799, 1000), "green"),
        (descriptors.judged(801, 1000), "yellow"),
        (descriptors.judged(951, 1000), "red"),
        (
            processes.judged([Level("a", 80, 100, "Raise it."), Level("b", 1, 100, "Raise it.")]),
            "green",
        ),
        (
            processes.judged([Level("a", 1, 100, "Raise it."), Level("b", 81, 100, "Raise it.")]),
            "yellow",
        ),
        (
            processes.judged([Level("a", 99, 100, "Raise it."), Level("b", 1, 100, "Raise it.")]),
            "red",
        ),
        (memory.judged(own=GB, available=2 * GB, total=8 * GB), "green"),
        (memory.judged(own=GB, available=GB // 2, total=8 * GB), "yellow"),
        (memory.judged(own=GB, available=GB // 10, total=8 * GB), "red"),
        (queue.judged(5_000, 10_000), "green"),
        (queue.judged(5_001, 10_000), "yellow"),
        (queue.judged(9_501, 10_000), "red"),
        (database.judged(80 * GB, GB), "green"),
        (database.judged(GB, 2 * GB), "yellow"),
        (statements.judged([]), "green"),
        (statements.judged([Slow("select ?", 0.3, 5.0)]), "green"),
        (statements.judged([Slow("select ?", 6.0, 5.0)]), "yellow"),
        (journals.judged({"a": 5_000_000}), "green"),
        (journals.judged({"a": 5_000_000, "b": 1}), "yellow"),
        (quotas.judged({}, GB), "green"),
        (quotas.judged({"m": GB - 1}, GB), "yellow"),
        (quotas.judged({"m": GB}, GB), "red"),
    ],
)
def test_limits_decide_the_colour(verdict: Verdict, state: str) -> None:
    assert verdict.state == state
    assert bool(verdict.fix) == (state != "green"), "what is not green says what to do"
    assert verdict.says.endswith(".")


def state_of(name: str, *, essential: bool = False, late: bool = False, failed: int = 0) -> State:
    return State(name, essential, 1, failed, failed, 90.0, late, "No space left" if failed else "")


def test_background_work_is_red_only_where_the_service_depends_on_it() -> None:
    assert work.judged([state_of("supervisor", essential=True)]).state == "green"
    assert work.judged([state_of("sampling", failed=2)]).state == "yellow"
    assert work.judged([state_of("sampling", late=True)]).state == "yellow"
    stuck = work.judged([state_of("supervisor", essential=True, late=True, failed=3)])
    assert stuck.state == "red"
    assert stuck.says == "The supervisor has not finished a turn for 90 s (No space left)."


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


# A machine that is busy with other tests, or nearly full, may be all but green.
OF_THIS_MACHINE = {"disk", "memory", "descriptors", "processes", "background work",
                   "slowest statements"}  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=lambda one: one.name)
def test_a_healthy_server_is_green_and_its_figures_are_declared(
    service: Service, check: Check
) -> None:
    found = check.look(service.services.health.parts)
    assert found.state == "green" or check.name in OF_THIS_MACHINE, found
    assert set(found.figures) <= set(check.figures)


def test_every_check_and_figure_has_a_name_of_its_own() -> None:
    figures = [figure for check in CHECKS for figure in check.figures]
    assert len(set(figures)) == len(figures)
    assert len({check.name for check in CHECKS}) == len(CHECKS)


def test_a_store_that_takes_nothing_is_red(service: Service) -> None:
    parts = replace(service.services.health.parts, not_stored="The disk is full.")
    assert store.look(parts).state == "red"


def test_a_server_whose_keys_are_lost_works_on_and_names_them(
    own_service: Service, password_hash: str
) -> None:
    folder = own_service.services.settings.data / "keys"
    parts = own_service.services.health.parts
    assert keys.look(parts).state == "green"
    owner = let_in(own_service, "ada@example.com", password_hash)
    with owner.client:
        shutil.rmtree(folder)
        once = {"Idempotency-Key": "k-1"}  # as the command line sends with everything it changes
        made = owner.client.post("/project/create", json={"name": "Beta"}, headers=once)
    assert made.status_code == 200, made.text
    seen = keys.look(parts)
    assert seen.state == "red"
    assert "The key store.key, with which secrets are encrypted, is missing." in seen.says


def test_versions_whose_archive_is_elsewhere_are_counted(own_service: Service) -> None:
    """As with two servers on one database, each with a folder of its own."""
    parts = own_service.services.health.parts
    assert archives.look(parts).state == "green"
    own_service.store.write_now(add_run, "elsewhere")
    seen = archives.look(parts)
    assert seen.state == "red"
    assert seen.says.startswith("1 of 1 archives that were looked for are not on this server.")
    assert "share" in seen.fix


def test_a_data_directory_that_is_gone_is_red(service: Service, tmp_path: Path) -> None:
    parts = service.services.health.parts
    gone = replace(parts, settings=replace(parts.settings, data=tmp_path / "gone"))
    assert disk.look(gone).state == "red"


@pytest.mark.parametrize("fault", ["full", "read-only"])
def test_a_disk_that_takes_nothing_is_red(service: Service, tmp_path: Path, fault: str) -> None:
    parts = service.services.health.parts
    with small_disk(tmp_path / "disk") as small:
        found = replace(parts, settings=replace(parts.settings, data=small.path))
        assert disk.look(found).state == "green"
        small.fill() if fault == "full" else small.remount("ro")
        seen = disk.look(found)
        assert (seen.state, seen.says) == ("red", f"The disk of the server is {fault}.")


def test_a_hold_is_yellow_and_names_its_reason(service: Service) -> None:
    data = service.services.settings.data
    holds.put(data, holds.ALL, "Maintenance until noon.")
    try:
        held = hold.look(service.services.health.parts)
    finally:
        holds.lift(data)
    assert held.state == "yellow"
    assert "Maintenance until noon." in held.says
    assert "tapeline release" in held.fix


def add_run(connection: Connection, /, name: str, **values: object) -> None:
    now = time.time()
    connection.execute(
        insert(projects).values(id=f"p-{name}", name=name, description="", created_at=now)
    )
    model = {"id": f"m-{name}", "project_id": f"p-{name}", "name": name, "type": "strategy"}
    connection.execute(insert(models).values(**model, description="", created_at=now))
    version: dict[str, object] = {
        "id": f"v-{name}",
        "model_id": f"m-{name}",
        "number": 1,
        "description": "",
    }
    version |= {"archive": "a", "size": 1, "manifest": {}, "plan": "nano", "created_by": "ada"}
    connection.execute(insert(versions).values(**version, python_version="3.12", created_at=now))
    wanted = {
        "id": f"r-{name}", "model_id": f"m-{name}", "version_id": f"v-{name}", "kind": "live",
        "state": "running", "desired": "running", "reason": "", "plan": "nano", "memory_mb": 1,
        "cpu_milli": 1, "python_version": "3.12", "description": "", "launches": 1,
        "restarts": 0, "confinement": "", "journal": 0, "refused": 0, "created_at": now,
        "created_by": "ada", **values,
    }  # fmt: skip
    connection.execute(insert(run_rows).values(**wanted))


def test_a_model_that_has_given_up_is_named_until_it_runs_again(own_service: Service) -> None:
    parts = own_service.services.health.parts
    write = own_service.store.write_now
    write(add_run, "well")
    write(add_run, "old", state="crashed", ended_at=time.time() - 7200)
    assert runs.look(parts).state == "green"
    write(add_run, "new", state="crashed", ended_at=time.time())
    found = runs.look(parts)
    assert found.state == "yellow"
    assert found.says == "1 running. In the last hour m-new has crashed for good."


@on_both
def test_runs_of_a_host_that_nobody_runs_are_yellow(own_service: Service) -> None:
    parts = own_service.services.health.parts
    own_service.store.write_now(add_run, "away", host="elsewhere", fence=1)
    assert "elsewhere" in hosts.look(parts).says
    assert hosts.look(parts).state == "yellow"
    if own_service.store.database.claims is not None:  # its server is back
        assert own_service.store.database.claim("elsewhere")
        assert hosts.look(parts).state == "green"


def test_a_server_that_runs_no_models_does_not_call_its_own_host_silent(
    own_service: Service,
) -> None:
    parts = own_service.services.health.parts
    runner, data = parts.runner, parts.settings.data
    own_service.store.write_now(add_run, "left", host="ours", fence=1)
    before = runner.host_name, (data / "host").read_text() if (data / "host").exists() else ""
    runner.host_name = ""
    (data / "host").write_text("ours 1\n")
    try:
        found = hosts.look(parts)
    finally:
        runner.host_name = before[0]
        (data / "host").write_text(before[1])
    assert (found.state, found.fix) == ("yellow", hosts.MEND)


def test_a_tape_that_is_nearly_full_is_named(own_service: Service) -> None:
    parts = own_service.services.health.parts

    def fill(connection: Connection) -> None:
        add_run(connection, "full")  # without its model, the tape would be cleared away
        row = {"model_id": "m-full", "seq": 0, "link": b"", "counts": b"{}", "signed_at": 0.0}
        connection.execute(insert(tapes).values(**row, bytes=19 * GB))

    own_service.store.write_now(fill)
    assert quotas.look(parts).state == "yellow"
    assert "m-full (95%)" in quotas.look(parts).says


def test_numbers_are_written_for_people() -> None:
    assert [size(one) for one in (0, 999, 1500, 56_100_000_000, 2e15)] == [
        "0 bytes", "999 bytes", "1.5 kB", "56.1 GB", "2e+03 TB",
    ]  # fmt: skip
    assert [duration(one) for one in (1, 119, 120, 7200, 172_800)] == [
        "1 s", "119 s", "2 min", "2 hours", "2 days",
    ]  # fmt: skip


def test_installations_that_wait_are_told_and_become_yellow_after_a_while(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = own_service.services.health.parts
    monkeypatch.setattr(parts.runner, "install_queue", lambda: Queue(8, 3, 20.0))
    found = runs.look(parts)
    assert found.state == "green"
    assert "3 installations are waiting, for up to 20 s, while 8 run." in found.says
    monkeypatch.setattr(parts.runner, "install_queue", lambda: Queue(8, 1, 660.0))
    found = runs.look(parts)
    assert found.state == "yellow"
    assert "1 installation is waiting, for up to 11 min" in found.says
    assert "tapeline stop" in found.fix
