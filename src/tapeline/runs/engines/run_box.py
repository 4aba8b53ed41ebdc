"""The surroundings of a run: its folders, its program and its environment variables."""

import json
import math
from pathlib import Path

from tapeline.models.plans import Plan, larger
from tapeline.runs.engines import older_hosts, runtime_files
from tapeline.runs.engines.engine import Job, LaunchSecrets
from tapeline.runs.environments.cache import Environment
from tapeline.runs.environments.interpreters import Interpreter
from tapeline.runs.run import Run
from tapeline.runs.sandbox.box import Box

MODEL, OUT, STATE = "/model", "/out", "/state"
TMP_SHARE = 2  # temporary files are in memory: at most this share of the plan's memory
# Not in every interpreter's default: a system Python without a locale would write ASCII.
PLAIN = {
    "LANG": "C.UTF-8",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/home/model",
    "PYTHONUNBUFFERED": "1",
    "PYTHONIOENCODING": "utf-8",
}
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class Places:
    """Where on this host a run's folders are."""

    def __init__(self, folder: Path, state: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.out = folder / "out"
        self.state = state
        self.trust = folder / "trust"


def compose(
    job: Job,
    given: LaunchSecrets,
    environment: Environment,
    interpreter: Interpreter,
    places: Places,
    trusted: list[tuple[str, str]],
    *,
    url: str,
    events_port: int,
    pids: int,
    disk_mb: int,
    uid: int | None,
) -> Box:
    run, manifest = job.run, job.version.manifest
    return Box(
        argv=[environment.python, *_program(job)],
        cwd=f"{MODEL}/{manifest.working_directory}",
        env=_variables(job, given, url, environment),
        readonly=[
            (environment.path, environment.inside),
            *interpreter.binds(),
            *runtime_files.mounts(),
            *trusted,
        ],
        writable=[
            (str(places.work), MODEL),
            (str(places.out), OUT),
            (str(places.state), STATE),
        ],
        tmp_mb=max(16, run.memory_mb // TMP_SHARE),
        network="open" if manifest.network else "events",
        events_port=events_port,
        memory_mb=run.memory_mb,
        cpu_milli=run.cpu_milli,
        pids=pids,
        disk_mb=disk_mb,
        uid=uid,
        names=older_hosts.HOSTS,
    )


def beyond_memory(run: Run, plans: dict[str, Plan]) -> str:
    """The message for a run that used more memory than its plan has, and what would help."""
    used = f"Out of memory: it used more than the {run.memory_mb:,} MB of plan {run.plan}."
    more = larger(plans, run.memory_mb)
    if more is None:
        return f"{used} No plan has more; the operator of this server can add one (setting plans)."
    return f"{used} The next larger plan is {more.name} ({more.memory_mb:,} MB)."


def _program(job: Job) -> list[str]:
    manifest = job.version.manifest
    if job.run.backtest_id is None:
        return [manifest.main_script]
    program = [f"{runtime_files.INSIDE}/bootstrap.py", "--out", OUT]
    return [*program, manifest.main_script, manifest.backtest or ""]


def _variables(
    job: Job, given: LaunchSecrets, url: str, environment: Environment
) -> dict[str, str]:
    """Secrets first: none of them can override a variable of the platform."""
    run = job.run
    ours = {
        "TAPELINE_URL": url,
        "TAPELINE_MODEL_ID": run.model_id,
        "TAPELINE_API_KEY": given.key_id,
        "TAPELINE_API_PASS": given.key_pass,
        "TAPELINE_RUN_ID": run.id,
        "TAPELINE_PROJECT_ID": job.project_id,
        "TAPELINE_VERSION_ID": run.version_id,
        "TAPELINE_STATE_DIR": STATE,
        "PYTHONPATH": runtime_files.INSIDE,
        "VIRTUAL_ENV": environment.inside,
    }
    threads = dict.fromkeys(THREADS, str(max(1, math.ceil(run.cpu_milli / 1000))))
    variables = {**given.secrets, **PLAIN, **threads, **ours, **_older_names(job, given, url)}
    variables["PATH"] = f"{environment.inside}/bin:{PLAIN['PATH']}"
    if run.backtest_id is not None:
        variables |= {
            "TAPELINE_BACKTEST_ID": run.backtest_id,
            "TAPELINE_BACKTEST_ARGS": json.dumps(run.arguments or {}),
            "BACKTESTING": "1",
            "BACKTESTING_ID": run.backtest_id,
        }
    return variables


def _older_names(job: Job, given: LaunchSecrets, url: str) -> dict[str, str]:
    """The variables that models of the older platform read."""
    return {
        "SLATE_MODEL_ID": job.run.model_id,
        "SLATE_API_KEY": given.key_id,
        "SLATE_API_PASS": given.key_pass,
        "MODEL_ID": job.run.model_id,
        "PROJECT_ID": job.project_id,
        "VERSION_ID": job.run.version_id,
        "API_KEY": given.key_id,
        "API_PASS": given.key_pass,
        "URL_MODEL_EVENTS_API": url,
    }
