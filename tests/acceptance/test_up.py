"""`tapeline up`: what a person sees who starts it for the first time, again, and wrongly."""

import fcntl
import json
import os
import pty
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tapeline.cli import main
from tests.acceptance.conftest import PASSWORD, Home, Server, free_port
from tests.busy_folders import paths_below
from tests.store.disk import small_disk
from tests.waiting import SLOW_MACHINE, wait_for

pytestmark = pytest.mark.heavy


def sign_in(server: Server, email: str, password: str) -> httpx.Response:
    with server.client() as client:
        return client.post("/auth/signin", json={"email": email, "password": password})


def modes(folder: Path) -> dict[str, int]:
    found = {}
    for file in (folder, *paths_below(folder)):
        with suppress(FileNotFoundError):  # a draft that has got its name meanwhile
            found[str(file.relative_to(folder))] = stat.S_IMODE(file.stat().st_mode)
    return found


def test_the_first_start_says_where_it_is_and_how_to_make_an_account(home: Home) -> None:
    server = home.up()
    assert f"ready at http://127.0.0.1:{server.port}" in server.said
    assert str(home.data) in server.said
    assert f"{server.address}/auth/signup" in server.said
    assert "tapeline user add you@example.com\n" in server.said
    with server.client() as client:
        assert client.get("/auth/signup").status_code == 200
        account = {"email": "ada@example.com", "password": PASSWORD}
        assert client.post("/auth/signup", json=account).status_code == 200
    assert server.end() == 0
    assert "user add" not in home.up().said, "the next start need not say it"


def test_whoever_reaches_it_over_a_network_needs_the_setup_code_it_prints(home: Home) -> None:
    server = home.up("--host", "0.0.0.0")
    assert f"{server.setup_code} (the first account needs it)" in server.said
    assert re.fullmatch(r"[0-9a-f]{4}(-[0-9a-f]{4}){2}", server.setup_code)
    account = {"email": "ada@example.com", "password": PASSWORD}
    with server.client() as client:
        assert client.post("/auth/signup", json=account).json()["code"] == "setup_code_needed"
        with_code = account | {"setup_code": server.setup_code}
        assert client.post("/auth/signup", json=with_code).status_code == 200
    server.end()
    assert "setup code" not in home.up("--host", "0.0.0.0").said


def test_at_its_own_computer_a_code_is_asked_for_only_behind_a_proxy(home: Home) -> None:
    server = home.up()
    found = re.search(r"setup code +(\S+) \(needed only through a proxy\)", server.said)
    assert found
    account = {"email": "ada@example.com", "password": PASSWORD}
    forwarded = {"X-Forwarded-For": "192.0.2.7"}
    with server.client() as client:
        refused = client.post("/auth/signup", json=account, headers=forwarded)
        assert refused.json()["code"] == "setup_code_needed"
        with_code = account | {"setup_code": found[1]}
        assert client.post("/auth/signup", json=with_code, headers=forwarded).status_code == 200


FOR_RUNS = {"environments", "runs", "state", "versions"}


def test_nobody_else_can_look_into_the_data_directory(home: Home) -> None:
    home.path.chmod(0o755)
    old_mask = os.umask(0)  # a careless environment
    try:
        home.up("--demo")
    finally:
        os.umask(old_mask)
    found = modes(home.data)
    assert found.pop(".") == 0o700
    assert found.pop("keys") == 0o700
    keys = [mode for name, mode in found.items() if name.startswith("keys/")]
    assert set(keys) == {0o600}
    assert "tapeline.db" in found
    # What runs need is open to the users they become, who reach it through mounts alone: nobody
    # passes through the directory itself.
    ours = {name: mode for name, mode in found.items() if name.split("/")[0] not in FOR_RUNS}
    assert not {name: oct(mode) for name, mode in ours.items() if mode & 0o077}


def test_the_hint_names_another_data_directory(home: Home) -> None:
    said = home.up("--data", "my data").said
    assert f"tapeline user add you@example.com --data '{home.path}/my data'" in said
    assert not home.data.exists()


def test_a_demo_has_an_account_and_a_project_that_work_and_stay(home: Home) -> None:
    first = home.up("--demo")
    shown = [line for line in first.said.splitlines() if "demo " in line or "project " in line]
    found = re.search(r"sign in as (\S+) with password (\S+)", first.said)
    project = re.search(r"project +Demo \((\w+)\)", first.said)
    assert found
    assert project
    answer = sign_in(first, found[1], found[2])
    assert answer.status_code == 200
    with first.client() as client:
        token = answer.json()["idToken"]
        mine = client.get("/project/list", headers={"token": token}).json()
        assert project[1] in {one["projectId"] for one in mine}
        made = client.post("/project/create", json={"name": "Newer"}, headers={"token": token})
        assert made.status_code == 200
    first.end()
    second = home.up("--demo")
    assert [
        line for line in second.said.splitlines() if "demo " in line or "project " in line
    ] == shown
    assert sign_in(second, found[1], found[2]).status_code == 200


def test_no_demo_wins_over_the_setting(home: Home) -> None:
    server = home.up("--no-demo", TAPELINE_DEMO="true")
    assert "demo@" not in server.said
    assert not (home.data / "demo-password").exists()


def test_a_second_server_on_the_same_directory_says_so_and_leaves_the_first_alone(
    home: Home,
) -> None:
    first = home.up()
    for port in ("0", str(first.port)):
        said = home.refused("up", "--port", port, exit_code=1)
        assert f"already running on {home.data}: {first.address}, process" in said
        assert str(first.process.pid) in said
    with first.client() as client:
        assert client.get("/readyz").status_code == 200
    assert first.end() == 0


def test_after_kill_9_a_new_start_works_at_once(home: Home) -> None:
    first = home.up("--demo")
    with first.client() as client:
        assert client.get("/readyz").status_code == 200
    first.end(signal.SIGKILL)
    second = home.up("--demo", "--port", str(free_port()))
    with second.client() as client:
        assert client.get("/readyz").status_code == 200
    assert second.end() == 0


def test_a_taken_port_is_said_and_nothing_is_made(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = home.refused("up", "--port", port, exit_code=1)
    assert f"127.0.0.1:{port}" in said
    assert "Address already in use" in said
    assert not home.data.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--host", "no.such.host.invalid"], "Cannot listen on no.such.host.invalid"),
        (["--host", "192.0.2.1"], "Cannot listen on 192.0.2.1"),
    ],
)
def test_an_address_that_is_not_ours_is_said(home: Home, arguments: list[str], says: str) -> None:
    assert says in home.refused("up", "--port", "0", *arguments, exit_code=1)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(home: Home, how: signal.Signals) -> None:
    server = home.up()
    with server.client() as client:  # an idle connection must not hold it up
        client.get("/time")
        started = time.monotonic()
        assert server.end(how) == 0
        assert time.monotonic() - started < 30
    assert f"stopping signal={how.name}" in server.log
    assert server.log.count("stopping signal=") == 1
    assert "stopped" in server.log
    assert "Traceback" not in server.log
    assert not list(home.data.glob("*-wal")), "the database was closed in order"


def test_a_hangup_reloads_the_settings_and_says_which_need_a_restart(home: Home) -> None:
    config = home.path / "tapeline.toml"
    config.write_text('log_level = "warning"\nstop_seconds = 5\n')
    server = home.up("--config", str(config))
    config.write_text('log_level = "debug"\nstop_seconds = 6\nreaders = 3\n')
    server.process.send_signal(signal.SIGHUP)
    said = 'settings_reloaded changed=log_level need_a_restart="readers, stop_seconds"'
    wait_for(lambda: said in server.log)
    with server.client() as client:
        client.get("/time")
        wait_for(lambda: "path=/time" in server.log)
        config.write_text("log_level = 7\n")
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "settings_not_reloaded" in server.log)
        assert client.get("/readyz").status_code == 200
    assert server.end() == 0


def test_a_hangup_does_not_end_a_server_that_still_imports_the_rest_of_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(
        main, "command", lambda: lambda **_: seen.append(signal.getsignal(signal.SIGHUP))
    )
    monkeypatch.setattr(sys, "argv", ["tapeline", "up"])
    before = signal.getsignal(signal.SIGHUP)
    try:
        with pytest.raises(SystemExit):
            main.main()
    finally:
        signal.signal(signal.SIGHUP, before)
    assert seen == [signal.SIG_IGN]


def test_a_terminal_that_is_closed_ends_it_cleanly(home: Home) -> None:
    ours, theirs = pty.openpty()
    command = home.command("up", "--port", "0")
    log = home.path / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            ["setsid", "--ctty", *command],
            stdin=theirs,
            stdout=file,
            stderr=file,
            env=home.environment,
            cwd=home.path,
        )
    os.close(theirs)
    try:
        wait_for(lambda: "is ready at" in log.read_text())
        os.close(ours)
        assert process.wait(SLOW_MACHINE) == 0
    finally:
        process.kill()
    assert log.read_text().endswith("stopped\n")


def test_a_signal_that_comes_during_the_start_counts(home: Home) -> None:
    for pause in (0.5, 0.9):
        server = home.begin_in("env")  # which imports everything first
        time.sleep(pause)
        server.process.terminate()
        assert server.process.wait(SLOW_MACHINE) in {0, -signal.SIGTERM}


def test_a_request_under_way_is_finished(home: Home) -> None:
    server = home.up("--demo")
    with server.client() as client:  # connections are taken a moment before requests are
        assert client.get("/time").status_code == 200
    body = b'{"email": "nobody@example.com", "password": "wrong password"}'
    with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
        connection.sendall(
            b"POST /auth/signin HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body)
        )
        connection.sendall(body[:10])
        time.sleep(0.3)
        server.process.terminate()
        wait_for(lambda: "stopping" in server.log)
        with pytest.raises(OSError):  # noqa: PT011 - refused or reset, either is right
            _ask_anew(server.port)
        connection.sendall(body[10:])
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 401 ")
    assert server.process.wait(SLOW_MACHINE) == 0


def _ask_anew(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as other:
            other.sendall(b"GET /time HTTP/1.1\r\nHost: localhost\r\n\r\n")
            if not other.recv(1):
                raise ConnectionResetError
        time.sleep(0.05)


def test_logs_are_one_event_per_line(home: Home) -> None:
    text = home.up(TAPELINE_LOG_LEVEL="debug", TAPELINE_NONSENSE="1")
    with text.client() as client:
        client.get("/no/such%0Apage")
        client.get("/time")
    text.end()
    for line in text.log.splitlines():
        assert re.match(r"\d{4}-\d\d-\d\dT[\d:.]+Z (debug|info|warning|error) +\w+", line), line
    assert "unknown_variable_ignored name=TAPELINE_NONSENSE" in text.log
    in_json = home.up(TAPELINE_LOG_LEVEL="debug", TAPELINE_LOG_FORMAT="json")
    with in_json.client() as client:
        client.get("/no/such%0Apage")
    in_json.end()
    events = [json.loads(line) for line in in_json.log.splitlines()]
    assert {"request", "stopping", "stopped"} <= {event["event"] for event in events}
    assert all({"time", "level", "logger", "event"} <= event.keys() for event in events)


def test_a_signal_in_the_middle_of_a_log_line_stops_it_too(home: Home, tmp_path: Path) -> None:
    """Nobody reads its log for a while, so that it waits inside of a line when the signal comes."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    variables = home.environment | {"TAPELINE_LOG_LEVEL": "debug"}
    said = tmp_path / "said"
    with said.open("wb") as out:
        process = subprocess.Popen(
            home.command("up", "--port", "0"), env=variables, stdout=out, stderr=writing
        )
    os.close(writing)
    with process:
        wait_for(lambda: "Ctrl-C stops it." in said.read_text())
        (address,) = re.findall(r"ready at (http://\S+)", said.read_text())
        with httpx.Client(base_url=address, timeout=2) as client, suppress(httpx.TimeoutException):
            while True:
                client.get("/time")
        process.terminate()
        too_late = threading.Timer(SLOW_MACHINE, process.kill)
        too_late.start()
        with os.fdopen(reading, "rb") as log:
            assert log.read().splitlines()[-1].endswith(b" stopped")
        too_late.cancel()
    assert process.returncode == 0


@pytest.mark.parametrize("command", [["up", "--port", "0"], ["user", "add", "a@example.com"]])
def test_an_unreachable_postgresql_is_one_line_without_the_password(
    home: Home, command: list[str]
) -> None:
    url = f"postgresql://ada:hunter2@127.0.0.1:{free_port()}/tape"
    ended = home.run(*command, "--database", url, stdin=PASSWORD + "\n")
    assert ended.returncode == 1
    (line,) = ended.stderr.strip().splitlines()
    assert line.startswith("tapeline: The database postgresql://ada:***@127.0.0.1:")
    assert "refused" in line
    assert "hunter2" not in ended.stdout + ended.stderr


def test_a_data_directory_that_is_a_file_is_said(home: Home) -> None:
    (home.path / "file").write_text("")
    for path in ("file", "file/below"):
        said = home.refused("up", "--port", "0", "--data", path, exit_code=1)
        assert f"The data directory {home.path / path} cannot be used" in said


def test_a_data_directory_that_cannot_be_written_is_said(home: Home) -> None:
    with small_disk(home.path / "disk") as disk:
        disk.path.chmod(0o700)
        disk.remount("ro")
        for path in (disk.path, disk.path / "below"):
            said = home.refused("up", "--port", "0", "--data", str(path), exit_code=1)
            assert "Read-only file system" in said
            assert str(path) in said


def test_somebody_elses_directory_is_not_taken_over(home: Home) -> None:
    public = home.path / "public"
    public.mkdir(mode=0o755)
    public.chmod(0o755)
    (public / "photos").write_text("")
    said = home.refused("up", "--port", "0", "--data", "public", exit_code=1)
    assert "chmod 700" in said
    assert stat.S_IMODE(public.stat().st_mode) == 0o755
    assert [file.name for file in public.iterdir()] == ["photos"]


def test_a_full_disk_is_a_503_and_then_forgotten(home: Home) -> None:
    with small_disk(home.path / "disk", megabytes=3) as disk:
        server = home.up("--data", str(disk.path))
        with server.client() as client:
            assert client.get("/readyz").status_code == 200
            disk.fill()
            wait_for(lambda: client.get("/readyz").status_code == 503)
            for _ in range(10):
                account = {"email": "ada@example.com", "password": PASSWORD}
                answer = client.post("/auth/signup", json=account)
                assert answer.status_code == 503
                assert int(answer.headers["Retry-After"]) >= 1
                assert answer.json()["code"] == "store_unavailable"
                assert "Nothing was stored" in answer.json()["error"]
            assert client.get("/readyz").json().keys() == {"error", "code"}
            assert client.get("/healthz").status_code == 200
            assert server.log.count("store_cannot_write") <= 3
            disk.free()
            wait_for(lambda: client.get("/readyz").status_code == 200)
            assert client.post("/auth/signup", json=account).status_code == 200
        assert server.end() == 0


def test_what_was_acknowledged_survives_kill_9(home: Home) -> None:
    server = home.up()
    account = {"email": "ada@example.com", "password": PASSWORD}
    with server.client() as client:
        token = client.post("/auth/signup", json=account).json()["idToken"]
    acknowledged: set[str] = set()

    def create(client: httpx.Client, prefix: str) -> None:
        for number in range(1_000):
            try:
                answer = client.post("/project/create", json={"name": f"{prefix}-{number}"})
            except httpx.TransportError:
                return
            if answer.status_code == 200:
                acknowledged.add(answer.json()["projectId"])

    clients = [
        httpx.Client(base_url=server.address, headers={"token": token}, timeout=30, verify=False)
        for _ in range(4)
    ]
    threads = [
        threading.Thread(target=create, args=(client, str(place)))
        for place, client in enumerate(clients)
    ]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(acknowledged) > 20)
    server.end(signal.SIGKILL)
    for thread in threads:
        thread.join()
    again = home.up()
    with again.client() as client:
        token = client.post("/auth/signin", json=account).json()["idToken"]
        stored = client.get("/project/list", headers={"token": token}).json()
    assert acknowledged <= {one["projectId"] for one in stored}
    for client in clients:
        client.close()


def test_the_command_tells_its_version_and_its_options(home: Home) -> None:
    version = home.run("version").stdout.strip()
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", version)
    help_text = home.run("up", "--help", COLUMNS="200").stdout
    for option in ("--host", "--port", "--data", "--database", "--engine", "--demo", "--config"):
        assert option in help_text


def test_a_limit_on_open_files_that_is_too_small_for_a_server_is_said(home: Home) -> None:
    few = ("sh", "-c", 'ulimit -n 255; exec "$@"', "sh")
    ended = home.run_in(*few, command=("up", "--port", "0"))
    assert ended.returncode == 1
    assert ended.stderr == (
        "tapeline: The server needs 256 open files, and may have only 255."
        " Start it with a higher limit: ulimit -n 4096 (systemd: LimitNOFILE=4096)\n"
    )
    assert not home.data.exists()


NO_THREADS = (
    "import sys, threading; threading.stack_size(1 << 46)\n"  # more than any machine has
    "from tapeline.cli.main import main; main()"
)


def test_a_limit_that_allows_no_more_threads_is_named(home: Home) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", NO_THREADS, "up", "--port", "0", "--data", str(home.data)],
        env=home.environment,
        capture_output=True,
        text=True,
        timeout=SLOW_MACHINE,
        check=False,
    )
    assert ended.returncode == 1
    said = "tapeline: The server could not start another thread: a limit on memory or on processes"
    assert ended.stderr.startswith(said)
