"""Only what is of this data directory is ended, whatever copies of it are on the machine."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tapeline.runs.engines import shims
from tapeline.runs.sandbox import bubblewrap, cgroups
from tapeline.runs.shim import tree
from tests.runs.conftest import STUBBORN, Pad, alive


def test_only_what_a_dead_shim_left_is_ended(pad: Pad, tmp_path: Path) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    shims.end_orphan(launched.folder)
    assert shims.is_held(launched.lock)
    folder, lock = tmp_path / "runs" / "early", tmp_path / "runs" / "locks" / "early"
    for one in (folder, lock.parent):
        one.mkdir(parents=True)
    title = f"bwrap-{folder.name}"
    sleeper = ["bash", "-c", f"exec -a {title} sleep 1000"]
    with lock.open("w") as held:
        command = ["unshare", "--user", "--pid", "--fork", *sleeper]
        orphan = subprocess.Popen(command, pass_fds=[held.fileno()])
    with orphan:
        while not tree.first_titled(title):
            time.sleep(0.001)
        assert not shims.end_orphan(tmp_path / "copy" / "runs" / folder.name)
        assert shims.end_orphan(folder)
        assert orphan.wait() != 0


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_copy_of_a_data_directory_ends_nothing_of_its_original(
    pad: Pad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, unsafe: bool, grouped: bool
) -> None:
    """It has the same runs, titles, notes and locks."""
    if not grouped:
        monkeypatch.setattr(cgroups, "find", lambda _runs: None)
    launched = pad.launch(STUBBORN, unsafe=unsafe)
    launched.until_line("up")
    copy = tmp_path / "copy"
    shutil.copytree(pad.data, copy)
    folder, lock = copy / "runs" / launched.spec.name, copy / "runs" / "locks" / launched.lock.name
    monkeypatch.setattr(shims, "wait_free", lambda _lock, _seconds: False)
    shims.stop(folder)
    shims.kill(folder, lock)
    assert not shims.end_orphan(folder)
    assert not shims.is_running(folder)
    assert shims.is_running(launched.folder)
    assert [pid for pid in launched.members() if alive(pid)]
    assert not launched.states("ended")


def test_a_directory_in_the_place_of_one_that_was_moved_away_ends_nothing_of_it(pad: Pad) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    away = pad.data.with_name("away")
    pad.data.rename(away)
    try:
        pad.runs.mkdir(parents=True)
        cgroups.clean(pad.runs, keep=set())
        (pad.runs / launched.spec.name).mkdir()
        assert not shims.end_orphan(launched.folder)
        assert shims.is_running(away / "runs" / launched.spec.name)
    finally:
        shutil.rmtree(pad.data)
        away.rename(pad.data)
    assert shims.is_running(launched.folder)
    assert not launched.states("ended")


def test_a_run_is_found_where_its_directory_has_another_name_or_was_moved(pad: Pad) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    link, away = pad.data.with_name("a link"), pad.data.with_name("a name, with spaces")
    link.symlink_to(pad.data)
    assert shims.is_running(link / "runs" / launched.spec.name)
    assert shims.has_sandbox(link / "runs" / launched.spec.name)
    pad.data.rename(away)
    try:
        assert shims.is_running(away / "runs" / launched.spec.name)
        assert shims.has_sandbox(away / "runs" / launched.spec.name)
    finally:
        away.rename(pad.data)


def test_a_sandbox_under_another_title_is_found_by_its_mounts(pad: Pad) -> None:
    folder = pad.runs / "renamed-orphan"
    (folder / "work").mkdir(parents=True)
    program = str(bubblewrap.bwrap_path())
    box = [program, "--dev-bind", "/", "/", "--bind", str(folder / "work"), "/mnt"]
    command = ["sh", "-c", "echo up; exec sleep 1000"]
    with subprocess.Popen([*box, *command], stdout=subprocess.PIPE, text=True) as orphan:
        assert orphan.stdout is not None
        assert orphan.stdout.readline() == "up\n"
        assert shims.end_orphan(folder)
        assert orphan.wait() != 0
    assert not shims.end_orphan(folder)


def test_a_sandbox_cannot_change_what_its_lock_says(pad: Pad) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    held = [
        file
        for pid in launched.members()
        for file in Path(f"/proc/{pid}/fd").iterdir()
        if file.readlink() == launched.lock
    ]
    assert held
    for file in held:
        about = file.parents[1] / "fdinfo" / file.name
        (flags,) = re.findall(r"flags:\s+(\d+)", about.read_text())
        assert int(flags, 8) & os.O_ACCMODE == os.O_RDONLY
