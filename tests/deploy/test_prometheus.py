"""The Prometheus and Grafana files of `deploy/`, tried with a real Prometheus and a real server."""

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tapeline.health import fleet
from tapeline.settings import Settings
from tests.conftest import Service, let_in, running
from tests.health.test_checks import add_run
from tests.pushing import pushing
from tests.waiting import SLOW_MACHINE, wait_for

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus-rules.yml"
DASHBOARD = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
TOKEN = "let Prometheus in"
OURS = re.compile(r"\b(?:tapeline|process)_[a-z_]+\b")
SERVER = 'instance="a:8700",job="tapeline"'


def series(name: str, values: str, **labels: str) -> dict[str, str]:
    more = "".join(f',{label}="{value}"' for label, value in labels.items())
    return {"series": f"{name}{{{SERVER}{more}}}", "values": values}


# By alert: series that must raise it, one value a minute for an hour.
RISING = "0+20x90"
CASES: dict[str, list[dict[str, str]]] = {
    "TapelineDown": [series("up", "0x90")],
    "TapelineCheckRed": [series("tapeline_check_state", "2x90", check="disk")],
    "TapelineCheckYellow": [series("tapeline_check_state", "1x90", check="disk")],
    "TapelineWritesFail": [series("tapeline_writes_failed_total", RISING)],
    "TapelineEventsRefused": [
        series("tapeline_event_requests_total", RISING, status="503", path="/v1/live/log")
    ],
    "TapelineServerErrors": [
        series("tapeline_requests_total", RISING, status="500", route="/api/me", method="GET")
    ],
    "TapelineCommitsSlow": [
        series("tapeline_commit_seconds_total", RISING),
        series("tapeline_write_groups_total", RISING),
    ],
    "TapelineWritesWait": [
        series("tapeline_write_wait_seconds_bucket", "0x90", le="1.0"),
        series("tapeline_write_wait_seconds_bucket", RISING, le="2.5"),
        series("tapeline_write_wait_seconds_bucket", RISING, le="+Inf"),
    ],
    "TapelineWorkOverdue": [series("tapeline_work_overdue", "1x90", work="supervisor")],
    "TapelineWorkFails": [series("tapeline_work_failures_total", RISING, work="journal")],
    "TapelineDiskFillsUp": [series("tapeline_disk_free_bytes", "10000-100x90")],
    "TapelineBackupTooOld": [series("tapeline_backup_too_old", "1x90")],
    "TapelineBackupFails": [series("tapeline_backup_failures_total", "0x30 1x60")],
    "TapelineFewDescriptors": [
        series("process_open_fds", "900x90"),
        series("process_max_fds", "1000x90"),
    ],
    "TapelineJournalsLag": [series("tapeline_journal_lag_bytes", "6000000x90")],
    "TapelineModelGivenUp": [series("tapeline_models", "0x30 1x60", state="crashed")],
    "TapelineModelRestarts": [series("tapeline_model_restarts", "0+1x90", model="m1")],
    "TapelineModelUnseen": [series("tapeline_model_heartbeat_age_seconds", "0+60x90", model="m1")],
    "TapelineModelSilent": [
        series("tapeline_model_last_event_age_seconds", "3700x90", model="m1"),
        series("tapeline_model_running", "1x90", model="m1"),
    ],
}
# The same series as in CASES without the trouble: no alert may come from these.
QUIET = [
    series("up", "1x90"),
    series("tapeline_check_state", "0x90", check="disk"),
    series("tapeline_writes_failed_total", "3x90"),
    series("tapeline_event_requests_total", RISING, status="200", path="/v1/live/log"),
    series("tapeline_requests_total", RISING, status="200", route="/api/me", method="GET"),
    series("tapeline_commit_seconds_total", "0+0.01x90"),
    series("tapeline_write_groups_total", RISING),
    series("tapeline_write_wait_seconds_bucket", RISING, le="0.001"),
    series("tapeline_write_wait_seconds_bucket", RISING, le="+Inf"),
    series("tapeline_work_overdue", "0x90", work="supervisor"),
    series("tapeline_work_failures_total", "2x90", work="journal"),
    series("tapeline_disk_free_bytes", "1000000x90"),
    series("tapeline_backup_too_old", "0x90"),
    series("tapeline_backup_failures_total", "4x90"),
    series("process_open_fds", "90x90"),
    series("process_max_fds", "1000x90"),
    series("tapeline_journal_lag_bytes", "60x90"),
    series("tapeline_models", "2x90", state="crashed"),
    series("tapeline_model_restarts", "7x90", model="m1"),
    series("tapeline_model_heartbeat_age_seconds", "15x90", model="m1"),
    series("tapeline_model_last_event_age_seconds", "99999x90", model="stopped"),
    series("tapeline_model_running", "0x90", model="stopped"),
]


def promtool(*arguments: str) -> str:
    ended = subprocess.run(
        ["promtool", *arguments], capture_output=True, text=True, check=False, timeout=SLOW_MACHINE
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_configuration_and_the_rules_are_valid() -> None:
    promtool("check", "config", "--syntax-only", str(DEPLOY / "prometheus.yml"))
    assert f"{len(CASES)} rules found" in promtool("check", "rules", str(RULES))


def test_each_alert_is_raised_by_its_trouble_and_by_nothing_else(tmp_path: Path) -> None:
    """JSON is YAML too. Counting alerts by an expression leaves their labels to the rules."""
    assert set(CASES) == set(re.findall(r"- alert: (\w+)", RULES.read_text()))
    raised = [
        {
            "interval": "1m",
            "name": name,
            "input_series": given,
            "promql_expr_test": [
                {
                    "expr": f'count(ALERTS{{alertstate="firing",alertname="{name}"}})',
                    "eval_time": "50m",
                    "exp_samples": [{"labels": "{}", "value": 1}],
                }
            ],
        }
        for name, given in CASES.items()
    ]
    nothing = {"expr": "ALERTS", "eval_time": "50m", "exp_samples": []}
    quiet = {"interval": "1m", "input_series": QUIET, "promql_expr_test": [nothing]}
    file = tmp_path / "rules_test.yml"
    file.write_text(json.dumps({"rule_files": [str(RULES)], "tests": [*raised, quiet]}))
    promtool("test", "rules", str(file))


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory,
    empty: Callable[[str, Path], Settings],
    password_hash: str,
) -> Iterator[Service]:
    """A server with a model that runs, and has sent an event; and with a backup."""
    place = tmp_path_factory.mktemp("watched")
    made = empty("sqlite", place / "data")
    chosen = replace(made, metrics_token=TOKEN, metrics_names=True)
    with running(replace(chosen, backup_folder=str(place / "backups"))) as started:
        owner = let_in(started, "ada@example.com", password_hash)
        with owner.client, pushing(started, owner) as model:
            model.push("/v1/live/event", {"type": "watched"})
            with started.client(Authorization=f"Bearer {TOKEN}") as client:
                wait_for(lambda: "tapeline_backup_seconds" in client.get("/metrics").text)
            # After the backup, which would miss the archive of a run that never was.
            started.store.write_now(add_run, "runs", started_at=time.time())
            yield started


@pytest.fixture(scope="module")
def prometheus(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Prometheus that scrapes it with our own configuration and rules."""
    place = tmp_path_factory.mktemp("prometheus")
    (place / "token").write_text(TOKEN)
    (place / RULES.name).write_text(RULES.read_text())
    config = (DEPLOY / "prometheus.yml").read_text().replace("15s", "200ms")
    config = config.replace("/etc/prometheus/tapeline.token", str(place / "token"))
    config = config.replace("127.0.0.1:8700", service.address.removeprefix("http://"))
    (place / "prometheus.yml").write_text(config)
    command = [
        "prometheus",
        f"--config.file={place / 'prometheus.yml'}",
        f"--storage.tsdb.path={place / 'data'}",
        "--web.listen-address=127.0.0.1:0",
        "--log.level=error",
    ]
    with _ended(subprocess.Popen(command, stdout=subprocess.DEVNULL)) as process:
        yield f"http://127.0.0.1:{_port_of(process)}"


@contextmanager
def _ended(process: "subprocess.Popen[bytes]") -> "Iterator[subprocess.Popen[bytes]]":
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _port_of(process: "subprocess.Popen[bytes]") -> int:
    deadline = time.monotonic() + SLOW_MACHINE
    while time.monotonic() < deadline:
        assert process.poll() is None, "Prometheus has ended"
        for one in psutil.Process(process.pid).net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN:
                return int(one.laddr.port)
        time.sleep(0.05)
    raise AssertionError("Prometheus does not listen")


def expressions() -> dict[str, str]:
    """By panel: what a Grafana would ask with every variable at its default."""
    found = {}
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            asked = re.sub(r"\$(instance|model)\b", ".*", target["expr"])
            found[f"{panel['title']} {target['refId']}"] = asked.replace("$__rate_interval", "10s")
    return found


def answer(prometheus: str, expression: str) -> list[Any]:
    try:
        said = httpx.get(f"{prometheus}/api/v1/query", params={"query": expression}).json()
    except httpx.TransportError:  # it has only just begun to listen
        return []
    assert said["status"] in {"success", "error"}
    assert said.get("errorType") != "bad_data", said
    return list(said.get("data", {}).get("result", []))


def test_every_expression_of_the_dashboard_has_an_answer(service: Service, prometheus: str) -> None:
    left = expressions()
    assert len(left) > 30
    deadline = time.monotonic() + SLOW_MACHINE
    with service.client() as client:
        while left and time.monotonic() < deadline:
            client.get("/healthz")
            left = {name: one for name, one in left.items() if not answer(prometheus, one)}
            time.sleep(0.1)
    assert not left


def test_the_rules_know_only_metrics_that_the_server_has(service: Service) -> None:
    with service.client(Authorization=f"Bearer {TOKEN}") as client:
        shown = set(OURS.findall(client.get("/metrics").text))
    used = set(OURS.findall(re.sub(r"\n +(?:summary|#).*", "", RULES.read_text())))
    assert used <= shown


def test_names_are_shown_only_where_the_operator_wants_them(service: Service) -> None:
    with service.client(Authorization=f"Bearer {TOKEN}") as client:
        named = client.get("/metrics").text
    assert 'tapeline_model_info{model="m-runs",name="runs",project="p-runs"} 1.0' in named
    found = service.store.read_now(fleet.look)
    plain = service.services.metrics.text(None, found).decode()
    assert 'tapeline_model_running{model="m-runs"} 1.0' in plain
    assert "tapeline_model_info" not in plain
