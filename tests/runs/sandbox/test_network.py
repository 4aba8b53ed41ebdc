"""What of the network a model reaches: the events address, and beyond it what its box allows."""

import http.server
import os
import signal
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tapeline.runs.engines import events_port
from tests.runs.conftest import Pad
from tests.runs.sandbox.boxes import listening
from tests.waiting import wait_for


def outer_address() -> str:
    """An address of this machine that is not its loopback: the rest of the network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing; fails where there is no network
        return str(probe.getsockname()[0])


REACH = """
    import socket
    try:
        socket.create_connection(({host!r}, {port}), timeout=60)
        print("reached")
    except OSError as error:
        print("not reached")
"""


@pytest.mark.parametrize(
    ("network", "answer"),
    [("open", "reached"), ("events", "not reached"), ("none", "not reached")],
)
def test_only_an_open_network_reaches_others(pad: Pad, network: str, answer: str) -> None:
    host = outer_address()
    with listening(socket.AF_INET, (host, 0)) as (_, port):
        code = REACH.format(host=host, port=port)
        assert pad.run(code, network=network, events_port=8700).lines() == [answer]


NO_ROUTE = """
    import errno, socket
    for host in {hosts!r}:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as one:
            one.settimeout(60)
            try:
                one.connect((host, 80))
                print("reached", host)
            except OSError as error:
                print(errno.errorcode.get(error.errno, error))
"""


def test_there_is_no_way_to_where_clouds_keep_credentials(pad: Pad) -> None:
    hosts = [
        "169.254.169.254",
        "169.254.170.2",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        *(["fd00:ec2::254", "fd20:ce::254"] if Path("/proc/sys/net/ipv6").exists() else []),
    ]
    launched = pad.run(NO_ROUTE.format(hosts=hosts), network="open", events_port=8700)
    # What a route says that leads nowhere; a way that only ends somewhere else says otherwise.
    wanted = ["ENETUNREACH" if ":" in host else "EHOSTUNREACH" for host in hosts]
    assert launched.lines() == wanted, launched.lines("stderr")


class Echo(http.server.BaseHTTPRequestHandler):
    def handle(self) -> None:
        assert self.rfile.readline().startswith(b"run run")
        super().handle()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class EchoServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """The server's end, as far as the shim can tell."""

    daemon_threads = True

    def __init__(self, runs: Path) -> None:
        super().__init__("", Echo, bind_and_activate=False)
        self.socket.close()
        self.socket = events_port.listen(runs)


@contextmanager
def events_server(pad: Pad) -> Iterator[None]:
    with EchoServer(pad.runs) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


POST = """
    import http.client, os, sys, time
    def post(size):
        link = http.client.HTTPConnection("127.0.0.1", 8700, timeout=20)
        body = os.urandom(size)
        link.request("POST", "/v1/live/log", body)
        return link.getresponse().read() == body
"""


@pytest.mark.parametrize("network", ["open", "events"])
def test_the_events_address_is_reached_from_inside(pad: Pad, network: str) -> None:
    code = (
        POST
        + """
    print([post(size) for size in (1, 1000, 20_000_000)])
"""
    )
    with events_server(pad):
        launched = pad.run(code, network=network, events_port=8700)
    assert launched.lines() == ["[True, True, True]"], launched.lines("stderr")


@pytest.mark.parametrize("network", ["open", "events"])
def test_other_names_of_the_server_are_reached_on_the_port_of_https(pad: Pad, network: str) -> None:
    """Whatever port the server itself has. The names mean nobody else inside."""
    code = """
        import socket
        with socket.create_connection(("events.example.com", 443), timeout=20) as wire:
            wire.sendall(b"hello")
            wire.shutdown(socket.SHUT_WR)
            print(wire.makefile("rb").read(), socket.gethostbyname("events.example.com"))
    """
    with events_port.listen(pad.runs, "events.tls") as server:
        launched = pad.launch(code, network=network, events_port=443, names=("events.example.com",))
        accepted, _ = server.accept()
        with accepted:
            assert accepted.makefile("rb").read() == b"run run0\nhello"
            accepted.sendall(b"handshake")
        launched.finished()
    assert launched.lines() == ["b'handshake' 127.0.0.2"], launched.lines("stderr")


@pytest.mark.heavy
def test_many_connections_at_once_are_forwarded(pad: Pad) -> None:
    code = (
        POST
        + """
    import concurrent.futures
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        print(sum(pool.map(post, [50_000] * 300)))
"""
    )
    with events_server(pad):
        launched = pad.run(code, network="events", events_port=8700, pids=200)
    assert launched.lines() == ["300"], launched.lines("stderr")


def test_half_a_connection_can_end_before_the_other(pad: Pad) -> None:
    with events_port.listen(pad.runs) as server:
        launched = pad.launch(
            """
            import socket
            one = socket.create_connection(("127.0.0.1", 8700))
            one.sendall(b"question")
            one.shutdown(socket.SHUT_WR)
            print(one.makefile("rb").read())
            """,
            network="events",
            events_port=8700,
        )
        accepted, _ = server.accept()
        with accepted:
            assert accepted.makefile("rb").read() == b"run run0\nquestion"
            accepted.sendall(b"answer")
        launched.finished()
    assert launched.lines() == ["b'answer'"]


def test_a_server_that_restarted_is_found_again(pad: Pad) -> None:
    code = (
        POST
        + """
    for _ in range(400):
        try:
            print(post(10))
            if os.path.exists("moved"):
                break
            open("once", "w").close()
        except OSError:
            pass
        time.sleep(0.02)
"""
    )
    with events_server(pad):
        launched = pad.launch(code, network="events", events_port=8700)
        launched.until_line("True")
    (launched.folder / "work" / "moved").touch()
    with events_server(pad):
        assert launched.finished()["outcome"] == "exited"
    assert set(launched.lines()) == {"True"}


def test_a_network_that_broke_comes_back(pad: Pad) -> None:
    host = outer_address()
    code = """
        import os, socket, time
        while True:
            try:
                socket.create_connection((HOST, PORT), timeout=0.5).close()
                os.write(1, b"reached\\n")
            except OSError:
                os.write(1, b"broken\\n")
                open("broken", "w").close()
            time.sleep(0.05)
    """
    with listening(socket.AF_INET, (host, 0)) as (_, port):
        launched = pad.launch(
            code.replace("HOST", repr(host)).replace("PORT", str(port)), network="open"
        )
        launched.until_line("reached")
        names = {Path(f"/proc/{one}/comm").read_text(): one for one in launched.members()}
        broken = launched.folder / "work" / "broken"
        broken.unlink(missing_ok=True)  # it may have tried before its network was up
        os.kill(launched.shim_pid(), signal.SIGSTOP)  # else it may mend it before the model sees it
        os.kill(names["slirp4netns\n"], signal.SIGKILL)
        wait_for(broken.exists)
        os.kill(launched.shim_pid(), signal.SIGCONT)
        launched.until_line("broken")
        before = len(launched.lines())
        launched.until(lambda one: "reached" in one.lines()[before:])
        launched.until(lambda one: one.states("network_back"))
        assert len(launched.states("network_lost")) == 1
