"""A record of a real server, checked against the keys that it publishes, across a rotation."""

from pathlib import Path

import httpx
import pytest

from tests.acceptance.conftest import Home
from tests.cli.conftest import Person

pytestmark = pytest.mark.heavy


def test_a_record_across_a_rotation_is_proven_by_what_the_server_publishes(
    ada: Person, shared_home: Home
) -> None:
    folder = ada.at / "signed"
    folder.mkdir()
    (folder / "main.py").write_text("print()\n")
    (folder / "platform.json").write_text('{"main_script": "main.py"}')
    model = str(ada.gets("deploy", "signed", "--new", "--detach")["modelId"])
    key = ada.gets("keys", "new")
    headers = {"model-id": model, "api-key": key["apiKey"], "api-pass": key["apiPass"]}

    def push(number: int) -> None:
        body = {"line": f"line {number}"}
        address = f"{ada.server.address}/v1/live/log"
        httpx.post(address, json=body, headers=headers, verify=False).raise_for_status()

    def export(name: str) -> Path:
        ada.does("export", model, "--output", name)
        return ada.at / name

    push(1)
    before = export("before.ndjson")
    old = ada.run("verify", str(before), "--json")
    assert old.returncode == 3
    assert "New key for tapes: " in shared_home.run("keys", "rotate").stdout
    push(2)
    after = export("after.ndjson")
    served = ("--server", ada.server.address)
    for more in (served, (*served, "--earlier", str(before))):
        assert ada.gets("verify", str(after), *more)["verdict"] == "proven"
    assert ada.gets("verify", str(before), *served)["verdict"] == "proven"
    published = httpx.get(
        f"{ada.server.address}/.well-known/tapeline-keys.json", verify=False
    ).json()["keys"]
    assert len(published) >= 2
    for one in published[-2:]:
        assert ada.gets("verify", str(after), "--key", one["fingerprint"])["status"] == 0
    assert "is not a fingerprint" in ada.fails(2, "verify", str(after), "--key", "abc")
    after.write_bytes(after.read_bytes().replace(b'"line 2"', b'"line 3"'))
    assert ada.run("verify", str(after), *served).returncode == 1
