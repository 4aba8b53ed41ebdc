"""Examples for those who write no Python: the real curl and the real Node, against the server."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.client.test_killed import environment
from tests.pushing import Model
from tests.waiting import A_PROGRAM

pytestmark = pytest.mark.heavy

EXAMPLES = Path(__file__).parents[2] / "examples"
SHELL = sorted(file.stem for file in (EXAMPLES / "curl").glob("*.sh"))
NODE = shutil.which("node") or "node"


def run(model: Model, folder: Path, *command: str) -> str:
    variables = environment(model.service.address, model.headers, folder)
    ended = subprocess.run(
        command,
        env=variables,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=A_PROGRAM,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def curl(model: Model, folder: Path, name: str, *arguments: str) -> list[str]:
    file = str(EXAMPLES / "curl" / f"{name}.sh")
    answers = run(model, folder, "sh", file, *arguments).splitlines()
    assert all("success" in answer for answer in answers), answers
    return answers


def node(model: Model, folder: Path, name: str, *arguments: str) -> str:
    return run(model, folder, NODE, str(EXAMPLES / "javascript" / f"{name}.mjs"), *arguments)


def test_a_shell_tells_of_a_models_life(model: Model, tmp_path: Path) -> None:
    curl(model, tmp_path, "lifecycle")
    shown = model.get()
    assert shown["lifecycle"]["message"] == "Done for today"
    assert shown["lifecycle"]["running"] is False
    assert (shown["symbols"], shown["exchanges"]) == (["BTC-USD"], ["kraken"])
    assert model.items("/events")[0]["args"] == {"target": 0.6}


def test_a_shell_tells_of_orders(model: Model, tmp_path: Path) -> None:
    curl(model, tmp_path, "orders")
    size = model.size()
    found = {one["id"]: one for one in model.items("/orders")}
    assert found["curl-1"]["fill"]["price"] == 40_000
    assert (found["curl-2"]["fill"]["size"], found["curl-2"]["annotation"]) == (
        0.1,
        "take some profit",
    )
    assert found["curl-3"]["fill"] is None
    pnl = model.get("/pnl")
    assert pnl["realized"] == pytest.approx(0.1 * 2_000 - 10)
    assert pnl["unrealized"] == pytest.approx(0.4 * 1_000)
    curl(model, tmp_path, "orders")
    assert model.get("/pnl")["realized"] == pytest.approx(0.1 * 2_000 - 10)
    assert model.size() < 2 * size, "the orders themselves were known"


def test_a_shell_writes_a_log_a_screener_and_a_backtest(model: Model, tmp_path: Path) -> None:
    curl(model, tmp_path, "logs")
    assert [one["line"] for one in reversed(model.items("/logs"))] == [
        "spread is wide", "tick 1", "tick 2", "tick 3",
    ]  # fmt: skip
    curl(model, tmp_path, "screener")
    assert model.get("/screener")["result"]["AAPL"] == {"rsi": 28.5, "buy": True}
    curl(model, tmp_path, "backtest", "mine")
    shown = model.get("/backtests/mine")
    assert shown["status"]["successful"]
    assert shown["metrics"]["computed"]["total_return"]["value"] == pytest.approx(0.05)
    assert model.items("/backtests/mine/logs")[0]["line"] == "three days of it"


def test_every_shell_example_is_tried() -> None:
    assert SHELL == ["backtest", "lifecycle", "logs", "orders", "screener"]


def test_javascript_trades(model: Model, tmp_path: Path) -> None:
    node(model, tmp_path, "live")
    assert model.get()["lifecycle"]["message"] == "Done"
    found = {one["id"]: one for one in model.items("/orders")}
    assert found["js-1"]["fill"]["price"] == 2000
    assert found["js-2"]["annotation"] == "half of it back"
    assert model.get("/pnl")["realized"] == pytest.approx(100 - 4)
    assert model.items("/logs")[0]["line"] == "bought 2 ETH-USD"
    assert model.items("/events")[0]["type"] == "review"


def test_javascript_screens_and_backtests(model: Model, tmp_path: Path) -> None:
    node(model, tmp_path, "screener")
    assert model.get("/screener")["result"]["MSFT"]["buy"] is False
    said = json.loads(node(model, tmp_path, "backtest", "theirs"))
    shown = model.get("/backtests/theirs")
    assert shown["metrics"]["custom"]["trades"]["value"] == said["trades"]
    values = model.get("/backtests/theirs/equity")["items"]
    assert values[-1]["value"] == pytest.approx(said["final"])
    assert shown["description"] == "From JavaScript"


def test_the_page_names_every_example() -> None:
    page = (EXAMPLES.parent / "docs" / "adapters.md").read_text("utf-8")
    for folder in ("adapters", "curl", "javascript"):
        for file in (EXAMPLES / folder).iterdir():
            assert file.name in page or file.name == "__pycache__", file
