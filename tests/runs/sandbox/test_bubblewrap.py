"""A hostile model: everything it tries fails, and what honest ones need works."""

import os
import socket
import sys
from pathlib import Path

import pytest

from tapeline.errors import CannotLaunch
from tapeline.runs.sandbox import foreign_files
from tests import needs
from tests.runs.conftest import Pad
from tests.runs.sandbox.boxes import listening

ROOT = needs.root("only root starts others")

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
    "the_memory_of_the_first_process": "open('/proc/1/mem', 'r+b')",
    "what_the_first_process_holds": "os.listdir('/proc/1/fd')",
    "a_new_first_process": "os.mkdir('/proc/1/fd')",
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
            if Path("/root") in Path(sys.base_prefix).parents
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
        print(os.listdir("/proc/1"))
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
    assert lines[4] == "[]", "nothing of bubblewrap is visible"
    assert lines[5] == "/model []"
    assert lines[6] == "['/dev/null', 'pipe', 'pipe']"
    assert lines[7] == "[]", "no descriptor of ours comes along"
    assert "data" not in lines[8]


def test_the_hosts_paths_are_not_on_any_command_line(pad: Pad) -> None:
    launched = pad.launch("import time; print('up', flush=True); time.sleep(1000)")
    launched.until_line("up")
    lines = [Path(f"/proc/{one}/cmdline").read_text().split("\0") for one in launched.members()]
    sandboxes = [line for line in lines if line[0].startswith("bwrap-")]
    assert sandboxes
    for line in sandboxes:
        assert line[:2] == [f"bwrap-{launched.spec.name}", "--args"]
        assert line[2].isdigit(), "a descriptor, for everything that a path is in"
        assert line[3] == "--"


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


@ROOT
def test_root_never_runs_a_model_as_itself(pad: Pad) -> None:
    for uid in (None, 0):
        with pytest.raises(CannotLaunch, match="separate user"):
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
                print(subprocess.run(program, capture_output=True, timeout=60).returncode != 0)
            except FileNotFoundError:
                print(True)
        print([line for line in open("/proc/self/mounts") if line.split()[1] == "/usr"
               and "nosuid" not in line])
    """)
    assert launched.lines() == ["True", "True", "True", "[]"]


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
