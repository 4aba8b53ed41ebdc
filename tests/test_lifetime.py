"""A helper process ends with its server, even if the server is killed."""

import subprocess
import sys

HELPER = (
    "import sys, time; from tapeline import lifetime; lifetime.end_with(int(sys.argv[1])); "
    "print('ready', flush=True); time.sleep(600)"
)
SERVER = (
    "import os, subprocess, sys, time; "
    "subprocess.Popen([sys.executable, '-c', sys.argv[1], str(os.getpid())]); time.sleep(600)"
)


def test_a_helper_ends_when_its_server_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER, HELPER], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        server.kill()
        # The helper has the other end of the pipe too: it is closed when both are gone.
        assert server.stdout.read() == b""


def test_a_helper_whose_server_is_gone_already_ends_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", HELPER, "1"], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
