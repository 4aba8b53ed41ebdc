"""wrk: what it sends, and what it says about the answers."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

_UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0}


@dataclass(frozen=True)
class Sent:
    requests: float
    """Per second."""
    p99: float
    """Milliseconds."""
    cpu: float
    """Microseconds of the server's processor time per request. Neighbours hardly change it."""


def require() -> None:
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is missing: apt-get install wrk")


def script(folder: Path, headers: dict[str, str], bodies: Sequence[str]) -> Path:
    """A script that sends the bodies in turn; `@` in one becomes a text that never comes again."""
    lines = ['wrk.method = "POST"', "math.randomseed(os.time())"]
    lines += [f'wrk.headers["{name}"] = "{value}"' for name, value in headers.items()]
    lines.append(f"local bodies = {{ {', '.join(f'[==[{body}]==]' for body in bodies)} }}")
    if len(bodies) == 1 and "@" not in bodies[0]:
        lines.append("wrk.body = bodies[1]")
    else:
        lines.append(
            """
            local run, n = math.random(1e9), 0
            request = function()
              n = n + 1
              local body = bodies[n % #bodies + 1]:gsub("@", run .. "-" .. n)
              return wrk.format(nil, nil, nil, body)
            end"""
        )
    with tempfile.NamedTemporaryFile("w", suffix=".lua", dir=folder, delete=False) as file:
        file.write("\n".join(lines))
    return Path(file.name)


def send(address: str, script: Path, connections: int, seconds: int, pid: int) -> Sent:
    before = _processor_seconds(pid)
    ran = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s",
         "--latency", "-s", script, address],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    if "Non-2xx" in ran or "Socket errors" in ran:
        raise SystemExit(f"not all of it was taken by {address}:\n{ran}")
    used = _processor_seconds(pid) - before
    rate, latency = _found(r"Requests/sec:\s+([\d.]+)", ran), _found(r"\n +99% +(\S+)", ran)
    total = int(_found(r"(\d+) requests in", ran))
    return Sent(float(rate), _milliseconds(latency), 1e6 * used / max(1, total))


def _found(pattern: str, said: str) -> str:
    found = re.search(pattern, said)
    assert found, said
    return found[1]


def _milliseconds(text: str) -> float:
    found = re.fullmatch(r"([\d.]+)(us|ms|s)", text)
    assert found, text
    return float(found[1]) * _UNITS[found[2]]


def _processor_seconds(pid: int) -> float:
    process = psutil.Process(pid)
    everyone = [process, *process.children(recursive=True)]
    return sum(sum(one.cpu_times()[:2]) for one in everyone)
