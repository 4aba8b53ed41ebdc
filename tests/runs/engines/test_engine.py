"""What every engine must do, tried on each that there is. The supervisor relies on nothing else."""

import re
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from tapeline.errors import CannotInstall, CannotLaunch, CannotPrepareNow
from tapeline.runs.engines.engine import NeedsInstalling
from tapeline.runs.engines.installing import STOPPED
from tapeline.runs.environments import install_boxes
from tapeline.runs.journals.records import Record
from tapeline.store.blobs import NOT_HERE
from tests import needs
from tests.deep_trees import KINDS, nest
from tests.runs.engines.contract import (
    FOREVER,
    GIVEN,
    MAKERS,
    PATIENCE,
    SHARED,
    Bench,
    Listener,
    Local,
    Place,
)
from tests.runs.supervision.histories import a_run

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Place]]:
    made: dict[str, Place] = {
        name: MAKERS[name](tmp_path_factory.mktemp(name)) for name in sorted(SHARED)
    }
    yield made
    for place in made.values():
        place.close()


@pytest.fixture(params=list(MAKERS))
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    if request.param in SHARED:
        place = request.getfixturevalue("shared")[request.param]
        place.forget()
        made = Bench(place, tmp_path)
    else:
        made = Bench(MAKERS[request.param](tmp_path), tmp_path)
    yield made
    made.close()
    if request.param not in SHARED:
        made.place.close()


def texts(records: list[Record]) -> list[str]:
    return [one.text for one in records if one.kind == "stdout"]


def test_what_is_started_says_what_it_says_and_is_gone_when_it_ends(bench: Bench) -> None:
    run = bench.started("import os\nprint('hi')\nprint(sorted(os.environ))\n")
    records = bench.journal(run)
    assert "hi" in texts(records)
    end = records[-1].state
    assert end is not None
    assert (end["outcome"], end["exit_code"]) == ("exited", 0)
    bench.wait_until_gone(run)


def test_a_run_sees_the_documented_environment_and_nothing_of_the_server(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVER_ONLY", "must not be seen")
    script = "import os, json\nprint(json.dumps(dict(os.environ)))\n"
    run = bench.started(
        script, kind="backtest", backtest_id="t1", arguments={"x": 1}, cpu_milli=1500
    )
    seen = msgspec.json.decode(
        next(line for line in texts(bench.journal(run)) if line.startswith("{")),
        type=dict[str, str],
    )
    assert "SERVER_ONLY" not in seen
    assert {name for name in seen if name.startswith(("TAPELINE_", "SLATE_", "BACKTEST"))} == {
        "TAPELINE_URL", "TAPELINE_MODEL_ID", "TAPELINE_API_KEY", "TAPELINE_API_PASS",
        "TAPELINE_RUN_ID", "TAPELINE_PROJECT_ID", "TAPELINE_VERSION_ID", "TAPELINE_STATE_DIR",
        "TAPELINE_BACKTEST_ID", "TAPELINE_BACKTEST_ARGS", "SLATE_MODEL_ID", "SLATE_API_KEY",
        "SLATE_API_PASS", "BACKTESTING", "BACKTESTING_ID",
    }  # fmt: skip
    assert {"MODEL_ID", "PROJECT_ID", "VERSION_ID", "API_KEY", "API_PASS"} <= seen.keys()
    assert seen["URL_MODEL_EVENTS_API"] == seen["TAPELINE_URL"] == "http://127.0.0.1:8700"
    assert seen["TAPELINE_BACKTEST_ARGS"] == '{"x": 1}'
    assert seen["OMP_NUM_THREADS"] == "2"
    assert seen["TOKEN"] == "***", "a secret is there, and masked in what is captured"


def test_a_run_writes_in_its_own_copy_and_in_what_lasts(bench: Bench) -> None:
    script = (
        "import os\nopen('kept.txt', 'w').write('x')\n"
        "path = os.environ['TAPELINE_STATE_DIR'] + '/n'\n"
        "open(path, 'a').write('.')\nprint('times', len(open(path).read()))\n"
    )
    job = bench.job(script)
    for times in (1, 2):
        launch = msgspec.structs.replace(job.run, fence=times)
        bench.start(msgspec.structs.replace(job, run=launch))
        bench.wait_until_gone(job.run)
        assert f"times {times}" in texts(bench.journal(job.run, until=f"times {times}"))


@needs.root("each model has a user of its own")
def test_a_state_folder_that_lost_its_owner_is_given_back_to_the_model(bench: Bench) -> None:
    """A copy made without owners belongs to root."""
    job = bench.job("print(open('/state/deep/n').read())\nopen('/state/deep/n', 'w').write('x')\n")
    kept = bench.place.data / "state" / job.run.model_id / "deep"
    kept.mkdir(parents=True, mode=0o700)
    (kept / "n").write_text("kept")
    (kept / "n").chmod(0o600)
    bench.start(job)
    assert "kept" in texts(bench.journal(job.run))
    assert (kept / "n").read_text() == "x"


def test_stopping_asks_first_and_nothing_is_left(bench: Bench) -> None:
    run = bench.started(
        "import subprocess, time\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "try:\n    print('here')\n    time.sleep(600)\n"
        "except KeyboardInterrupt:\n    print('bye')\n"
    )
    bench.journal(run, until="here")
    bench.engine.stop(run)
    bench.engine.stop(run)
    records = bench.journal(run)
    assert "bye" in texts(records)
    assert (records[-1].state or {})["outcome"] == "stopped"
    bench.wait_until_gone(run)


def test_stopping_now_does_not_ask(bench: Bench) -> None:
    run = bench.started(FOREVER)
    bench.journal(run, until="here")
    bench.engine.stop(run, now=True)
    bench.wait_until_gone(run)


def test_a_second_instance_of_a_model_is_refused_while_the_first_lives(bench: Bench) -> None:
    run = bench.started(FOREVER)
    bench.journal(run, until="here")
    second = bench.job(FOREVER, model=run.model_id)
    bench.engine.prepare(second, Listener())
    with pytest.raises(CannotLaunch):
        bench.engine.start(second, GIVEN)
    assert bench.sight(run).alive


def test_a_crash_is_restarted_only_for_what_is_live(bench: Bench) -> None:
    live = bench.started("print('once')\nraise SystemExit(3)\n")
    bench.journal(live, until="restarting")
    bench.engine.stop(live)
    once = bench.started("raise SystemExit(3)\n", kind="backtest", backtest_id="t")
    end = bench.journal(once)[-1].state or {}
    assert (end["outcome"], end["exit_code"], end["restarts"]) == ("crashed", 3, 0)


def test_what_a_backtest_returns_comes_with_the_record_of_its_end(bench: Bench) -> None:
    run = bench.started("def backtest(x):\n    return {'x': x}\n", kind="backtest",
                        backtest_id="t", arguments={"x": 5})  # fmt: skip
    *before, last = bench.chunks(run)
    assert all(one.output is None for one in before)
    assert last.output is not None
    assert last.output.ending.successful is True
    assert last.output.result is not None
    assert msgspec.json.decode(last.output.result.read_bytes())["x"] == 5
    one = bench.engine.read(run, 0, 1)
    assert (len(one.records), one.output) == (1, None), "its end is not the first that it says"


def test_a_link_that_a_backtest_left_is_not_followed(bench: Bench) -> None:
    run = bench.started(
        "import os\nos.symlink('/etc/hostname', '/out/result.json')\n"
        "os.mkfifo('/out/status.json')\nos._exit(0)\n",
        kind="backtest",
        backtest_id="t",
    )
    left = bench.chunks(run)[-1].output
    assert left is not None
    assert (left.result, left.ending.successful) == (None, None)


def test_an_installation_is_told_and_its_failure_says_why(bench: Bench) -> None:
    job = bench.with_package("import six\nprint('six is here')", "six==1.16.0")
    with pytest.raises(NeedsInstalling) as raised:
        bench.engine.prepare(job, None)
    assert not raised.value.at_once, "it may take a while"
    listener = Listener()
    prepared = bench.engine.prepare(job, listener)
    assert listener.times_told == 1
    assert "six==1.16.0" in prepared.lock
    assert prepared.confinement
    bench.engine.start(job, GIVEN)
    assert "six is here" in texts(bench.journal(job.run))
    assert bench.engine.prepare(job, None) == prepared, "what was made once is found"
    again = Listener()
    bench.engine.prepare(job, again)
    assert again.times_told == 0
    bad = bench.with_package("", "six==0.0.99")
    with pytest.raises(CannotInstall) as failed:
        bench.engine.prepare(bad, listener)
    reason = failed.value.message
    assert re.fullmatch(r"The requirements cannot be met on .* six==0.0.99.*\.", reason), reason


def test_an_environment_without_packages_is_made_without_a_place(bench: Bench) -> None:
    job = bench.job("print('plain')\n")
    with pytest.raises(NeedsInstalling) as raised:
        bench.engine.prepare(job, None)
    assert raised.value.at_once
    bench.engine.prepare(job, Listener())
    assert bench.engine.prepare(job, None).lock == ""


def test_an_installation_that_is_cancelled_ends_and_can_be_done_again(bench: Bench) -> None:
    job, listener = bench.with_package("", "six==1.16.0"), Listener()
    listener.cancelled = True
    with pytest.raises(CannotInstall) as raised:
        bench.engine.prepare(job, listener)
    assert raised.value.message == STOPPED
    assert "six==1.16.0" in bench.engine.prepare(job, Listener()).lock


def test_a_disk_that_had_no_room_before_is_not_the_models_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(Local(tmp_path), tmp_path)
    with closing(bench):
        monkeypatch.setattr(install_boxes, "KEEP_FREE_MB", 10**9)
        job = bench.with_package("", "six==1.16.0")
        with pytest.raises(CannotPrepareNow, match="nearly full"):
            bench.engine.prepare(job, Listener())
        monkeypatch.undo()
        assert "six==1.16.0" in bench.engine.prepare(job, Listener()).lock


def test_a_version_whose_archive_is_elsewhere_is_said_without_a_path(bench: Bench) -> None:
    job = bench.job("print('never')\n")
    version = msgspec.structs.replace(job.version, archive="f" * 64)
    with pytest.raises(CannotInstall) as raised:
        bench.engine.prepare(msgspec.structs.replace(job, version=version), Listener())
    assert raised.value.message == NOT_HERE


def test_a_python_that_no_host_has_is_neither_placed_nor_prepared(bench: Bench) -> None:
    job = bench.job("print('never')\n", python_version="2.7", host=None, fence=None)
    assert bench.engine.place([job.run], ()) == {}
    there = msgspec.structs.replace(job.run, host=bench.host)
    with pytest.raises(CannotInstall):
        bench.engine.prepare(msgspec.structs.replace(job, run=there), Listener())


def test_a_host_is_found_for_every_run_unless_all_are_drained(bench: Bench) -> None:
    runs = [bench.job("", host=None, fence=None).run for _ in range(3)]
    hosts = set(bench.engine.hosts())
    placed = bench.engine.place(runs, ())
    assert placed.keys() == {one.id for one in runs}
    assert set(placed.values()) <= hosts
    assert bench.engine.place(runs, hosts) == {}


def test_a_host_that_is_alone_takes_also_what_it_lacks_the_python_for(tmp_path: Path) -> None:
    """So its owner is told, instead of waiting for a host that cannot come."""
    engine = Local(tmp_path).engine(is_alone=True)
    run = a_run("a", python_version="2.7")
    assert engine.place([run], ()) == {"a": engine.host}
    assert engine.place([run], {engine.host}) == {}


def test_use_is_measured_and_what_is_cleared_is_forgotten(bench: Bench) -> None:
    run = bench.started("x = bytearray(50_000_000)\n" + FOREVER)
    bench.journal(run, until="here")
    assert bench.sight(run).usage is None, "only if somebody looks closely"
    sight = bench.sight(run, closely=True)
    assert sight.alive
    assert sight.unread
    assert sight.lag > 0
    assert sight.last_seen == pytest.approx(time.time(), abs=PATIENCE)
    assert sight.usage is not None
    assert sight.usage.memory_bytes > 50_000_000
    assert sight.usage.cpu_seconds > 0
    # Of a run that nobody asks about, too: its model may have been deleted.
    assert bench.engine.look([]).left[run.id] == run.host
    bench.engine.clear(bench.host, run.id)
    assert not bench.sight(run).alive
    assert run.id not in bench.engine.look([run]).left


def test_nothing_is_unread_of_what_was_read_to_its_end(bench: Bench) -> None:
    run = bench.started(FOREVER)
    bench.journal(run, until="here")
    offset = bench.chunks(run, until="here")[-1].offset
    sight = bench.sight(msgspec.structs.replace(run, journal=offset), closely=True)
    assert (sight.alive, sight.unread, sight.lag) == (True, False, 0)


def test_a_run_that_was_never_launched_is_not_seen(bench: Bench) -> None:
    """Its lock may be that of the run that it shall replace."""
    run = bench.started(FOREVER)
    after = bench.job(FOREVER, model=run.model_id, fence=None).run
    found = bench.engine.look([run, after])
    assert found.of.keys() == {run.id}
    assert not found.unknown


def test_a_run_that_cannot_be_seen_is_unknown_and_hides_no_other(bench: Bench) -> None:
    run = bench.started(FOREVER)
    # The name of its files is longer than a file's can be.
    hidden = a_run("x" * 300, model="y" * 300, host=bench.host, fence=1)
    found = bench.engine.look([hidden, run])
    assert found.of.keys() == {run.id}
    assert found.of[run.id].alive
    assert isinstance(found.unknown[hidden.id], Exception)


def test_what_runs_is_found_again_by_a_new_engine_and_nothing_is_read_twice(bench: Bench) -> None:
    job = bench.job(FOREVER.replace("print('here')", "print('here')\nprint('there')"))
    bench.start(job)
    bench.journal(job.run, until="there")
    first = bench.engine.read(job.run, 0, 1)
    bench.restart()
    assert bench.sight(job.run).alive
    bench.engine.stop(job.run)
    after = msgspec.structs.replace(job.run, journal=first.offset)
    bench.wait_until_gone(after)
    rest, offset = list[Record](), first.offset
    while (chunk := bench.engine.read(after, offset, 1_000_000)).records:
        rest += chunk.records
        offset = chunk.offset
    assert texts([*first.records, *rest]).count("there") == 1
    assert first.records[0] not in rest
    assert (rest[-1].state or {})["outcome"] == "stopped"


def test_an_engine_that_is_closed_installs_nothing_and_its_runs_live_on(bench: Bench) -> None:
    run = bench.started(FOREVER)
    bench.journal(run, until="here")
    waiting = bench.with_package("", "six==1.16.0")
    bench.engine.close()
    with pytest.raises(CannotPrepareNow):
        bench.engine.prepare(waiting, Listener())
    bench.restart()
    assert bench.sight(run).alive
    assert bench.engine.trouble() is None


@pytest.mark.parametrize("kind", KINDS)
def test_folders_of_any_depth_keep_no_server_from_starting(tmp_path: Path, kind: str) -> None:
    place = Local(tmp_path)
    place.engine().close()
    left = [
        place.data / folder
        for folder in (
            "runs/r-install",
            "versions/.unfinished",
            "environments/builds/r-install",
            "environments/shared/r-install",
            "environments/made/without-a-record",
        )
    ]
    for one in left:
        nest(one, *KINDS[kind])
    place.engine().close()
    assert [one for one in left if one.exists()] == []
