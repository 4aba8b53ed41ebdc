"""Signing in from the terminal: through a browser, with a password, with a token."""

import json
import re
import socket
import stat
import subprocess
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.acceptance.conftest import PASSWORD, Server
from tests.acceptance.traders import Trader
from tests.cli.conftest import Person
from tests.waiting import A_PROGRAM

pytestmark = pytest.mark.heavy


def address_in(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"http://\S+/auth/signin\?\S+", line):
            return found[0]
    raise AssertionError("no address was shown")


class Browser:
    """What a browser does: cookies, the forms of our pages, and redirects we look at first."""

    def __init__(self, server: Server) -> None:
        self.client = httpx.Client(base_url=server.address, timeout=30, verify=False)
        self.headers = {"Origin": server.address, "Sec-Fetch-Site": "same-origin"}

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def sign_in(self, address: str) -> str:
        """The page after signing in: where the person is asked to confirm."""
        back = parse_qs(urlsplit(address).query)["redirectUrl"][0]
        said = {"email": "ada@example.com", "password": PASSWORD, "redirectUrl": back}
        answer = self.client.post("/auth/signin/form", data=said, headers=self.headers)
        assert answer.status_code == 303, answer.text
        return str(answer.headers["location"])

    def allow(self, page: str) -> str:
        """Where the browser is sent when the person presses Allow."""
        assert "Approve the command line?" in self.client.get(page).text
        asked = {key: values[0] for key, values in parse_qs(urlsplit(page).query).items()}
        answer = self.client.post("/deploy", data=asked, headers=self.headers)
        assert answer.status_code == 303, answer.text
        return str(answer.headers["location"])


def test_the_browser_brings_the_token(person: Person, server: Server) -> None:
    login = person.begins("login", "--server", server.address, "--no-browser")
    with Browser(server) as browser:
        target = browser.allow(browser.sign_in(address_in(login)))
    assert urlsplit(target).hostname == "127.0.0.1"
    forged = httpx.get(re.sub(r"state=[^&]+", "state=forged", target), verify=False)
    assert forged.status_code == 400
    assert login.poll() is None, "a stranger's token must not be taken"
    assert httpx.get(target, verify=False).status_code == 200
    out, err = login.communicate(timeout=A_PROGRAM)
    assert login.returncode == 0, err
    assert f"Signed in to {server.address} as ada@example.com." in out
    assert person.gets("whoami")["email"] == "ada@example.com"


def test_where_the_usual_port_is_taken_another_one_is_used(person: Person, server: Server) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 9082))
            taken.listen()
        except OSError:
            pass  # somebody else has it, which serves as well
        login = person.begins("login", "--server", server.address, "--no-browser")
        with Browser(server) as browser:
            target = browser.allow(browser.sign_in(address_in(login)))
        assert urlsplit(target).port != 9082
        assert httpx.get(target, verify=False).status_code == 200
        assert login.wait(30) == 0
        login.communicate()


def test_a_password_from_standard_input_is_enough(person: Person, server: Server) -> None:
    answer = person.gets(
        "login", "--server", server.address, "--email", "ada@example.com", "--password-stdin",
        stdin=f"{PASSWORD}\n",
    )  # fmt: skip
    assert answer["email"] == "ada@example.com"
    file = person.at / ".config/tapeline/credentials.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert PASSWORD not in file.read_text()
    assert f"server   {server.address}" in person.does("whoami")


def test_a_wrong_password_is_said_and_nothing_is_kept(person: Person, server: Server) -> None:
    said = person.fails(
        3, "login", "--server", server.address, "--email", "ada@example.com", "--password-stdin",
        stdin="wrong password\n",
    )  # fmt: skip
    assert "The email address or the password is wrong." in said
    assert not (person.at / ".config/tapeline/credentials.json").exists()


def test_a_token_is_enough_and_signing_out_ends_it(person: Person, server: Server) -> None:
    trader = Trader(server)
    person.does("login", "--server", server.address, "--token", "-", stdin=trader.refresh_token)
    assert person.gets("servers", "list")[0]["current"] is True
    assert server.address in person.does("servers", "list")
    assert f"Signed out of {server.address}." in person.does("logout")
    said = {"refreshToken": trader.refresh_token}
    assert trader.client.post("/auth/token", json=said).status_code == 401
    assert "You are not signed in" in person.fails(3, "whoami", "--server", server.address)
    assert "nothing to sign out of" in person.fails(3, "logout")
    trader.client.close()


def test_signing_in_again_ends_the_token_before(person: Person, server: Server) -> None:
    person.signs_in()
    file = person.at / ".config/tapeline/credentials.json"
    before = next(iter(json.loads(file.read_text())["servers"].values()))["refresh_token"]
    person.signs_in()
    answer = httpx.post(f"{server.address}/auth/token", json={"refreshToken": before}, verify=False)
    assert answer.status_code == 401


def test_the_server_knows_the_computer_again_after_signing_out(
    person: Person, server: Server
) -> None:
    file = person.at / ".config/tapeline/credentials.json"
    names = []
    for _ in range(2):
        person.signs_in()
        (cookie,) = json.loads(file.read_text())["devices"].values()
        assert cookie.startswith("tapeline_device_")
        names.append(cookie.partition(".")[0])  # the cookie's name, and the device's
        person.does("logout")
    assert names[0] == names[1]
    assert server.address in json.loads(file.read_text())["devices"]


def test_variables_are_enough_for_a_script(person: Person, server: Server) -> None:
    trader = Trader(server)
    for token in (trader.refresh_token, trader.client.headers["token"]):
        told = person.gets("whoami", TAPELINE_URL=server.address, TAPELINE_TOKEN=token)
        assert told["email"] == "ada@example.com"
    assert not (person.at / ".config").exists(), "nothing is kept of what the environment said"
    said = person.fails(3, "whoami", TAPELINE_URL=server.address, TAPELINE_TOKEN="nonsense")
    assert "tapeline login" in said
    trader.client.close()


def test_servers_have_names_and_one_is_in_use(person: Person, server: Server) -> None:
    person.does(
        "login", "--server", server.address, "--name", "work", "--email", "ada@example.com",
        "--password-stdin", stdin=PASSWORD,
    )  # fmt: skip
    other = server.address.replace("127.0.0.1", "localhost")
    person.does(
        "login", "--server", other, "--email", "ada@example.com", "--password-stdin",
        stdin=PASSWORD,
    )  # fmt: skip
    assert person.gets("whoami")["server"] == other
    assert person.gets("whoami", "--server", "work")["server"] == server.address
    person.does("servers", "use", "work")
    assert person.gets("whoami")["server"] == server.address
    assert "There is no server home here" in person.fails(2, "whoami", "--server", "home")
    assert len(person.gets("logout", "--all")["signed_out"]) == 2


def test_an_id_token_that_ended_early_is_renewed_unseen(person: Person) -> None:
    person.signs_in()
    file = person.at / ".config/tapeline/credentials.json"
    kept = json.loads(file.read_text())
    next(iter(kept["servers"].values()))["id_token"] = "a.b.c"
    file.write_text(json.dumps(kept))
    assert person.gets("whoami")["email"] == "ada@example.com"


def test_a_damaged_file_says_what_to_do(person: Person) -> None:
    person.signs_in()
    (person.at / ".config/tapeline/credentials.json").write_text("{")
    said = person.fails(1, "whoami")
    assert "credentials.json is damaged" in said
    assert "tapeline login" in said
