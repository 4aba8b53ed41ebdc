"""Links made, changed and revoked from the terminal."""

import time

import httpx
import pytest

from tests.acceptance.conftest import PASSWORD
from tests.cli.conftest import Person

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def shown(ada: Person) -> str:
    """A model with one order and one backtest."""
    folder = ada.at / "shown"
    folder.mkdir()
    (folder / "main.py").write_text("print()\n")
    (folder / "platform.json").write_text('{"main_script": "main.py"}')
    model = str(ada.gets("deploy", "shown", "--new", "--detach")["modelId"])
    key = ada.gets("keys", "new")
    headers = {"model-id": model, "api-key": key["apiKey"], "api-pass": key["apiPass"]}
    order = {
        "id": "1", "symbol": "BTC-USD", "exchange": "kraken", "side": "buy", "size": 2,
        "price": 1234.5,
    }  # fmt: skip
    result = {
        "backtest_id": "b1", "symbols": ["ETH-USD"], "quote_asset": "USD", "start_time": 0,
        "stop_time": 172_800, "trades": [],
        "account_values": [{"time": day * 86_400, "value": 100 + day} for day in range(3)],
    }  # fmt: skip
    for path, body in (("/v1/live/spot-limit", order), ("/v1/backtest/result", result)):
        httpx.post(
            f"{ada.server.address}{path}", json=body, headers=headers, verify=False
        ).raise_for_status()
    return model


def test_a_link_opens_without_an_account_until_it_is_revoked(ada: Person, shown: str) -> None:
    told = ada.run("share", "new", "shown")
    assert told.returncode == 0, told.stderr
    link = told.stdout.splitlines()[0].split()[1]
    assert link.startswith(f"{ada.server.address}/s/")
    assert f'<iframe src="{link.replace("/s/", "/embed/")}"' in told.stdout
    assert "live record" in told.stderr
    assert httpx.get(link, verify=False).status_code == 200
    (one,) = ada.gets("share", "list", "shown")
    assert (one["views"], one["percent_only"]) == (1, False)
    assert one["id"] in ada.does("share", "list", shown)
    assert "revoked" in ada.does("share", "rm", one["id"], "--model", "shown")
    assert httpx.get(link, verify=False).status_code == 404
    assert "has no link" in ada.fails(4, "share", "rm", one["id"], "-m", "shown")
    assert "has no links" in ada.run("share", "list", "shown").stderr


def test_every_choice_can_be_made(ada: Person, shown: str) -> None:
    made = ada.gets(
        "share", "new", "shown", "--title", "Mine", "--percent-only", "--hide-symbols",
        "--hide-sizes", "--hide-logs", "--delay", "24", "--base", "25000", "--expires", "7d",
        "--password-stdin", stdin=f"{PASSWORD}\n",
    )  # fmt: skip
    for choice in ("percent_only", "hide_symbols", "hide_sizes", "hide_logs", "has_password"):
        assert made[choice] is True, choice
    assert (made["title"], made["delay_hours"], made["base"]) == ("Mine", 24, 25_000)
    assert 6.9 * 86_400 < made["expires_at"] - time.time() < 7.1 * 86_400
    assert made["embed_url"] in made["embed"]
    said = ada.does("share", "list", "shown")
    assert "percent only, symbols hidden, sizes hidden, logs hidden, 24 h late, password" in said
    address = f"{ada.server.address}/api/shared/{made['token']}"
    assert httpx.get(address, verify=False).status_code == 401
    ada.does(
        "share", "change", made["id"], "-m", "shown", "--with-amounts", "--show-symbols",
        "--show-sizes", "--show-logs", "--delay", "0", "--expires", "never", "--no-password",
    )  # fmt: skip
    head = httpx.get(address, verify=False)
    assert head.status_code == 200, head.text
    (one,) = ada.gets("share", "list", "shown")
    assert (one["expires_at"], one["has_password"], one["hide_symbols"]) == (None, False, False)
    assert "No change was given" in ada.fails(2, "share", "change", made["id"], "-m", "shown")
    assert "--yes" in ada.fails(2, "share", "rm", "--all", "-m", "shown")
    assert ada.gets("share", "rm", "--all", "-m", shown, "--yes")["revoked"] == [made["id"]]


def test_one_backtest_is_shared(ada: Person, shown: str) -> None:
    made = ada.gets("share", "new", "shown", "--backtest", "b1", "--expires", "2100-01-01")
    assert made["backtest_id"] == "b1"
    assert httpx.get(made["url"], verify=False).status_code == 200
    assert "backtest b1" in ada.does("share", "list", "shown")
    ada.does("share", "rm", made["id"], "-m", "shown")
    assert ada.run("share", "new", "shown", "--backtest", "none").returncode == 4


def test_what_cannot_be_is_said(ada: Person, shown: str) -> None:
    assert "--expires soon is not a time" in ada.fails(
        2, "share", "new", "shown", "--expires", "soon"
    )
    assert "in the future" in ada.fails(1, "share", "new", "shown", "--expires", "2020-01-01")
    assert "Name a link, or use --all" in ada.fails(2, "share", "rm", "-m", "shown")
    assert "empty" in ada.fails(2, "share", "new", "shown", "--password-stdin")
