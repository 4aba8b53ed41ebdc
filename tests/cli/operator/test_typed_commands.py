"""Every command that a message of ours tells an operator to type works as it is printed."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapeline import typed_commands
from tapeline.settings import Settings
from tests.acceptance.conftest import PASSWORD, Home

pytestmark = pytest.mark.heavy

COMMAND = re.compile(r"tapeline (?:up|release|halt|stop|user|hosts|doctor|compact|backup)[^;`\n]*")


@pytest.fixture
def place(used_home: Home) -> Path:
    """A data directory that is not the usual one, with a space in its name."""
    return used_home.data.rename(used_home.path / "data of the desk")


def test_commands_for_a_server_that_is_down_and_on_hold(used_home: Home, place: Path) -> None:
    at = ("--data", str(place))
    printed = [
        used_home.run("hold", *at).stdout,
        used_home.run("user", "list", *at).stderr,
        *fixes(used_home.run("status", "--json", *at).stdout),
        *fixes(used_home.run("doctor", "--json", *at).stdout),
    ]
    asked = used_home.run("status", *at)
    assert asked.returncode == 5
    printed.append(asked.stderr)
    found = commands(printed)
    assert {words[1] for words in found} == {"release", "user", "up"}
    for words in found:
        types(used_home, words)
    assert not (used_home.path / ".tapeline").exists(), "none of them was about another directory"


def test_commands_for_a_server_that_is_up_and_on_hold(used_home: Home, place: Path) -> None:
    assert used_home.run("hold", "--data", str(place)).returncode == 0
    server = used_home.up("--data", str(place))
    add = commands([server.said])
    assert {words[1] for words in add} == {"release", "user"}
    for words in add:
        types(used_home, words)
    assert used_home.run("hold", "--data", str(place)).returncode == 0
    signed_in = used_home.run(
        "login", "--server", server.address, "--email", "you@example.com", "--password-stdin",
        stdin=f"{PASSWORD}\n",
    )  # fmt: skip
    assert signed_in.returncode == 0, signed_in.stderr
    (fix,) = commands(fixes(used_home.run("status", "--json").stdout), "release")
    types(used_home, fix)


def test_a_password_is_not_printed() -> None:
    chosen = Settings(data=Path("/srv/it"), database="postgresql://me:secret@db/tapeline")
    assert typed_commands.with_database("tapeline release", chosen) == (
        "tapeline release --data /srv/it --database postgresql://me:PASSWORD@db/tapeline"
    )


def fixes(answer: str) -> Iterator[str]:
    found = json.loads(answer)
    return (row["fix"] for row in (found["rows"] if isinstance(found, dict) else found))


def commands(printed: Iterator[str] | list[str], only: str = "") -> list[list[str]]:
    found = {said.strip().rstrip(".") for text in printed for said in COMMAND.findall(text)}
    return [words for words in map(shlex.split, sorted(found)) if only in ("", words[1])]


def types(home: Home, words: list[str]) -> None:
    """As printed; a question is answered with yes, and a server is ended once it is ready."""
    if words[1] == "up":
        server = home.begin(*words[2:])
        server.wait_until_ready()
        server.end()
        return
    more = ["--yes"] if words[1] == "release" else []
    ended = home.run(*words[1:], *more, stdin=f"{PASSWORD}\n")
    assert ended.returncode == 0, (words, ended.stdout, ended.stderr)
    assert "is not on hold" not in ended.stdout
