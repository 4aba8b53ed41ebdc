"""`tapeline doctor`: check whether this host can run models, with one fix for each problem."""

import json
import os
import pwd
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from tapeline import datadir, descriptors, host_faults, settings, typed_commands
from tapeline.cli.operator import stored_findings
from tapeline.cli.operator.finding import Finding
from tapeline.cli.server.options import Config, Data, Database
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.failures import Failure
from tapeline.cli.terminal.findings import Row, show_findings
from tapeline.cli.terminal.screen import Screen
from tapeline.errors import Problem
from tapeline.health.machine import disk
from tapeline.runs.engines import host_check
from tapeline.runs.engines.host_check import Host
from tapeline.runs.environments import interpreters
from tapeline.runs.environments.interpreters import Found
from tapeline.runs.holding import hold_socket
from tapeline.settings import Settings
from tapeline.tape.proof import heads

PATIENCE = 10.0  # seconds
MARKS = {"good": ("✓", "green"), "weak": ("!", "yellow"), "bad": ("✗", "red"), "note": ("·", "dim")}
VERSIONS = tuple(f"3.{minor}" for minor in range(7, 15))  # that people run models on
RELEASE = "When no other copy of it runs: "
NO_PYTHON = "Install one: uv python install 3.12, or apt-get install python3"


@command("tapeline doctor", "tapeline doctor --data /srv/tapeline --json", options=JSON)
def doctor(
    context: typer.Context,
    accept_loss: Annotated[
        bool,
        typer.Option(
            "--accept-loss", help="Say that you know of events that the database has lost."
        ),
    ] = False,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Check whether this host can run models, and how to fix what is missing.

    Starts a sandbox as a test. Run it as the user that runs the server. Exits with status 1 if
    models cannot run here.
    """
    chosen = settings.load({"data": data, "database": database, "config": config})
    descriptors.raise_limit()  # as the server does, so that the test has its limits
    out = Screen(as_json=context.obj.as_json)
    if accept_loss:
        _accept(out, chosen)
        return
    findings = list(examined(chosen))
    if out.as_json:
        out.json([one.__dict__ for one in findings])
    else:
        _show(out, findings)
    bad = [one for one in findings if one.state == "bad"]
    if bad:
        raise Failure(f"Models cannot run here: {bad[0].says}")


def _accept(out: Screen, chosen: Settings) -> None:
    datadir.require(chosen.data)
    lost = heads.accept(chosen.data)
    said = "\n".join(["Accepted.", *(one.sentence() for one in lost)])
    told = [msgspec.structs.asdict(one) for one in lost]
    out.done(said if lost else "The database has lost nothing.", {"accepted": told})


def of_machine(chosen: Settings) -> Iterator[Finding]:
    """What can be seen of a server without asking it, and whether it answers."""
    home = _data(chosen.data)
    yield home
    if few := descriptors.shortage():
        yield _problem("open files", "bad", few)
    yield _disk(chosen.data)
    if home.state != "bad":
        yield from stored_findings.of_data(chosen)
        yield from _server(datadir.server_of(chosen.data))
        yield from stored_findings.of_backups(chosen)
        if hold := hold_socket.on_all(chosen.data):
            fix = RELEASE + typed_commands.with_database("tapeline release", chosen)
            yield Finding("hold", "weak", f"models do not run: {hold.sentence()}", fix)


def examined(chosen: Settings) -> Iterator[Finding]:
    found = list(of_machine(chosen))
    yield from found
    home = found[0]
    with _somewhere(chosen, usable=home.state != "bad") as trial:
        yield from _tried(trial)
        yield from _pythons(interpreters.of_host(trial))


def _data(data: Path) -> Finding:
    if trouble := _trouble_with(data):
        says, fix = trouble
        return Finding("data directory", "bad", says, fix)
    if not data.exists():
        return Finding("data directory", "good", f"{data} will be created at the first start")
    if data.stat().st_mode & 0o077:
        fix = f"Restrict it: chmod 700 {data}"
        return Finding("data directory", "weak", f"{data} is open to other users", fix)
    try:
        datadir.refuse_second(data)
    except Problem as problem:
        return Finding("data directory", "good", problem.message.partition(". Stop")[0])
    return Finding("data directory", "good", f"{data}, private")


def _server(note: str) -> Iterator[Finding]:
    """The health of the server that runs here, if there is one."""
    address = note.partition(",")[0]
    if not address.startswith("http"):
        return
    asked = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        asked.open(f"{address}/readyz", timeout=PATIENCE).close()
    except urllib.error.HTTPError as error:
        with error:
            told = error.read(10_000)
        says = str(_json(told).get("error", "")) or f"it answers with {error.code}"
        yield Finding("server", "bad", says, f"See its log; it is {note}")
    except OSError as error:
        yield Finding("server", "bad", f"{note} does not answer: {error}", "Look at its log")
    else:
        yield Finding("server", "good", f"{note}, is ready")


def _json(text: bytes) -> dict[str, object]:
    with suppress(ValueError):
        read = json.loads(text)
        return read if isinstance(read, dict) else {}
    return {}


def _trouble_with(data: Path) -> tuple[str, str] | None:
    """Why the directory cannot be used and what to do; None if it can, or can be made."""
    place = _nearest(data)
    if not place.is_dir():
        return f"{place} is a file", "Move it away, or choose a directory with --data"
    if os.access(place, os.W_OK | os.X_OK | (os.R_OK if place == data else 0)):
        return None
    why, fix = _refusal(place)
    cannot = "cannot be used" if place == data else "cannot be created"
    return f"{data} {cannot}: {why}", fix


def _refusal(place: Path) -> tuple[str, str]:
    try:
        disk, status = os.statvfs(place), place.stat()
    except OSError as error:
        fault = host_faults.fault_of(error)
        return f"{place}: {error.strerror}", fault.cure if fault else "Choose another with --data"
    if disk.f_flag & os.ST_RDONLY:
        fix = f"mount -o remount,rw {_mount_of(place)} (dmesg says why it is read-only)"
        return f"the disk of {place} is read-only", f"Mount it writable: {fix}"
    if status.st_uid == os.geteuid():
        return f"{place} has the mode {status.st_mode & 0o777:03o}", f"chmod 700 {place}"
    fix = f"Choose another with --data, or: chown -R $USER {place}"
    return f"{place} belongs to {_name_of(status.st_uid)}", fix


def _mount_of(place: Path) -> Path:
    return next(one for one in (place, *place.parents) if one.is_mount())


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _nearest(path: Path) -> Path:
    # Not Path.exists, which raises without permission to look.
    return next(one for one in (path, *path.parents) if os.path.exists(one))  # noqa: PTH110


def _disk(data: Path) -> Finding:
    usage = shutil.disk_usage(_nearest(data))
    found = disk.judged(usage.free, usage.total)
    states: dict[str, Literal["good", "weak", "bad"]] = {"yellow": "weak", "red": "bad"}
    says, fix = found.says.rstrip("."), found.fix.rstrip(".")
    return Finding("disk", states.get(found.state, "good"), says, fix)


@contextmanager
def _somewhere(chosen: Settings, *, usable: bool) -> Iterator[Settings]:
    """A check must not create the data directory: without one, the test runs in a temporary
    folder, in the same place if that is writable."""
    if usable and chosen.data.is_dir():
        yield chosen
        return
    above = _nearest(chosen.data.parent)
    parent = above if above.is_dir() and os.access(above, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix=".tapeline-doctor-", dir=parent) as made:
        yield replace(chosen, data=Path(made))


def _tried(chosen: Settings) -> Iterator[Finding]:
    try:
        found = host_check.examine(chosen)
    except OSError as error:
        yield _problem("sandbox", "bad", host_check.explained(str(error)))
    else:
        yield from _confinement(found, unsafe=chosen.unsafe_no_sandbox)


def _confinement(found: Host, *, unsafe: bool) -> Iterator[Finding]:
    """Each problem of the host belongs to one topic, and ends with its fix."""
    network = _about(found, "no network")
    limits = _about(found, "No control group")
    sandbox = [one for one in found.problems if one not in network + limits]
    if found.sandboxed:
        yield Finding("sandbox", "good", "bubblewrap and seccomp; a test sandbox started")
    elif unsafe:
        yield Finding("sandbox", "weak", "switched off: models can read and change everything")
    else:
        yield _problem("sandbox", "bad", (sandbox or ["it does not start."])[0])
    if network:
        yield _problem("network", "weak", network[0])
    else:
        yield Finding("network", "good", f"slirp4netns ({found.slirp4netns})")
    if limits:
        yield _problem("limits", "weak", limits[0])
    else:
        yield Finding("limits", "good", f"memory, processor, processes (cgroup {found.cgroup})")


def _about(found: Host, words: str) -> list[str]:
    return [one for one in found.problems if words in one]


def _problem(topic: str, state: Literal["weak", "bad"], text: str) -> Finding:
    says, dot, fix = text.rstrip(".").rpartition(". ")
    return Finding(topic, state, says, fix) if dot else Finding(topic, state, text)


def _pythons(found: Found) -> Iterator[Finding]:
    if found.interpreters:
        known = ", ".join(f"{one.release} ({one.source})" for one in found.interpreters)
        yield Finding("python", "good", known)
    else:
        yield Finding("python", "bad", "no Python that models can use", NO_PYTHON)
    for one in found.interpreters:
        if one.lacks:
            yield Finding(
                "python",
                "weak",
                f"{one.path} was built without {', '.join(one.lacks)}",
                f"Install a complete {one.version}: uv python install {one.version}",
            )
    there = {one.version for one in found.interpreters}
    absent = [one for one in VERSIONS if one not in there]
    if absent and found.interpreters:
        fix = (
            f"If a model needs one: uv python install {absent[-1]},"
            " or name its folder in TAPELINE_PYTHONS"
        )
        yield Finding("python", "note", f"not here: {', '.join(absent)}", fix)
    for problem in found.problems:
        writable = "writable by everyone" in problem.reason
        fix = f"chmod o-w {problem.path}" if writable else ""
        yield Finding("python", "note", f"left out: {problem.path} {problem.reason}", fix)


def _show(out: Screen, found: list[Finding]) -> None:
    show_findings(out, (Row(*MARKS[one.state], one.topic, one.says, one.fix) for one in found))
