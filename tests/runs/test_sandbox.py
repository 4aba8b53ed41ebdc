"""A hostile model: everything it tries fails, and what honest ones need works."""

import http.server
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tapeline.errors import CannotLaunch
from tapeline.runs import foreign_files
from tapeline.runs.box import Policy
from tests.runs.conftest import Pad

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts others")

# Each prints "no" when the kernel or the sandbox refuses, and what it got when not.
TRIES = {
    "shadow": "open('/etc/shadow').read()",
    "root_home": "os.listdir('/root')[:1] if os.listdir('/root') != [BASE] else refuse()",
    "data_directory": "os.listdir(DATA)",
    "another_run": "open(SECRET).read()",
    "through_a_link": "os.symlink(SECRET, 'link') or open('link').read()",
    "through_proc_root": "open('/proc/1/root' + SECRET).read()",
    "through_proc_cwd": "os.listdir('/proc/1/cwd' + DATA)",
    "server_environment": "look('environ')",
    "server_command": "look('cmdline')",
    "a_mount": "call('mount', b'none', b'/tmp', b'tmpfs', 0, None)",
    "a_user_namespace": "call('unshare', 0x10000000)",
    "a_mount_namespace": "call('unshare', 0x00020000)",
    "a_clone_with_namespaces": "libc.syscall(CLONE, 0x10000000 | 17, 0, 0, 0, 0) >= 0 or refuse()",
    "chroot": "os.chroot('/tmp')",
    "ptrace": "call('ptrace', 16, os.getppid(), 0, 0)",
    "peeking": "call('process_vm_readv', 1, 0, 0, 0, 0, 0)",
    "a_keyring": "libc.syscall(KEYCTL, 0, -3, 0) >= 0 or refuse()",
    "io_uring": "libc.syscall(425, 1, 0) >= 0 or refuse()",
    "root": "os.setuid(0)",
    "a_device": "os.mknod('/tmp/null', 0o20666, os.makedev(1, 3))",
    "writing_the_system": "open('/usr/bin/x', 'w')",
    "writing_the_interpreter": "open(sys.prefix + '/x', 'w')",
    "writing_the_root": "open('/x', 'w')",
    "writing_dev": "open('/dev/x', 'w')",
    "kernel_settings": "open('/proc/sys/kernel/core_pattern', 'w').write('x')",
    "a_vm_socket": "socket.socket(40, socket.SOCK_STREAM)",
    "a_raw_socket": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
    "a_packet_socket": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)",
    "the_hosts_abstract_socket": "reach(socket.AF_UNIX, '\\0' + ABSTRACT)",
    "the_hosts_loopback": "reach(socket.AF_INET, ('127.0.0.1', LOOPBACK))",
    "the_clouds_credentials": "reach(socket.AF_INET, ('169.254.169.254', 80))",
    "the_sandboxes_gateway": "reach(socket.AF_INET, ('10.0.2.2', LOOPBACK))",
    "a_signal_to_everybody": "os.kill(SERVER, 0)",
    "priority": "os.nice(-5)",
}
PRELUDE = """
import ctypes, os, platform, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
CLONE, KEYCTL = (56, 250) if x86 else (220, 219)

def refuse():
    raise PermissionError

def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        refuse()
    return name

def reach(family, address):
    with socket.socket(family) as one:
        one.settimeout(2)
        one.connect(address)
    return address

def look(name):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = open(f"/proc/{pid}/{name}").read()
        except OSError:
            continue
        if MARK in text or DATA in text:
            return text
    refuse()
"""


@contextmanager
def listening(family: int, address: Any) -> Iterator[Any]:
    with socket.socket(family) as listener:
        listener.bind(address)
        listener.listen()
        yield listener.getsockname()


def outer_address() -> str:
    """An address of this machine that is not its loopback: the rest of the network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no network")
        return str(probe.getsockname()[0])


@pytest.mark.parametrize("network", ["open", "events", "none"])
def test_a_hostile_model_gets_nothing(
    pad: Pad, network: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_MARK", "mark-of-the-server")
    secret = pad.runs / "other" / "work" / "secret"
    secret.parent.mkdir(parents=True)
    secret.write_text("secret")
    secret.chmod(0o644)
    abstract = f"tapeline-test-{os.getpid()}"
    with (
        listening(socket.AF_INET, ("127.0.0.1", 0)) as (_, port),
        listening(socket.AF_UNIX, "\0" + abstract),
    ):
        known = {
            "DATA": str(pad.data),
            "SECRET": str(secret),
            "MARK": "mark-of-the-server",
            "ABSTRACT": abstract,
            "LOOPBACK": port,
            "SERVER": os.getpid(),
            "BASE": Path(sys.base_prefix).relative_to("/root").parts[0]
            if sys.base_prefix.startswith("/root/")
            else "",
        }
        lines = [PRELUDE, *(f"{name} = {value!r}" for name, value in known.items())]
        for name, attempt in TRIES.items():
            lines += [
                *("try:", f"    print({name!r}, 'GOT', repr({attempt}))"),
                *("except OSError as error:", f"    print({name!r}, 'no', error)"),
            ]
        launched = pad.run(
            "\n".join(lines),
            network=network,
            events_port=8700,
            argv=[f"{sys.base_prefix}/bin/python3", "hostile.py"],
            script="hostile.py",
        )
    got = [line for line in launched.lines() if line.split()[1] != "no"]
    assert not got, launched.lines("stderr")
    assert len(launched.lines()) == len(TRIES), launched.lines("stderr")


def test_inside_a_model_sees_itself_alone(pad: Pad) -> None:
    launched = pad.run("""
        import getpass, os, pwd, socket
        print(os.getuid(), os.getgid(), os.getgroups())
        print(pwd.getpwuid(os.getuid()).pw_name, socket.gethostname(), os.path.expanduser("~"))
        print([one for one in os.listdir("/proc") if one.isdigit()])
        print(sorted(os.environ))
        print(repr(open("/proc/1/environ").read()))
        print(os.getcwd(), os.listdir("."))
        print(sorted(os.readlink(f"/proc/self/fd/{n}").split(":")[0] for n in (0, 1, 2)))
        print([n for n in range(3, 5000) if os.path.exists(f"/proc/self/fd/{n}")])
        print(sorted(set(os.listdir("/")) - {"lib32", "lib64", "libx32"} | {"root"}))
    """)
    lines = launched.lines()
    assert lines[0] in ("1000 1000 []", "1000 1000 [65534]")
    assert lines[1] == "model model /home/model"
    assert lines[2] == "['1', '2']"
    assert lines[3] == "['GREETING', 'HOME', 'LC_CTYPE', 'PATH', 'PWD']"
    assert lines[4] == "''"
    assert lines[5] == "/model []"
    assert lines[6] == "['/dev/null', 'pipe', 'pipe']"
    assert lines[7] == "[]", "no descriptor of ours comes along"
    assert "data" not in lines[8]


def test_the_hosts_paths_are_not_on_any_command_line(pad: Pad) -> None:
    launched = pad.run("print(open('/proc/1/cmdline').read().split(chr(0))[:4])")
    assert launched.lines() == [f"['bwrap-{launched.spec.name}', '--args', '500', '--']"]


@pytest.mark.heavy
def test_what_a_model_needs_works(pad: Pad, libraries: tuple[str, str]) -> None:
    launched = pad.run(
        """
        import asyncio, multiprocessing, ssl, subprocess, tempfile, threading, time, zoneinfo
        import numpy

        def square(number):
            return number * number

        if __name__ == "__main__":
            print(numpy.arange(4).sum())
            for method in ("fork", "spawn", "forkserver"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    print(method, pool.map(square, [1, 2, 3]))
            shared = multiprocessing.Value("i", 5)
            lock = multiprocessing.Lock()
            thread = threading.Thread(target=print, args=("thread",))
            thread.start()
            thread.join()
            print(asyncio.run(asyncio.sleep(0, "asyncio")))
            print(subprocess.run(["sh", "-c", "echo sh"], capture_output=True).stdout)
            with tempfile.NamedTemporaryFile() as file:
                file.write(b"x")
            open("kept", "w").write("kept")
            print(len(ssl.create_default_context().get_ca_certs()) > 10)
        """.replace("\n        ", "\n"),
        argv=[f"{sys.base_prefix}/bin/python3", "-u", "main.py"],
        readonly=[(sys.base_prefix, sys.base_prefix), libraries],
        env={"PYTHONPATH": "/libraries", "OPENBLAS_NUM_THREADS": "1"},
        script="main.py",
    )
    assert launched.lines() == [
        *("6", "fork [1, 4, 9]", "spawn [1, 4, 9]", "forkserver [1, 4, 9]", "thread"),
        *("asyncio", "b'sh\\n'", "True"),
    ], launched.lines("stderr")
    assert (launched.folder / "work" / "kept").read_text() == "kept"


def test_two_runs_cannot_meet(pad: Pad) -> None:
    first = pad.launch("""
        import os, socket, time
        one = socket.create_server(("127.0.0.1", 5555))
        two = socket.socket(socket.AF_UNIX)
        two.bind("\\0first")
        two.listen()
        os.write(1, b"up\\n")
        time.sleep(1000)
    """)
    first.until_line("up")
    second = pad.run("""
        import os, socket
        for family, address in ((2, ("127.0.0.1", 5555)), (1, "\\0first")):
            try:
                socket.socket(family).connect(address)
            except ConnectionRefusedError:
                print("refused")
        print(len([one for one in os.listdir("/proc") if one.isdigit()]))
    """)
    assert second.lines() == ["refused", "refused", "2"]


REACH = """
    import socket
    try:
        socket.create_connection(({host!r}, {port}), timeout=5)
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


class Echo(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class EchoServer(http.server.ThreadingHTTPServer):
    request_queue_size = 300  # with five, the kernel itself resets some of many connections


@contextmanager
def events_server(pad: Pad) -> Iterator[None]:
    with EchoServer(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (pad.runs / "address").write_text(f"127.0.0.1:{server.server_port}")
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
    with socket.create_server(("127.0.0.1", 0)) as server:
        (pad.runs / "address").write_text(f"127.0.0.1:{server.getsockname()[1]}")
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
            assert accepted.makefile("rb").read() == b"question"
            accepted.sendall(b"answer")
        launched.finished()
    assert launched.lines() == ["b'answer'"]


def test_a_server_that_moved_is_found_again(pad: Pad) -> None:
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


def test_memory_beyond_the_plan_is_out_of_memory(pad: Pad) -> None:
    launched = pad.run(
        "import time; x = bytearray(400_000_000); time.sleep(5)",
        memory_mb=128,
        policy=Policy(restart=False),
    )
    end = launched.states("ended")[0]
    assert (end["cause"], end["signal"]) == ("out_of_memory", 9)
    assert launched.lines() == []


def test_a_kill_within_the_plan_is_not_out_of_memory(pad: Pad) -> None:
    launched = pad.run("import os; os.kill(os.getpid(), 9)")
    assert launched.states("ended")[0]["cause"] == "signal"


def test_forking_without_end_ends(pad: Pad) -> None:
    launched = pad.run(
        """
        import os, time
        count = 0
        try:
            while True:
                if os.fork() == 0:
                    time.sleep(1000)
                count += 1
        except OSError as error:
            print(count < 32, error.errno)
        """,
        pids=32,
    )
    assert launched.lines() == ["True 11"]


def test_the_disk_is_bounded(pad: Pad) -> None:
    launched = pad.run(
        """
        import time
        for number in range(6):
            with open(f"file{number}", "wb") as file:
                file.write(bytes(8_000_000))
        print("written")
        time.sleep(1000)
        """,
        disk_mb=20,
    )
    finished = launched.states("finished")[0]
    assert (finished["outcome"], finished["cause"]) == ("crashed", "disk_full")


@pytest.mark.heavy
def test_files_without_a_name_count_too(pad: Pad) -> None:
    launched = pad.run(
        """
        import os, time
        kept = []
        for number in range(6):
            file = open("file", "wb")
            file.write(bytes(8_000_000))
            file.flush()
            os.unlink("file")
            kept.append(file)
        time.sleep(1000)
        """,
        disk_mb=20,
    )
    assert launched.states("finished")[0]["cause"] == "disk_full"


def test_one_file_cannot_outgrow_the_disk_and_scratch_is_bounded(pad: Pad) -> None:
    launched = pad.run(
        """
        for path in ("file", "/tmp/file", "/dev/shm/file", "/home/model/file"):
            try:
                with open(path, "wb") as file:
                    for _ in range(100):
                        file.write(bytes(1_000_000))
                print("written")
            except OSError as error:
                print(error.errno)
            import os
            os.truncate(path, 0)
        """,
        disk_mb=50,
        tmp_mb=8,
    )
    assert launched.lines() == ["27", "28", "28", "28"]


def test_filling_the_log_is_bounded_and_told(pad: Pad) -> None:
    launched = pad.run(
        """
        import sys
        for number in range(40000):
            sys.stdout.write(f"{number} {'x' * 100}\\n")
        """,
        policy=Policy(restart=False, journal_bytes=1_000_000),
    )
    sizes = [one.stat().st_size for one in (launched.folder / "journal").iterdir()]
    assert sum(sizes) <= 1_000_000
    cuts = launched.states("cut")
    assert cuts
    assert launched.lines()[-1].startswith("39999 ")
    assert launched.states("finished")[0]["outcome"] == "exited"


def test_the_processor_is_shared_by_plan(pad: Pad) -> None:
    launched = pad.run(
        """
        import time
        begun = time.monotonic()
        while time.process_time() < 0.2:
            pass
        print(time.monotonic() - begun)
        """,
        cpu_milli=250,
    )
    assert float(launched.lines()[0]) > 0.4


@ROOT
def test_root_never_runs_a_model_as_itself(pad: Pad) -> None:
    for uid in (None, 0):
        with pytest.raises(CannotLaunch, match="user of its own"):
            pad.launch("", uid=uid)


@ROOT
def test_a_model_is_nobody_to_the_kernel(pad: Pad) -> None:
    launched = pad.launch("import time; print('up'); time.sleep(1000)")
    launched.until_line("up")
    uid = launched.spec.box.uid
    for pid in launched.members():
        status = Path(f"/proc/{pid}/status").read_text()
        assert f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}\n" in status
        assert "NoNewPrivs:\t1" in status


def test_setuid_programs_give_nothing(pad: Pad) -> None:
    launched = pad.run("""
        import subprocess
        for program in (["su", "-c", "id"], ["mount", "-t", "tmpfs", "none", "/tmp"], ["passwd"]):
            try:
                print(subprocess.run(program, capture_output=True, timeout=5).returncode != 0)
            except FileNotFoundError:
                print(True)
        print([line for line in open("/proc/self/mounts") if line.split()[1] == "/usr"
               and "nosuid" not in line])
    """)
    assert launched.lines() == ["True", "True", "True", "[]"]


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
            time.sleep(0.05)
    """
    with listening(socket.AF_INET, (host, 0)) as (_, port):
        launched = pad.launch(
            code.replace("HOST", repr(host)).replace("PORT", str(port)), network="open"
        )
        launched.until_line("reached")
        names = {Path(f"/proc/{one}/comm").read_text(): one for one in launched.members()}
        os.kill(names["slirp4netns\n"], signal.SIGKILL)
        launched.until_line("broken")
        before = len(launched.lines())
        launched.until(lambda one: "reached" in one.lines()[before:])


def test_what_a_model_left_is_read_with_care(pad: Pad) -> None:
    launched = pad.run("""
        import os
        os.symlink("/etc/passwd", "link")
        os.mkfifo("pipe")
        os.mkdir("folder")
        open("large", "w").write("x" * 1001)
        open("good", "w").write("good")
    """)
    work = launched.folder / "work"
    found = {one.name: foreign_files.read_text(one, 1000) for one in work.iterdir()}
    assert set(found) == {"link", "pipe", "folder", "large", "good"}
    assert {one for one in found if found[one] is not None} == {"good"}
    assert found["good"] == "good"
    assert foreign_files.read_text(work / "missing", 1000) is None


def test_without_a_sandbox_paths_are_the_hosts_own(pad: Pad) -> None:
    launched = pad.run(
        "import os; print(os.getcwd()); print(os.environ['STATE']); print(os.environ['TEXT'])",
        unsafe=True,
        env={"STATE": "/model/state", "TEXT": "/models are not /model"},
    )
    work = launched.folder / "work"
    assert launched.lines() == [str(work), f"{work}/state", "/models are not /model"]
