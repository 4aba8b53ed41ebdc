"""What every engine must do, tried on each that there is. The supervisor relies on nothing else."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tapeline.background import Background
from tapeline.errors import CannotInstall, CannotLaunch
from tapeline.models.archives.manifest import Manifest
from tapeline.models.versions import Version
from tapeline.runs.engines import host_check as hosts
from tapeline.runs.engines import shims
from tapeline.runs.engines.engine import Engine, Job, LaunchSecrets
from tapeline.runs.engines.local import LocalEngine
from tapeline.runs.engines.runtime_files import folders
from tapeline.runs.environments import interpreters
from tapeline.runs.environments.cache import Environments
from tapeline.runs.environments.install_boxes import Installer
from tapeline.runs.journals.records import Record
from tapeline.runs.run import Run
from tapeline.runs.runner import INSTALLER_UID
from tapeline.settings import Settings
from tapeline.store.blobs import NOT_HERE, Blobs
from tests import needs
from tests.acceptance.traders import pythons
from tests.archives import zipped
from tests.runs.supervision.histories import a_run

pytestmark = pytest.mark.heavy

GIVEN = LaunchSecrets("key", "pass-of-the-key", {"TOKEN": "a-secret-value"})
FOREVER = "import time\nprint('here')\nwhile True: time.sleep(0.05)\n"


class Listener:
    def __init__(self) -> None:
        self.was_told = False
        self.said: list[str] = []
        self.cancelled = False

    def is_cancelled(self) -> bool:
        return self.cancelled

    def installing(self) -> None:
        self.was_told = True

    def lines(self, records: list[Record]) -> None:
        self.said += [one.text for one in records]


class Bench:
    """An engine and the archives it knows."""

    def __init__(self, engine: Engine, blobs: Blobs, folder: Path) -> None:
        self.engine = engine
        self._blobs = blobs
        self._folder = folder
        self._jobs: list[Job] = []

    def job(self, main: str, files: dict[str, str | bytes] | None = None, **more: Any) -> Job:
        number = len(self._jobs) + 1
        manifest = more.pop("manifest", {})
        archive = self._folder / f"{number}.zip"
        archive.write_bytes(zipped({"main.py": main, **(files or {})}, **manifest))
        self._blobs.put(f"{number:064x}", archive)
        version = Version(
            id="v", model_id="m", number=1, description="", archive=f"{number:064x}", size=1,
            manifest=Manifest(main_script="main.py", **manifest), plan="nano",
            python_version=pythons()[0].version, created_at=0.0, created_by="ada",
        )  # fmt: skip
        values: dict[str, Any] = {
            "model": f"m{number}",
            "python_version": version.python_version,
            "fence": 1,
        }
        run = a_run(f"r{number}x{os.getpid()}", **values | more)
        self._jobs.append(Job(run, version, "p", number))
        return self._jobs[-1]

    def started(self, main: str, **more: Any) -> Run:
        job = self.job(main, **more)
        self.engine.prepare(job, Listener())
        self.engine.start(job, GIVEN)
        return job.run

    def journal(self, run: Run, until: str = "finished") -> list[Record]:
        """All it says, until a line or a state says this."""
        found: list[Record] = []
        offset, deadline = 0, time.monotonic() + 60
        while not any(until in one.text or (one.state or {}).get("event") == until
                      for one in found):  # fmt: skip
            assert time.monotonic() < deadline, found
            chunk = self.engine.read(run, offset)
            offset = chunk.offset
            found += chunk.records
            time.sleep(0.01)
        return found

    def wait_until_gone(self, run: Run) -> None:
        deadline = time.monotonic() + 30
        while self.engine.is_alive(run):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def close(self) -> None:
        for job in self._jobs:
            self.engine.stop(job.run, now=True)
            self.engine.clear(job.run.id)


def _local(settings: Settings) -> LocalEngine:
    host = hosts.examine(settings)
    assert host.sandboxed, host.problems
    uid = INSTALLER_UID if host.is_root else None
    installer = Installer(runtime=folders()[0], uid=uid)
    found = interpreters.discover(
        memory=None, extra=[Path(one.path) for one in pythons()], path=[], home=Path("/nowhere")
    )
    engine = LocalEngine(
        settings,
        Blobs(settings.data / "blobs"),
        found,
        Environments(settings.data / "environments", installer=installer),
        "host",
        host.confinement(),
        Background(),
    )
    engine.begin(8700)
    return engine


@pytest.fixture(params=["local"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    engine = {"local": _local}[request.param](Settings(data=data, stop_seconds=1))
    made = Bench(engine, Blobs(data / "blobs"), tmp_path)
    yield made
    made.close()


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
        bench.engine.prepare(job, Listener())
        bench.engine.start(job, GIVEN)
        bench.wait_until_gone(job.run)
        assert f"times {times}" in texts(bench.journal(job.run, until=f"times {times}"))


@needs.root("each model has a user of its own")
def test_a_state_folder_that_lost_its_owner_is_given_back_to_the_model(
    bench: Bench, tmp_path: Path
) -> None:
    """A copy made without owners belongs to root."""
    job = bench.job("print(open('/state/deep/n').read())\nopen('/state/deep/n', 'w').write('x')\n")
    kept = tmp_path / "data" / "state" / job.run.model_id / "deep"
    kept.mkdir(parents=True, mode=0o700)
    (kept / "n").write_text("kept")
    (kept / "n").chmod(0o600)
    bench.engine.prepare(job, Listener())
    bench.engine.start(job, GIVEN)
    assert "kept" in texts(bench.journal(job.run))
    assert (kept / "n").read_text() == "x"


def test_stopping_asks_first_and_nothing_is_left(bench: Bench) -> None:
    run = bench.started(
        "import subprocess, time\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "print('here')\ntry:\n    time.sleep(600)\nexcept KeyboardInterrupt:\n    print('bye')\n"
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
    assert bench.engine.is_alive(run)


def test_a_crash_is_restarted_only_for_what_is_live(bench: Bench) -> None:
    live = bench.started("print('once')\nraise SystemExit(3)\n")
    bench.journal(live, until="restarting")
    bench.engine.stop(live)
    once = bench.started("raise SystemExit(3)\n", kind="backtest", backtest_id="t")
    end = bench.journal(once)[-1].state or {}
    assert (end["outcome"], end["exit_code"], end["restarts"]) == ("crashed", 3, 0)


def test_what_a_backtest_returns_is_found_in_what_it_left(bench: Bench) -> None:
    run = bench.started("def backtest(x):\n    return {'x': x}\n", kind="backtest",
                        backtest_id="t", arguments={"x": 5})  # fmt: skip
    bench.journal(run)
    left = bench.engine.ending(run)
    assert left.ending.successful is True
    assert left.result is not None
    assert msgspec.json.decode(left.result.read_bytes())["x"] == 5


def test_a_link_that_a_backtest_left_is_not_followed(bench: Bench) -> None:
    run = bench.started(
        "import os\nos.symlink('/etc/hostname', '/out/result.json')\n"
        "os.mkfifo('/out/status.json')\nos._exit(0)\n",
        kind="backtest",
        backtest_id="t",
    )
    bench.journal(run)
    left = bench.engine.ending(run)
    assert (left.result, left.ending.successful) == (None, None)


def test_an_installation_is_told_and_its_failure_says_why(bench: Bench) -> None:
    job = bench.job(
        "import six\nprint('six is here')",
        {"requirements.txt": "six==1.16.0\n"},
        manifest={"requirements": "requirements.txt"},
    )
    listener = Listener()
    prepared = bench.engine.prepare(job, listener)
    assert listener.was_told
    assert "six==1.16.0" in prepared.lock
    bench.engine.start(job, GIVEN)
    assert "six is here" in texts(bench.journal(job.run))
    again = Listener()
    bench.engine.prepare(job, again)
    assert not again.was_told, "what was made once is found"
    bad = bench.job(
        "", {"requirements.txt": "six==0.0.99\n"}, manifest={"requirements": "requirements.txt"}
    )
    with pytest.raises(CannotInstall) as raised:
        bench.engine.prepare(bad, listener)
    reason = raised.value.message
    assert re.fullmatch(r"The requirements cannot be met on .* six==0.0.99.*\.", reason), reason


def test_a_version_whose_archive_is_elsewhere_is_said_without_a_path(bench: Bench) -> None:
    job = bench.job("print('never')\n")
    version = msgspec.structs.replace(job.version, archive="f" * 64)
    with pytest.raises(CannotInstall) as raised:
        bench.engine.prepare(msgspec.structs.replace(job, version=version), Listener())
    assert raised.value.message == NOT_HERE


def test_use_is_measured_and_what_is_cleared_is_forgotten(bench: Bench) -> None:
    run = bench.started("x = bytearray(50_000_000)\n" + FOREVER)
    bench.journal(run, until="here")
    usage = bench.engine.usage(run)
    assert usage is not None
    assert usage.memory_bytes > 50_000_000
    assert usage.cpu_seconds > 0
    assert run.id in bench.engine.known()
    bench.engine.clear(run.id)
    assert not bench.engine.is_alive(run)
    assert run.id not in bench.engine.known()
    assert shims.wait_free(Path("/nonexistent"), 0.1)
