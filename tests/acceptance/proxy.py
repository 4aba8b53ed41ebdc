"""A real nginx with the blocks of the guide, before one server or several."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.acceptance.conftest import free_port
from tests.commands import code_of
from tests.waiting import wait_for

ONE, SEVERAL = 0, 1
"""Which of the guide's blocks is which."""
KEPT = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@contextmanager
def nginx(folder: Path, *ports: int, with_underscores: bool = True) -> Iterator[str]:
    """The guide's own blocks, without TLS and on a free port; the address."""
    port = free_port()
    folder.mkdir()
    places = "\n".join(f"{one}_temp_path {folder}/{one};" for one in KEPT)
    (folder / "nginx.conf").write_text(
        f"daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
        f"user root;\nevents {{}}\nhttp {{\naccess_log {folder}/access.log;\n{places}\n"
        f"{_blocks(port, ports, with_underscores)}\n}}\n"
    )
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    with subprocess.Popen([program, "-p", str(folder), "-c", str(folder / "nginx.conf")]) as run:
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(lambda: _answers(address) or run.poll() is not None)
            assert run.poll() is None, (folder / "error.log").read_text()
            yield address
        finally:
            run.terminate()


def _blocks(port: int, ports: tuple[int, ...], with_underscores: bool) -> str:
    block = code_of("how-to/proxy.md", "nginx")[ONE]
    block = block.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    block = "\n".join(line for line in block.splitlines() if "ssl_certificate" not in line)
    if not with_underscores:
        block = block.replace("underscores_in_headers on;", "")
    if len(ports) == 1:
        return block.replace("127.0.0.1:8700", f"127.0.0.1:{ports[0]}")
    block = block.replace("http://127.0.0.1:8700", "http://tapeline")
    return f"{_upstream(ports)}\n{block}"


def _upstream(ports: tuple[int, ...]) -> str:
    """As the guide names them, with as many servers as there are."""
    lines = code_of("how-to/proxy.md", "nginx")[SEVERAL].splitlines()
    servers = [place for place, line in enumerate(lines) if line.strip().startswith("server ")]
    assert servers, "the guide names the servers one by one"
    pattern = lines[servers[0]]
    named = [pattern.replace("10.0.0.1:8700", f"127.0.0.1:{port}") for port in ports]
    return "\n".join([*lines[: servers[0]], *named, *lines[servers[-1] + 1 :]])


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/time", verify=False).status_code == 200
    except httpx.TransportError:
        return False
