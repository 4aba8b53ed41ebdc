"""Models that are uploaded run: live, as backtests and on a schedule, in a real sandbox."""

import base64
import json
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from tapeline import private_files
from tests.acceptance.conftest import Home, Server
from tests.acceptance.traders import Trader, pythons
from tests.archives import zipped
from tests.busy_folders import paths_below
from tests.waiting import wait_for

pytestmark = pytest.mark.heavy

FOREVER = "import time\nprint('here', flush=True)\nwhile True: time.sleep(0.1)\n"


@pytest.fixture(scope="module")
def server(shared_home: Home) -> Iterator[Server]:
    everywhere = ",".join(one.path for one in pythons())
    server = shared_home.up(TAPELINE_PYTHONS=everywhere, TAPELINE_STOP_SECONDS="30")
    yield server
    server.end()


@pytest.fixture(scope="module")
def trader(server: Server) -> Iterator[Trader]:
    trader = Trader(server)
    yield trader
    trader.client.close()


def test_a_model_runs_says_what_it_says_and_ends(trader: Trader) -> None:
    deployed = trader.deploy(
        "import sys\nprint('to out')\nprint('to err', file=sys.stderr)\nprint('no newline', end='')"
    )
    run = trader.wait_for_end(deployed)
    model = deployed["modelId"]
    assert (run["state"], run["exit_code"], run["restarts"]) == ("exited", 0, 0)
    assert "bubblewrap" in run["confinement"]
    assert {"to out", "no newline"} <= set(trader.lines(model, "stdout"))
    assert trader.lines(model, "stderr") == ["to err"]
    lifecycle = trader.lifecycle(model)
    assert (lifecycle["message"], lifecycle["running"]) == ("Exited", False)
    assert lifecycle["start_at"] <= lifecycle["end_at"]
    assert [one for one in trader.messages(model) if one != "Installing Dependencies"] == [
        "Deploying",
        "Running",
        "Exited",
    ]


def test_a_running_model_is_shown_and_stopped_with_time_to_clean_up(trader: Trader) -> None:
    deployed = trader.deploy(
        "import time\nprint('here')\n"
        "try:\n    time.sleep(600)\nexcept KeyboardInterrupt:\n    print('closing positions')\n"
    )
    model = deployed["modelId"]
    trader.wait_for_line(model, "here")
    shown = trader.get(f"/api/models/{model}")
    assert shown["lifecycle"]["running"] is True
    assert shown["run"]["state"] == "running"
    assert shown["run"]["fence"] >= 1
    assert shown["run"]["run_id"] == deployed["runId"]
    trader.kill(model)
    run = trader.wait_for_end(deployed)
    assert run["state"] == "stopped"
    assert "ada@example.com" in run["reason"]
    assert "closing positions" in trader.lines(model)
    assert trader.lifecycle(model)["message"] == "Stopped"


def test_a_deploy_takes_the_place_of_the_version_before_and_rollback_brings_it_back(
    trader: Trader,
) -> None:
    first = trader.deploy(FOREVER.replace("here", "first"))
    model = first["modelId"]
    trader.wait_for_line(model, "first")
    second = trader.deploy(FOREVER.replace("here", "second"), model=model)
    assert second["version"] == 2
    fence = trader.wait_for_state(second, "running")["fence"]
    before = trader.run(model, first["runId"])
    assert before["state"] == "stopped"
    assert second["runId"] in before["reason"]
    back = trader.post(
        "/model/run",
        json={"projectId": trader.user_id, "modelId": model, "versionId": first["versionId"]},
    )
    run = trader.wait_for_state(back, "running")
    # By one, unless a start that nobody answered was made again.
    assert (run["version"], run["fence"] > fence) == (1, True)
    trader.kill(model)
    trader.wait_for_end(back)


def test_a_crashing_model_is_restarted_and_its_traceback_kept(trader: Trader) -> None:
    deployed = trader.deploy(
        "import os, time\n"
        "state = os.environ['TAPELINE_STATE_DIR'] + '/tries'\n"
        "tries = int(open(state).read()) + 1 if os.path.exists(state) else 1\n"
        "open(state, 'w').write(str(tries))\n"
        "print('try', tries)\n"
        "if tries < 3: raise ValueError('not yet')\n"
    )
    run = trader.wait_for_end(deployed)
    model = deployed["modelId"]
    assert (run["state"], run["restarts"]) == ("exited", 2)
    assert [one for one in trader.lines(model) if one.startswith("try")] == [
        "try 1",
        "try 2",
        "try 3",
    ]
    assert trader.lines(model).count("ValueError: not yet") == 2
    told = trader.messages(model)
    assert told[-7:] == [
        "Crashed", "Restarting", "Running", "Crashed", "Restarting", "Running", "Exited",
    ]  # fmt: skip


def test_too_much_memory_is_told_apart_from_other_deaths(trader: Trader) -> None:
    tested = trader.backtest("x = []\nwhile True: x.append(bytearray(10_000_000))\n", plan="nano")
    run = trader.wait_for_end(tested)
    assert run["state"] == "crashed"
    told = "Out of memory: it used more than the 256 MB of plan nano. The next larger plan is "
    assert run["reason"].startswith(told)
    deployed = trader.deploy("x = []\nwhile True: x.append(bytearray(10_000_000))\n")
    trader.wait_for_state(deployed, "restarting")
    assert "Out of Memory" in trader.messages(deployed["modelId"])
    trader.kill(deployed["modelId"])
    trader.wait_for_end(deployed)


def test_packages_are_installed_and_a_second_deploy_starts_at_once(trader: Trader) -> None:
    archive = zipped(
        {"main.py": "import six\nprint('six', six.__version__)", "req.txt": "six==1.16.0\n"},
        requirements="req.txt",
    )
    first = trader.deploy("", archive=archive)
    trader.wait_for_end(first)
    model = first["modelId"]
    assert "six 1.16.0" in trader.lines(model)
    assert "Installing Dependencies" in trader.messages(model)
    second = trader.deploy("", archive=archive, model=model)
    trader.wait_for_end(second)
    assert trader.messages(model).count("Installing Dependencies") == 1


def test_a_failed_installation_says_why_in_one_sentence(trader: Trader) -> None:
    archive = zipped(
        {"main.py": "print('never')", "req.txt": "six==0.0.99\n"}, requirements="req.txt"
    )
    deployed = trader.deploy("", archive=archive)
    run = trader.wait_for_end(deployed)
    model = deployed["modelId"]
    assert run["state"] == "failed"
    assert "cannot be met on Python" in run["reason"]
    assert "six==0.0.99" in run["reason"]
    assert trader.lines(model).count(run["reason"]) == 1
    lifecycle = trader.lifecycle(model)
    assert lifecycle["message"] == "Failed to Install"
    assert not lifecycle["running"]
    tested = trader.backtest("", archive=archive)
    trader.wait_for_end(tested)
    path = f"/api/models/{tested['modelId']}/backtests/{tested['backtestId']}"
    status = trader.get(path)["status"]
    assert status["successful"] is False
    assert "six" in status["status_details"]


def test_a_model_pushes_events_with_its_own_key_and_only_to_itself(trader: Trader) -> None:
    pushing = """
import json, os, urllib.error, urllib.request

def push(path, model, **body):
    request = urllib.request.Request(
        os.environ["TAPELINE_URL"] + path, json.dumps(body).encode(),
        {"Content-Type": "application/json", "model_id": model,
         "api_key": os.environ["TAPELINE_API_KEY"], "api_pass": os.environ["TAPELINE_API_PASS"]})
    try:
        return urllib.request.urlopen(request, timeout=30).status
    except urllib.error.HTTPError as error:
        return error.code

me = os.environ["TAPELINE_MODEL_ID"]
order = dict(symbol="BTC-USD", exchange="paper", side="buy", size=1, id="o-1")
print("own", push("/v1/live/spot-market", me, **order))
print("other", push("/v1/live/spot-market", "OTHER", **order))
print(os.environ["SLATE_MODEL_ID"] == me, os.environ["URL_MODEL_EVENTS_API"])
"""
    other = trader.deploy("pass")["modelId"]
    deployed = trader.deploy(pushing.replace("OTHER", other))
    trader.wait_for_end(deployed)
    model = deployed["modelId"]
    assert "own 200" in trader.lines(model)
    assert "other 404" in trader.lines(model)
    assert [one["id"] for one in trader.get(f"/api/models/{model}/orders")["items"]] == ["o-1"]
    tape = trader.client.get(f"/api/models/{model}/tape").text.splitlines()
    orders = [json.loads(one) for one in tape if '"spot-market"' in one]
    assert [one["run_id"] for one in orders] == [deployed["runId"]]


STRANGER_INSIDE = """
import http.client, json, os, socket, urllib.parse
where = urllib.parse.urlsplit(os.environ["TAPELINE_URL"]).netloc
for method, path, body in [
    ("GET", "/time", None),
    ("POST", "/auth/signin", {"email": "ada@example.com", "password": "wrong password"}),
    ("POST", "/auth/signup", {"email": "eve@example.com", "password": "correct horse battery"}),
    ("GET", "/api/me", None),
    ("GET", "/metrics", None),
]:
    link = http.client.HTTPConnection(where, timeout=20)
    headers = {"X-Forwarded-For": "8.8.8.8", "Content-Type": "application/json"}
    link.request(method, path, json.dumps(body) if body else None, headers)
    print(path, link.getresponse().status)
"""


def test_a_model_reaches_the_events_api_and_nothing_else_of_the_server(trader: Trader) -> None:
    """With or without a network: nobody is locked out from inside, in whosever name."""
    archive = zipped({"main.py": STRANGER_INSIDE}, network=False)
    for one in (trader.deploy(STRANGER_INSIDE), trader.deploy("", archive=archive)):
        trader.wait_for_end(one)
        assert trader.lines(one["modelId"], "stdout") == [
            "/time 200",
            *(f"{path} 404" for path in ("/auth/signin", "/auth/signup", "/api/me", "/metrics")),
        ]


AS_SLATE = """
import os
import requests
names = ("model_id", "api_key", "api_pass")
headers = {name: os.environ["SLATE_" + name.upper()] for name in names}
order = {"symbol": "AAPL", "exchange": "alpaca", "id": "o-1", "side": "buy", "size": 1}
answer = requests.post("https://events.blankly.finance/v1/live/spot-market", data=order,
                       headers=headers | {"time": "1600000000.5"}, files={})
print(answer.status_code, answer.json())
"""


@pytest.mark.older_client("slate", "deployed: reports from inside, with a network and without")
@pytest.mark.parametrize("network", [True, False])
def test_a_client_with_the_older_platforms_names_written_into_it_reports(
    trader: Trader, network: bool
) -> None:
    """As `slate` does it: by `requests`, to names that cannot be chosen, with its own trust."""
    archive = zipped(
        {"main.py": AS_SLATE, "requirements.txt": "requests\n"},
        requirements="requirements.txt",
        network=network,
    )
    deployed = trader.deploy("", archive=archive)
    run, model = trader.wait_for_end(deployed), deployed["modelId"]
    assert run["exit_code"] == 0, trader.lines(model, "stderr")
    assert "200 {'status': 'success'}" in trader.lines(model, "stdout")
    assert [one["id"] for one in trader.get(f"/api/models/{model}/orders")["items"]] == ["o-1"]


def test_a_run_whose_secret_cannot_be_read_ends_and_says_so(
    trader: Trader, shared_home: Home
) -> None:
    """A copy without its keys got new ones."""
    model = trader.deploy("print('here')")["modelId"]
    secret = f"/api/models/{model}/secrets/EXCHANGE_KEY"
    assert trader.client.put(secret, json={"value": "hidden"}).status_code == 200
    key = shared_home.data / "keys" / "store.key"
    kept = key.read_bytes()
    try:
        private_files.write(key, base64.b64encode(bytes(32)))
        run = trader.wait_for_end(trader.deploy("print('here')", model=model))
        rows = trader.get("/api/health")["rows"]
    finally:
        private_files.write(key, kept)
    assert (run["state"], "The secret EXCHANGE_KEY cannot be read" in run["reason"]) == (
        "crashed",
        True,
    ), run["reason"]
    row = next(one for one in rows if one["name"] == "keys")
    assert (row["state"], "EXCHANGE_KEY of model" in row["says"]) == ("red", True)


def test_secrets_reach_the_run_and_never_its_log(trader: Trader) -> None:
    model = trader.deploy("pass")["modelId"]
    put = trader.client.put(
        f"/api/models/{model}/secrets/EXCHANGE_KEY", json={"value": "hunter2-and-more"}
    )
    assert put.status_code == 200, put.text
    deployed = trader.deploy(
        "import os\nkey = os.environ['EXCHANGE_KEY']\nprint(len(key), 'it is', key)\n"
        "print('pass', os.environ['TAPELINE_API_PASS'])\n",
        model=model,
    )
    trader.wait_for_end(deployed)
    assert "16 it is ***" in trader.lines(model)
    assert "pass ***" in trader.lines(model)
    data = trader.server.home.data
    for file in paths_below(data):
        with suppress(FileNotFoundError):
            assert not file.is_file() or b"hunter2" not in file.read_bytes(), file


def test_a_backtest_function_is_called_and_its_result_and_status_recorded(trader: Trader) -> None:
    script = """
def backtest(symbol="BTC-USD", steps=3, **other):
    print("testing", symbol, steps, other)
    return {"symbols": [symbol], "quote_asset": "USD", "start_time": 0, "stop_time": steps,
            "account_values": [{"time": t, "value": 100.0 + t} for t in range(steps)],
            "trades": [], "metrics": {}, "indicators": {}}

if __name__ == "__main__":
    raise SystemExit("this is not how a backtest starts")
"""
    tested = trader.backtest(
        script, backtestArgs="{'steps': 5, 'extra': None}", backtestDescription="more steps"
    )
    run = trader.wait_for_end(tested)
    assert run["state"] == "exited", trader.backtest_lines(tested)
    assert "testing BTC-USD 5 {'extra': None}" in trader.backtest_lines(tested, "stdout")
    assert "Running." in trader.backtest_lines(tested, "system"), "viewers see that it runs"
    found = trader.get(
        f"/api/models/{tested['modelId']}/runs", kind="backtest", backtest=tested["backtestId"]
    )["items"]
    assert [(one["arguments"], one["description"]) for one in found] == [
        ({"steps": 5, "extra": None}, "more steps")
    ]
    assert trader.get(f"/api/models/{tested['modelId']}/runs", kind="live")["items"] == []
    path = f"/api/models/{tested['modelId']}/backtests/{tested['backtestId']}"
    shown = trader.get(path)
    assert shown["status"]["successful"] is True
    assert shown["status"]["time_elapsed"] > 0
    assert shown["symbols"] == ["BTC-USD"]
    assert shown["counts"]["account_values"] == 5
    assert shown["description"] == "more steps"
    assert trader.lines(tested["modelId"]) == [], "a backtest says nothing in the live log"
    assert trader.lifecycle(tested["modelId"])["message"] is None


def test_a_backtest_that_reports_as_if_it_were_live_writes_nothing_live(trader: Trader) -> None:
    script = """
import json, os, urllib.error, urllib.request

def post(path, body):
    names = {"model_id": "MODEL_ID", "api_key": "API_KEY", "api_pass": "API_PASS"}
    headers = {key: os.environ["TAPELINE_" + name] for key, name in names.items()}
    headers["Content-Type"] = "application/json"
    url = os.environ["TAPELINE_URL"] + path
    try:
        urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers))
        print(path, 200)
    except urllib.error.HTTPError as error:
        print(path, error.code, json.load(error)["code"])

order = {"symbol": "BTC-USD", "exchange": "x", "id": "o", "side": "buy", "size": 1, "price": 2}
post("/v1/live/spot-limit", order)
post("/v1/live/screener-result", {"result": {"BTC-USD": {"score": 1}}})
post("/v1/model/lifecycle", {"message": "I am alive", "running": True})
post("/v1/live/log", {"line": "by habit"})
"""
    archive = zipped({"main.py": script}, type="screener", screener={"schedule": "0 0 1 1 *"})
    tested = trader.backtest("", archive=archive, type="screener")
    run, model = trader.wait_for_end(tested), tested["modelId"]
    assert run["state"] == "exited", trader.backtest_lines(tested)
    said = trader.backtest_lines(tested)
    assert {"by habit", "/v1/live/log 200", "/v1/model/lifecycle 200"} <= set(said)
    assert "/v1/live/spot-limit 409 backtest_key" in said
    assert "/v1/live/screener-result 409 backtest_key" in said
    assert trader.lifecycle(model)["message"] != "I am alive"
    assert trader.get(f"/api/models/{model}/orders")["items"] == []
    assert trader.get(f"/api/models/{model}/screener/history")["items"] == []
    assert trader.lines(model) == []


def test_a_failing_backtest_keeps_its_traceback(trader: Trader) -> None:
    tested = trader.backtest("def backtest():\n    return 1 / 0\n")
    run = trader.wait_for_end(tested)
    assert run["state"] == "crashed"
    path = f"/api/models/{tested['modelId']}/backtests/{tested['backtestId']}"
    status = trader.get(path)["status"]
    assert status["successful"] is False
    assert "ZeroDivisionError" in status["status_summary"]
    assert "return 1 / 0" in status["status_details"]
    assert "bootstrap" not in status["status_details"]


def test_a_script_without_a_function_is_its_own_backtest(trader: Trader) -> None:
    script = "import os\nprint(os.environ['BACKTESTING'], os.environ['TAPELINE_BACKTEST_ARGS'])\n"
    good = trader.backtest(script, backtestArgs='{"to": "1y"}')
    bad = trader.backtest("raise SystemExit(3)")
    assert trader.wait_for_end(good)["state"] == "exited"
    assert '1 {"to": "1y"}' in trader.backtest_lines(good)
    run = trader.wait_for_end(bad)
    assert (run["state"], run["exit_code"]) == ("crashed", 3)


def test_a_backtest_can_be_cancelled_while_it_runs_and_while_it_waits(trader: Trader) -> None:
    running = trader.backtest(FOREVER)
    model = running["modelId"]
    trader.wait_for_state(running, "running")
    trader.post(f"/api/models/{model}/runs/{running['runId']}/stop")
    assert trader.wait_for_end(running)["state"] == "stopped"
    path = f"/api/models/{model}/backtests/{running['backtestId']}"
    assert trader.get(path)["status"]["successful"] is False
    assert trader.post(f"/api/models/{model}/runs/{running['runId']}/stop", 409)["code"] == (
        "run_has_ended"
    )


@pytest.fixture(scope="module", autouse=True)
def screener(trader: Trader) -> dict[str, Any]:
    """Deployed before any other test, so that its minute passes while they run."""
    script = "import time\nprint('screened', flush=True)\n"
    archive = zipped({"main.py": script}, type="screener", screener={"schedule": "* * * * *"})
    wait_for(lambda: time.time() % 60 < 40)  # its minute must not begin before we have looked
    deployed = trader.deploy("", archive=archive, type="screener")
    waiting = trader.run(deployed["modelId"], deployed["runId"])
    assert (waiting["kind"], waiting["state"]) == ("screener", "pending")
    assert 0 < waiting["next_run_at"] - time.time() <= 60
    return deployed


def test_a_screener_runs_at_its_ticks_one_at_a_time(
    trader: Trader, screener: dict[str, Any]
) -> None:
    model = screener["modelId"]
    wait_for(lambda: "screened" in trader.lines(model), 90)
    assert trader.wait_for_end(screener)["state"] == "exited"

    def states() -> list[str]:
        return [one["state"] for one in trader.get(f"/api/models/{model}/runs")["items"]]

    now, *before = states()
    assert (now != "exited", set(before)) == (True, {"exited"}), "the next tick, and those before"
    trader.kill(model)
    wait_for(lambda: states()[0] == "stopped")


@pytest.mark.parametrize("version", [one.version for one in pythons()])
def test_every_python_of_this_host_runs_live_and_as_a_backtest(
    trader: Trader, version: str
) -> None:
    archive = zipped(
        {
            "main.py": (
                "import sys, six\nprint('on', '%d.%d' % sys.version_info[:2], six.__version__)\n"
                "def backtest(x):\n    print('x is', x)\n"
                "    return {'symbols': ['A'], 'quote_asset': 'USD', 'start_time': 0,"
                " 'stop_time': 1, 'account_values': [{'time': 0, 'value': x}], 'trades': []}\n"
            ),
            "requirements.txt": "six\n",
        },
        requirements="requirements.txt",
    )
    live = trader.deploy("", archive=archive, pythonVersion=version)
    tested = trader.backtest("", archive=archive, pythonVersion=version, backtestArgs='{"x": 7}')
    assert trader.wait_for_end(live)["state"] == "exited"
    assert any(line.startswith(f"on {version} 1.") for line in trader.lines(live["modelId"]))
    assert trader.wait_for_end(tested)["state"] == "exited", trader.backtest_lines(tested)
    shown = trader.get(f"/api/models/{tested['modelId']}/backtests/{tested['backtestId']}")
    assert shown["status"]["successful"] is True
    assert shown["counts"]["account_values"] == 1


def test_deleting_a_model_ends_what_runs_of_it(trader: Trader) -> None:
    deployed = trader.deploy(FOREVER)
    model = deployed["modelId"]
    trader.wait_for_line(model, "here")
    runs = trader.server.home.data / "runs"
    assert (runs / deployed["runId"]).exists()
    trader.post("/model/delete", json={"projectId": trader.user_id, "modelId": model})
    wait_for(lambda: not (runs / deployed["runId"]).exists())
