"""A model's life at the command line: from an example folder to a checked record of what it did."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.conftest import Person, plain, until
from tests.waiting import A_PROGRAM, wait_for

pytestmark = pytest.mark.heavy

TICKS = """import time
print("hello from {word}", flush=True)
while True:
    print("tick", flush=True)
    time.sleep(0.2)
"""
# Seconds for `deploy` of a model that ends, however late on a slow machine.
LATE = "30"


def write_model(folder: Path, main: str, **keys: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "main.py").write_text(main)
    (folder / "platform.json").write_text(json.dumps({"main_script": "main.py", **keys}))
    return folder


@pytest.fixture(scope="module")
def live(ada: Person) -> Iterator[dict[str, Any]]:
    """A model with two versions, of which the second runs."""
    folder = write_model(ada.at / "live", TICKS.format(word="one"))
    ada.does("deploy", "live", "--new", "--name", "Live", "--note", "the first")
    (folder / "main.py").write_text(TICKS.format(word="two"))
    answer = ada.gets("deploy", "live", "--note", "the second")
    yield answer
    ada.does("stop", "Live")


def test_an_example_becomes_a_running_model(ada: Person) -> None:
    assert "moving-average" in ada.does("init", "--list")
    said = ada.does("init", "trend")
    assert "main.py, platform.json" in said
    assert "a model in" in ada.fails(1, "init", "trend")
    ended = ada.run("deploy", "trend", "--new", "--note", "first try")
    assert ended.returncode == 0, ended.stderr
    assert "Packed 2 files" in ended.stderr
    assert "Running." in ended.stderr
    wait_for(lambda: "price " in ada.does("logs", "trend"))
    manifest = json.loads((ada.at / "trend/platform.json").read_text())
    page = ended.stdout.strip().splitlines()[-1]
    place = f"{manifest['project_id']}/{manifest['model_id']}/overview"
    assert page == f"{ada.server.address}/{place}"
    assert ada.does("open", "trend", "--print").strip() == page
    ada.does("delete", "trend", "--yes")
    said = ada.fails(4, "deploy", "trend")
    assert f"platform.json names the model {manifest['model_id']}" in said
    assert "--new" in said


def test_a_screener_waits_for_its_time(ada: Person) -> None:
    ada.does("init", "watch", "--type", "screener")
    ended = ada.run("deploy", "watch", "--new")
    assert ended.returncode == 0, ended.stderr
    assert "Runs on schedule */15 * * * *, next at " in ended.stderr


def test_a_backtest_shows_what_came_of_it(ada: Person) -> None:
    ada.does("init", "tested")
    ended = ada.run("backtest", "tested", "--new", "-a", "days=400", "-a", "fast=5")
    assert ended.returncode == 0, ended.stderr
    for expected in ("Done in", "BTC-USD", "METRIC", "Sharpe ratio", "▁", "/backtest"):
        assert expected in ended.stdout
    answer = ada.gets("backtest", "tested", "--arg", "days=50", "--description", "longer")
    assert answer["backtest"]["status"]["successful"] is True
    assert answer["backtest"]["counts"]["account_values"] == 50
    first, second = (one["backtest_id"] for one in ada.gets("backtests", "list", "tested"))
    assert first == answer["backtestId"]
    assert "longer" in ada.does("backtests", "list", "tested")
    shown = ada.gets("backtests", "show", first, "--model", "tested")
    assert shown["metrics"]["computed"]["total_return"]["value"] is not None
    compared = ada.does("backtests", "compare", first, second, "-m", "tested")
    assert first in compared
    assert "Sharpe ratio" in compared
    assert len(ada.gets("backtests", "compare", first, second, "-m", "tested")["items"]) == 2
    stored = ada.gets("backtest", "-m", "tested", "--version", "1", "-a", "days=30")
    assert stored["backtest"]["counts"]["account_values"] == 30
    assert "Running." in ada.does("logs", "tested", "--backtest", first)


def test_an_unchanged_folder_is_not_uploaded_again(ada: Person) -> None:
    folder = write_model(ada.at / "same", "def backtest(n=1): print('n is', n)\n")
    first = ada.gets("backtest", "same", "--new", "--detach")
    ended = ada.run("backtest", "same", "-a", "n=2")
    assert ended.returncode == 0, ended.stderr
    assert "Nothing has changed since version 1, so that version is used." in ended.stderr
    assert "n is 2" in ended.stdout
    (folder / ".gitignore").write_text("notes.md\n")
    (folder / "notes.md").write_text("not part of the model")
    assert ada.gets("backtest", "same", "--detach")["version"] == 2, "the .gitignore is new"
    (folder / "notes.md").write_text("still not")
    assert ada.gets("deploy", "same", "--note", "live", "--detach")["version"] == 2
    assert ada.gets("backtest", "same", "--detach", "--upload")["version"] == 3
    assert ada.gets("deploy", "same", "--detach", "--python", "3.11")["version"] == 4
    (folder / "main.py").write_text("def backtest(n=1): print('now', n)\n")
    assert ada.gets("backtest", "same", "--detach")["version"] == 5
    assert [one["version"] for one in ada.gets("versions", "same")] == [5, 4, 3, 2, 1]
    said = ada.fails(1, "deploy", "same", "--new")
    assert f"this folder is same ({first['modelId']})" in said
    assert "remove model_id from platform.json" in said
    ada.does("delete", "same", "--yes")
    ada.does("deploy", "same", "--new", "--detach")  # the one it knew is gone


def test_what_is_wrong_with_a_folder_is_said_before_it_is_sent(ada: Person) -> None:
    folder = write_model(ada.at / "wrong", "print(\n")
    said = ada.fails(1, "deploy", "wrong", "--new")
    assert "main.py, line 1 is not valid Python" in said
    assert "wrong" not in ada.does("ps")
    assert ada.run("deploy", "wrong", "--new", "--no-check", TESTS_FIRST_LINES=LATE).returncode == 6
    (folder / "main.py").write_text("print()\n")
    for number in range(12):
        (folder / f"noise-{number}.bin").write_bytes(os.urandom(9_000_000 + number))
    ended = ada.run("deploy", "wrong")
    assert ended.returncode == 1
    lines = ended.stderr.splitlines()
    assert lines[1].split() == ["9.0", "MB", "noise-11.bin"]
    assert any("and 4 more" in line for line in lines)
    assert "Its largest files: noise-11.bin (9.0 MB), noise-10.bin" in lines[-1]
    assert ".tapelineignore" in lines[-1]


def test_arguments_keep_their_types(ada: Person) -> None:
    write_model(
        ada.at / "typed",
        "import json\ndef backtest(**given): print(json.dumps(given, sort_keys=True))\n",
        backtest_args={"kept": 1, "n": 0},
    )
    ended = ada.run(
        "backtest", "typed", "--new", "-a", "n=3", "-a", "share=0.5", "-a", "on=true",
        "-a", "off=False", "-a", 'many=["a", 1]', "-a", "word=BTC-USD", "-a", "none=null",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert (
        '{"kept": 1, "many": ["a", 1], "n": 3, "none": null, "off": false, "on": true,'
        ' "share": 0.5, "word": "BTC-USD"}'
    ) in ended.stdout
    assert "KEY=VALUE" in ada.fails(2, "backtest", "typed", "-a", "n")


def test_a_failed_backtest_has_a_status_of_its_own(ada: Person) -> None:
    write_model(ada.at / "failing", "def backtest():\n    raise ValueError('no prices')\n")
    ended = ada.run("backtest", "failing", "--new")
    assert ended.returncode == 6
    assert "Failed" in ended.stdout
    assert "no prices" in ended.stdout
    assert "tapeline: The backtest failed" in ended.stderr


def test_a_model_that_crashes_at_once_fails_its_deploy(ada: Person) -> None:
    write_model(ada.at / "crashing", "raise SystemExit('no key')\n")
    said = ada.fails(6, "deploy", "crashing", "--new", TESTS_FIRST_LINES=LATE)
    assert "crashed" in said
    ada.does("stop", "crashing")
    write_model(ada.at / "missing", "print()\n", requirements="requirements.txt")
    assert "requirements" in ada.fails(1, "deploy", "missing", "--new")


def test_ps_shows_how_models_do(ada: Person, live: dict[str, Any]) -> None:
    table = ada.does("ps")
    assert "MODEL" in table
    row = next(line for line in table.splitlines() if line.startswith("Live"))
    assert "running" in row
    found = {one["name"]: one for one in ada.gets("ps", "--running")}
    assert found["Live"]["run"]["run_id"] == live["runId"]
    watching = ada.begins("ps", "--watch", "--json")
    assert live["modelId"] in until(watching, live["modelId"])
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=A_PROGRAM)
    assert watching.returncode == 130


def test_logs_are_tailed_filtered_and_followed(ada: Person, live: dict[str, Any]) -> None:
    # A new version starts while the one before still writes its last lines.
    wait_for(lambda: "hello from two" in ada.does("logs", "Live", "-g", "hello"))
    assert len(ada.does("logs", "Live", "-n", "3").splitlines()) == 3
    lines = [json.loads(one) for one in ada.does("logs", "Live", "-n", "5", "--json").splitlines()]
    assert [one["seq"] for one in lines] == sorted(one["seq"] for one in lines)
    assert set(ada.does("logs", "Live", "--type", "stdout", "-n", "2", "--no-times").split()) == {
        "tick"
    }
    assert "tick" in ada.does("logs", "Live", "--since", "1m")
    assert ada.does("logs", "Live", "--since", "2030-01-01") == ""
    assert "is not a time" in ada.fails(2, "logs", "Live", "--since", "yesterday")
    following = ada.begins("logs", "Live", "-f", "-n", "2", "--json")
    assert following.stdout is not None
    seen = [json.loads(following.stdout.readline())["seq"] for _ in range(6)]
    following.send_signal(signal.SIGINT)
    following.communicate(timeout=A_PROGRAM)
    assert seen == sorted(set(seen)), "every line once, in order, from the tape to the stream"
    assert following.returncode == 130


def test_stop_start_and_rollback(ada: Person, live: dict[str, Any]) -> None:
    versions = ada.gets("versions", "Live")
    assert [one["description"] for one in versions] == ["the second", "the first"]
    assert "the first" in ada.does("versions", "Live")
    assert "Live is stopped." in ada.does("stop", "Live")
    assert "Live is not running." in ada.does("stop", "Live")
    assert ada.gets("start", "Live")["version"] == 2
    back = ada.gets("rollback", "v1", "-m", "Live")
    assert (back["version"], back["run"]["state"]) == (1, "running")
    wait_for(lambda: "hello from one" in ada.does("logs", "Live"))
    assert "has no version 9" in ada.fails(4, "rollback", "9", "-m", "Live")
    runs = ada.gets("runs", "Live")
    assert runs[0]["run_id"] == back["runId"]
    assert "took its place" in ada.does("runs", "Live")
    stopped = ada.gets("stop", "Live", "--run", back["runId"])
    assert stopped["run"]["state"] == "stopped"
    again = ada.gets("start", "Live")
    assert again["version"] == 1, "a start after a rollback runs what was rolled back to"
    assert ada.gets("start", "Live", "--version", "2")["version"] == 2
    assert "Live is stopped." in ada.does("stop", "Live")


def test_the_folder_knows_its_model(ada: Person, live: dict[str, Any]) -> None:
    before = ada.at
    ada.at = before / "live"
    try:
        assert ada.gets("open", "--print")["url"].endswith(f"{live['modelId']}/overview")
    finally:
        ada.at = before
    assert "Which model?" in ada.fails(2, "logs")


def test_orders_and_profit_are_shown(ada: Person) -> None:
    write_model(ada.at / "orders", "print()\n")
    made = ada.gets("deploy", "orders", "--new", "--detach")
    key = ada.gets("keys", "new", "--name", "pusher")
    headers = {
        "model-id": made["modelId"], "api-key": key["apiKey"], "api-pass": key["apiPass"]
    }  # fmt: skip
    for number, (side, price) in enumerate([("buy", 100.0), ("sell", 130.0)]):
        order = {
            "id": f"o{number}", "symbol": "BTC-USD", "exchange": "kraken", "side": side,
            "size": 2 - number, "price": price,
        }  # fmt: skip
        answer = httpx.post(
            f"{ada.server.address}/v1/live/spot-limit", json=order, headers=headers, verify=False
        )
        assert answer.status_code == 200, answer.text
    assert [one["id"] for one in ada.gets("orders", "orders")] == ["o1", "o0"]
    assert [one["id"] for one in ada.gets("orders", "orders", "--side", "buy")] == ["o0"]
    table = ada.does("orders", "orders")
    assert "BTC-USD" in table
    assert "130" in table
    assert ada.gets("pnl", "orders")["realized"] == 30
    assert "+30.00" in ada.does("pnl", "orders")
    assert "+60.00" in ada.does("ps")


def test_a_record_is_exported_and_checked_elsewhere(ada: Person, person: Person) -> None:
    said = ada.does("export", "tested", "--output", str(person.at / "tested.record"))
    assert "tapeline verify" in said
    file = person.at / "tested.record"
    checked = person.run("verify", str(file))
    assert checked.returncode == 3, "no server has said whose key it is"
    assert "does not prove" in checked.stdout.lower()
    served = ("--server", ada.server.address)
    assert person.gets("verify", str(file), *served)["verdict"] == "proven"
    lines = file.read_text().splitlines()
    (person.at / "changed.record").write_text("\n".join([*lines[:2], *lines[3:]]) + "\n")
    assert person.run("verify", "changed.record").returncode == 1
    assert "cannot be read" in person.fails(1, "verify", "nothing")


def test_deploy_asks_whom_it_is_for_at_a_terminal(ada: Person) -> None:
    write_model(ada.at / "asked", "print('was asked')\n")
    code, sent = ada.in_terminal("deploy", "asked", types="Asked one\n", TESTS_FIRST_LINES=LATE)
    assert code == 0, sent
    assert "Name of the new model in project Personal" in plain(sent)
    assert "was asked" in plain(sent)
    assert "Asked one" in {one["name"] for one in ada.gets("ps")}
    write_model(ada.at / "asked", "print('again')\n", model_name="Asked one")
    code, sent = ada.in_terminal("deploy", "asked", types="y\n", TESTS_FIRST_LINES=LATE)
    assert code == 0, sent
    assert "Make this a new version of Asked one" in plain(sent)
    assert ada.gets("versions", "Asked one")[0]["version"] == 2


def test_a_terminal_gets_colours_and_no_line_too_long(ada: Person, live: dict[str, Any]) -> None:
    for columns in (80, 120):
        _, sent = ada.in_terminal("ps", columns=columns)
        assert "\x1b[" in sent
        assert max(len(line) for line in plain(sent).splitlines()) <= columns
    _, sent = ada.in_terminal("ps", NO_COLOR="1")
    assert "\x1b[3" not in sent
    assert "\x1b" not in ada.does("ps")


def test_a_large_upload_has_a_bar_at_a_terminal_alone(ada: Person) -> None:
    folder = write_model(ada.at / "large", "print('large')\n")
    (folder / "noise").write_bytes(os.urandom(3_000_000))
    code, sent = ada.in_terminal("deploy", "large", "--new", "--detach")
    assert code == 0, sent
    assert "Uploading" in plain(sent)
    ended = ada.run("deploy", "large", "--detach")
    assert "Uploading" not in ended.stdout + ended.stderr


def test_a_version_comes_back_as_it_was_uploaded(ada: Person) -> None:
    folder = write_model(ada.at / "pulled", "print('first')\n")
    (folder / "data").mkdir()
    (folder / "data/a.csv").write_text("1,2\n")
    made = ada.gets("deploy", "pulled", "--new", "--detach")
    (folder / "main.py").write_text("print('second')\n")
    ada.does("deploy", "pulled", "--detach")
    said = ada.does("pull", "1", "--model", "pulled")
    back = ada.at / "pulled-v1"
    assert f"{back} holds version 1 of pulled: 3 files." in said
    assert (back / "main.py").read_text() == "print('first')\n"
    assert (back / "data/a.csv").read_text() == "1,2\n"
    assert json.loads((back / "platform.json").read_text())["model_id"] == made["modelId"]
    assert ada.gets("backtest", "pulled-v1", "--detach")["version"] == 1, "and is known"
    assert "already" in ada.fails(1, "pull", "1", "--model", "pulled")
    ada.does("pull", "v2", "--model", "pulled", "--zip", "two.zip")
    assert (ada.at / "two.zip").read_bytes().startswith(b"PK")
    assert "has no version 9" in ada.fails(4, "pull", "9", "--model", "pulled")


def test_a_model_of_ones_own_becomes_a_starter_model(ada: Person) -> None:
    write_model(ada.at / "mine", "print('mine')\n")
    ada.does("deploy", "mine", "--new", "--detach")
    assert "--from my-start" in ada.does("models", "publish", "my-start", "--model", "mine")
    assert "my-start" in ada.does("init", "--list")
    assert "holds the example my-start" in ada.does("init", "copy", "--from", "my-start")
    assert (ada.at / "copy/main.py").read_text() == "print('mine')\n"
    public = httpx.get(f"{ada.server.address}/model/starter-models", verify=False).json()
    assert "my-start" not in {one["shortName"] for one in public}, "only for those signed in"
    hidden = httpx.get(f"{ada.server.address}/model/starter-models/my-start.zip", verify=False)
    assert hidden.status_code == 404
    taken = ada.fails(1, "models", "publish", "moving-average", "--model", "mine")
    assert "has this name" in taken
    ada.does("models", "unpublish", "my-start", "--model", "mine")
    assert "There is no example my-start" in ada.fails(2, "init", "again", "--from", "my-start")


def test_a_model_that_runs_elsewhere_and_what_a_screener_found(ada: Person) -> None:
    made = ada.gets("models", "new", "Elsewhere", "--type", "screener")
    assert "no result yet" in ada.run("screener", "Elsewhere").stderr
    key = ada.gets("keys", "new")
    headers = {
        "model_id": made["modelId"], "api_key": key["apiKey"], "api_pass": key["apiPass"],
    }  # fmt: skip
    for price in (1.5, 2.5):
        result = {"AAPL": {"price": price, "buy": True}, "MSFT": {"price": 3, "buy": False}}
        httpx.post(
            f"{ada.server.address}/v1/live/screener-result",
            json={"result": result},
            headers=headers,
            verify=False,
        ).raise_for_status()
    shown = [line.split() for line in ada.does("screener", "Elsewhere", "--wait").splitlines()]
    assert shown == [["SYMBOL", "PRICE", "BUY"], ["AAPL", "2.5", "yes"], ["MSFT", "3", "no"]]
    assert len(ada.gets("screener", "Elsewhere", "--history")) == 2


def test_backtests_say_what_they_were_called_with(ada: Person) -> None:
    write_model(ada.at / "called", "def backtest(n=1, word='a', same=0): print(n)\n")
    ada.does("backtest", "called", "--new", "-a", "n=2", "-a", "word=x y", "-a", "same=1")
    ada.does("backtest", "called", "-a", "n=3", "-a", "word=z", "-a", "same=1")
    second, first = ada.gets("backtests", "list", "called")
    assert first["arguments"] == {"n": 2, "word": "x y", "same": 1}
    assert "n=3 word=z same=1" in ada.does("backtests", "list", "called")
    assert "Called with n=2 word=x y same=1" in ada.does(
        "backtests", "show", first["backtest_id"], "-m", "called"
    )
    ids = [first["backtest_id"], second["backtest_id"]]
    compared = ada.gets("backtests", "compare", *ids, "-m", "called")
    assert [one["arguments"]["n"] for one in compared["items"]] == [2, 3]
    rows = [
        line.split() for line in ada.does("backtests", "compare", *ids, "-m", "called").splitlines()
    ]
    assert ["n", "2", "3"] in rows
    assert not any(row[:1] == ["same"] for row in rows)


def test_ctrl_c_on_a_backtest_says_that_it_goes_on(ada: Person) -> None:
    write_model(
        ada.at / "long",
        "import time\ndef backtest():\n    print('began', flush=True)\n    time.sleep(300)\n",
    )
    following = ada.begins("backtest", "long", "--new")
    until(following, "began")
    following.send_signal(signal.SIGINT)
    _, said = following.communicate(timeout=A_PROGRAM)
    assert following.returncode == 130
    assert "The backtest continues." in said
    stop = next(line for line in said.splitlines() if "Stop it with: tapeline " in line)
    ada.does(*stop.partition("tapeline ")[2].split())
