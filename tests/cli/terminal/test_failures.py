"""What goes wrong is one sentence that says what to do, and a status a script can act on."""

import json
import re
from pathlib import Path

import httpx
import pytest

from tapeline.cli.terminal.failures import EXIT_CODES
from tests.acceptance.conftest import PASSWORD, Home, Server, free_port
from tests.cli.conftest import Person

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[3]


def test_a_server_that_is_not_there(person: Person) -> None:
    gone = f"http://127.0.0.1:{free_port()}"
    said = person.fails(5, "ps", "--server", gone, TAPELINE_TOKEN="some-token")
    assert f"{gone} cannot be reached: nothing listens there." in said
    assert "Is the server running?" in said
    said = person.fails(5, "login", "--server", gone, "--no-browser")
    assert "cannot be reached" in said


def test_an_address_that_is_no_tapeline(person: Person, server: Server) -> None:
    elsewhere = f"{server.address}/elsewhere"
    said = person.fails(4, "ps", "--server", elsewhere, TAPELINE_TOKEN="x.y.z")
    assert f"There is nothing at {elsewhere}/api/me" in said
    assert "Is it a Tapeline server" in said
    assert "is not a server address" in person.fails(2, "ps", "--server", "http://")


def test_who_is_not_signed_in_is_told_how(person: Person, server: Server) -> None:
    assert "tapeline login" in person.fails(3, "ps")
    said = person.fails(3, "ps", "--server", server.address)
    assert f"Run: tapeline login --server {server.address}" in said
    assert "tapeline login" in person.fails(
        3, "ps", "--server", server.address, TAPELINE_TOKEN="a.b.c"
    )


def test_what_is_not_there_is_said(ada: Person) -> None:
    assert "There is no model nope here." in ada.fails(4, "logs", "nope")
    assert "There is no project nope here." in ada.fails(4, "ps", "--project", "nope")
    ada.does("projects", "new", "Empty")
    assert ada.run("ps").stderr.startswith("Project Empty has no models yet.")
    ada.does("projects", "use", "Personal")


def test_two_models_of_one_name_are_told_apart_by_id(ada: Person) -> None:
    ids = [ada.gets("models", "new", "twin")["modelId"] for _ in range(2)]
    said = ada.fails(1, "logs", "twin")
    assert "There are 2 models named twin." in said
    assert all(one in said for one in ids)
    assert ada.gets("open", ids[0], "--print")["url"].endswith(f"{ids[0]}/overview")


def test_a_folder_that_is_no_model(ada: Person) -> None:
    (ada.at / "nothing").mkdir()
    said = ada.fails(1, "deploy", "nothing", "--new")
    assert "There is no platform.json" in said
    assert "tapeline init nothing" in said
    assert "is not a folder" in ada.fails(1, "deploy", "nowhere", "--new")
    (ada.at / "nothing/platform.json").write_text("{")
    assert "cannot be read" in ada.fails(1, "deploy", "nothing", "--new")
    (ada.at / "nothing/platform.json").write_text('{"main_script": "gone.py"}')
    said = ada.fails(1, "deploy", "nothing", "--new")
    assert "`main_script` in platform.json is 'gone.py'" in said
    (ada.at / "nothing/gone.py").write_text("print()")
    said = ada.fails(2, "deploy", "nothing")
    assert "Use --new, or --model NAME" in said
    assert "huge" in ada.fails(1, "deploy", "nothing", "--new", "--plan", "huge")
    assert json.loads((ada.at / "nothing/platform.json").read_text()) == {"main_script": "gone.py"}


def test_an_archive_that_is_too_large_is_said_in_the_server_s_words(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = Home(tmp_path_factory.mktemp("small"))
    server = home.up(TAPELINE_MAX_ARCHIVE="100000")
    home.run("user", "add", "ada@example.com", stdin=PASSWORD)
    try:
        person = Person(tmp_path / "person", server).signs_in()
        (person.at / "fat").mkdir()
        (person.at / "fat/platform.json").write_text('{"main_script": "main.py"}')
        (person.at / "fat/main.py").write_text("print()")
        noise = (person.at / "fat/noise").open("wb")
        with noise, Path("/dev/urandom").open("rb") as source:
            noise.write(source.read(20_000_000))
        assert "larger than" in person.fails(1, "deploy", "fat", "--new")
    finally:
        home.close()


def test_how_a_command_is_written_wrongly(person: Person) -> None:
    assert "No such command 'lgs'. Did you mean logs?" in person.fails(2, "lgs")
    assert "Try: tapeline logs --help" in person.fails(2, "logs", "--nonsense")
    assert "not both" in person.fails(2, "login", "--token", "x", "--email", "a@b.c")


def test_what_cannot_be_undone_is_not_done_unasked(ada: Person) -> None:
    ada.does("projects", "new", "Precious")
    assert "--yes" in ada.fails(2, "projects", "rm", "Precious")
    code, sent = ada.in_terminal("projects", "rm", "Precious", types="n\n")
    assert code == 130
    assert "Delete Precious" in sent
    ada.does("projects", "rm", "Precious", "--yes")


def test_a_traceback_is_shown_only_to_who_asks(person: Person) -> None:
    assert "Traceback" in person.run("ps", "--debug").stderr
    assert "Traceback" in person.run("--debug", "ps").stderr
    (person.at / ".config").write_text("a file where a folder should be")
    assert "Traceback" not in person.run("ps").stderr


def test_debug_shows_the_requests(ada: Person) -> None:
    said = ada.run("whoami", "--debug").stderr
    assert re.search(r"debug: GET http://\S+/api/me 200 \d+ ms", said)


def test_a_pipe_that_closes_early_is_no_failure_to_shout_about(ada: Person) -> None:
    process = ada.begins("projects", "list", "--json")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    process.wait(30)
    assert "Traceback" not in said
    assert "BrokenPipe" not in said


def test_control_characters_never_reach_the_terminal(ada: Person) -> None:
    made = ada.gets("projects", "new", "Plain")
    model = httpx.post(
        f"{ada.server.address}/model/create-model",
        json={"projectId": made["projectId"], "name": "Evil"},
        headers={"token": _token(ada)},
        verify=False,
    ).json()["modelId"]
    key = ada.gets("keys", "new")
    httpx.post(
        f"{ada.server.address}/v1/live/log",
        json={"line": "before\x1b[2J\x1b]0;title\x07after\u202e", "type": "stdout"},
        headers={"model-id": model, "api-key": key["apiKey"], "api-pass": key["apiPass"]},
        verify=False,
    )
    _, sent = ada.in_terminal("logs", "Evil")
    assert "before" in sent
    assert "\x1b[2J" not in sent
    assert "\x07" not in sent
    assert "\u202e" not in sent
    ada.does("projects", "use", "Personal")


def _token(person: Person) -> str:
    kept = json.loads((person.at / ".config/tapeline/credentials.json").read_text())
    return str(kept["servers"][kept["current"]]["id_token"])


def test_every_status_is_documented() -> None:
    page = (ROOT / "docs/command-line.md").read_text()
    for code, sentence in EXIT_CODES.items():
        assert f"| {code} | {sentence} |" in page


def test_a_bare_command_shows_its_help(ada: Person) -> None:
    for arguments in ([], ["backtests"]):
        ended = ada.run(*arguments)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert "Usage: tapeline" in ended.stdout


def test_a_misspelt_command_is_answered_with_what_was_meant(ada: Person) -> None:
    assert ada.fails(2, "depoly") == (
        "tapeline: No such command 'depoly'. Did you mean deploy or demo? Try: tapeline --help"
    )
    assert "No such option: --jason. Did you mean --json?" in ada.fails(2, "ps", "--jason")


def test_values_that_would_be_ignored_are_refused(ada: Person) -> None:
    assert "--side must be buy or sell, not long" in ada.fails(2, "orders", "x", "--side", "long")
    ada.does("init", "strategy")
    said = ada.fails(2, "deploy", "strategy", "--new", "--schedule", "* * * * *")
    assert "--schedule is for screeners" in said


def test_an_account_is_not_added_to_a_folder_without_an_installation(tmp_path: Path) -> None:
    home = Home(tmp_path)
    said = home.refused("user", "add", "ada@example.com", "--data", "elsewhere", exit_code=1)
    assert "There is no Tapeline in" in said
    assert not (tmp_path / "elsewhere").exists()
