"""Those we stand beside, each on a free loopback port with a folder of its own."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.parts.service import answers, child, free_port

INFLUX = """
reporting-disabled = true
bind-address = "127.0.0.1:{inner}"
[meta]
  dir = "{folder}/meta"
[data]
  dir = "{folder}/data"
  wal-dir = "{folder}/wal"
  wal-fsync-delay = "0s"
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:{port}"
  log-enabled = false
[logging]
  level = "error"
"""


@dataclass(frozen=True)
class Peer:
    address: str
    """Where it takes what we measure."""
    pid: int
    run: str = ""
    """MLflow's word for where a metric belongs."""


@contextmanager
def noop(_folder: Path) -> Iterator[Peer]:
    port = free_port()
    address = f"http://127.0.0.1:{port}/v1/live/log"
    command = [sys.executable, "-m", "bench.parts.noop", str(port)]
    with child(command, lambda: answers(address)) as process:
        yield Peer(address, process.pid)


@contextmanager
def influx(folder: Path) -> Iterator[Peer | None]:
    """InfluxDB with its own defaults: every write is in its log and synced before it answers."""
    if shutil.which("influxd") is None:
        yield None
        return
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    settings = folder / "influxdb.conf"
    settings.write_text(INFLUX.format(inner=free_port(), port=port, folder=folder / "influx"))
    command = ["influxd", "run", "-config", str(settings)]
    with child(command, lambda: answers(f"{address}/ping")) as process:
        httpx.post(f"{address}/query", params={"q": "CREATE DATABASE bench"}).raise_for_status()
        yield Peer(f"{address}/write?db=bench", process.pid)


@contextmanager
def mlflow(folder: Path, python: Path | None) -> Iterator[Peer | None]:
    """MLflow as `mlflow server` starts it, on SQLite, in an environment that has it."""
    if python is None:
        yield None
        return
    port = free_port()
    address, database = f"http://127.0.0.1:{port}", f"sqlite:///{folder}/mlflow.db"
    command = [
        str(python), "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port),
        "--backend-store-uri", database, "--artifacts-destination", str(folder / "artifacts"),
    ]  # fmt: skip
    with child(command, lambda: answers(f"{address}/health"), PYTHONWARNINGS="ignore") as process:
        made = httpx.post(
            f"{address}/api/2.0/mlflow/runs/create", json={"experiment_id": "0"}, timeout=30
        )
        run = made.raise_for_status().json()["run"]["info"]["run_id"]
        yield Peer(f"{address}/api/2.0/mlflow/runs/log-metric", process.pid, run)
