"""Where a client reports to, and what it says when that is not clear."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tapeline_client import ConfigurationError
from tapeline_client.config import Address, resolve, state_folder

from tests.client.test_killed import CLIENT, environment
from tests.pushing import Model

FULL = {"TAPELINE_MODEL_ID": "m", "TAPELINE_API_KEY": "k", "TAPELINE_API_PASS": "p"}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def test_arguments_come_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    said = {"url": "https://file.example/", "model_id": "file", "api_key": "f", "api_pass": "f"}
    (tmp_path / "tapeline.json").write_text(json.dumps(said))
    found = resolve({"model_id": "argument"}, {"TAPELINE_API_KEY": "environment"})
    assert found == Address("https://file.example", "argument", "environment", "f")


def test_a_file_may_be_in_the_persons_configuration_or_named(tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".config" / "tapeline"
    folder.mkdir(parents=True)
    (folder / "tapeline.json").write_text('{"model_id": "m", "api_key": "k", "api_pass": "p"}')
    assert resolve({}, {}) == Address("http://127.0.0.1:8700", "m", "k", "p")
    with pytest.raises(ConfigurationError, match="which does not exist"):
        resolve({}, {"TAPELINE_CONFIG": "nowhere.json"})


def test_the_older_platforms_names_are_read(tmp_path: Path) -> None:
    slate = {"SLATE_MODEL_ID": "m", "SLATE_API_KEY": "k", "SLATE_API_PASS": "p"}
    assert resolve({}, slate).model_id == "m"
    bare = {"MODEL_ID": "m", "API_KEY": "k", "API_PASS": "p"}
    with pytest.raises(ConfigurationError):
        resolve({}, bare)  # an exchange's key, for all we know
    assert resolve({}, {**bare, "URL_MODEL_EVENTS_API": "http://h:1"}).url == "http://h:1"


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "needs model_id and api_key and api_pass: .* set TAPELINE_MODEL_ID"),
        ({**FULL, "TAPELINE_URL": "example.com"}, "url must look like http://host:port"),
        ({**FULL, "TAPELINE_API_KEY": "k\nx: y"}, "api_key holds characters"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(variables: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        resolve({}, variables)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "tapeline.json").write_text("{")
    with pytest.raises(ConfigurationError, match=r"tapeline\.json could not be read"):
        resolve({}, {})


def test_events_wait_in_the_models_folder_or_the_persons_cache() -> None:
    assert state_folder({"TAPELINE_STATE_DIR": "/state"}) == "/state/tapeline-client"
    assert state_folder({"XDG_CACHE_HOME": "/cache"}) == "/cache/tapeline-client"


def test_a_model_without_configuration_runs_and_is_told_once(tmp_path: Path) -> None:
    script = "import tapeline_client as t\nt.log('a')\nt.log('b')\nassert t.flush()\nprint('ran')"
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(CLIENT), "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "ran\n")
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith("Events are not sent. Tapeline needs model_id")


def test_what_was_set_apart_can_be_sent_by_hand(model: Model, tmp_path: Path) -> None:
    variables = environment(model.service.address, model.headers, tmp_path / "state")
    event = {"path": "/v1/live/log", "time": 5.0, "body": {"line": "late", "type": "stdout"}}
    kept = tmp_path / "rejected.ndjson"
    kept.write_text(json.dumps({"error": "no", "event": event}) + "\n" + json.dumps(event) + "\n")
    for arguments, said in ((["send", str(kept)], "2 events sent"), (["status"], "events wait in")):
        ended = subprocess.run(
            [sys.executable, "-m", "tapeline_client", *arguments],
            env=variables, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr  # which has a word about a server that is slow
        assert said in ended.stdout
    assert [one["time"] for one in model.items("/logs")] == [5.0, 5.0]


def test_a_file_alone_is_enough(model: Model, tmp_path: Path) -> None:
    said = {"url": model.service.address, **model.headers}
    (tmp_path / "tapeline.json").write_text(json.dumps(said))
    script = "import tapeline_client as t\nt.log('by a file')\nassert t.flush(60)"
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(CLIENT), "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert model.items("/logs")[0]["line"] == "by a file"
