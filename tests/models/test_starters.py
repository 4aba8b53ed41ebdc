"""Starter models are real ones: they run on the oldest Python, and what they give is valid."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tapeline.errors import NoSuchPage
from tapeline.models import starters
from tapeline.models.archives import archive
from tapeline.models.starters import Starter
from tapeline.tape.backtest_results.preparing import prepare_here
from tests.archives import unzipped
from tests.waiting import A_PROGRAM

CLIENT = Path(__file__).parents[2] / "client" / "src"


def unpacked(starter: Starter, tmp_path: Path) -> Path:
    file, folder = tmp_path / "starter.zip", tmp_path / "model"
    file.write_bytes(starters.packed(starter.name))
    folder.mkdir()
    assert archive.check(file).manifest.type == starter.type
    archive.unpack(file, folder)
    return folder


def started(folder: Path, *code: str) -> str:
    done = subprocess.run(
        [sys.executable, *code], cwd=folder, env={"PATH": os.defpath, "PYTHONPATH": str(CLIENT)},
        capture_output=True, text=True, check=True, timeout=A_PROGRAM,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("starter", starters.listed(), ids=lambda one: one.name)
def test_a_starter_is_an_archive_that_python_37_understands(
    starter: Starter, tmp_path: Path
) -> None:
    folder = unpacked(starter, tmp_path)
    assert (folder / "main.py").exists()
    for file in folder.glob("*.py"):
        ast.parse(file.read_text(), feature_version=(3, 7))
    assert starters.packed(starter.name) == starters.packed(starter.name)


@pytest.mark.parametrize(
    "strategy",
    [one for one in starters.listed() if one.type == "strategy"],
    ids=lambda one: one.name,
)
def test_a_strategy_gives_a_backtest_result_that_is_taken(
    strategy: Starter, tmp_path: Path
) -> None:
    folder = unpacked(strategy, tmp_path)
    arguments = json.loads((folder / "platform.json").read_text())["backtest_args"]
    code = f"import json, main; print(json.dumps(main.backtest(**{arguments!r})))"
    result = json.loads(started(folder, "-c", code))
    assert result["trades"]
    content = json.dumps(result | {"backtest_id": "b"}).encode()
    header, pieces = prepare_here(content, {}, {}, lenient=False, max_depth=32)
    assert "BTC-USD" in header["symbols"]
    assert pieces


def test_the_screener_has_the_same_columns_for_every_symbol(tmp_path: Path) -> None:
    (screener,) = [one for one in starters.listed() if one.type == "screener"]
    folder = unpacked(screener, tmp_path)
    rows = json.loads(started(folder, "-c", "import json, main; print(json.dumps(main.screen(0)))"))
    assert {tuple(row) for row in rows.values()} == {("momentum", "last", "buy")}
    assert "of 6 to buy" in started(folder, "main.py"), "it also runs without a server"


def test_there_is_no_other_starter() -> None:
    with pytest.raises(NoSuchPage):
        starters.packed("../../etc")


def test_a_starter_goes_on_while_its_state_cannot_be_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    starter: dict[str, Any] = {"__name__": "starter"}
    code = unzipped(starters.packed("moving-average"))["main.py"]
    exec(compile(code, "main.py", "exec"), starter)
    (tmp_path / "state").touch()  # a file where the folder should be
    starter["STATE"] = tmp_path / "state" / "state.json"
    unsaved = ""
    for _ in range(3):
        unsaved = starter["save"]({"day": 1}, unsaved)
    (tmp_path / "state").unlink()
    (tmp_path / "state").mkdir()
    for day in (2, 3):
        unsaved = starter["save"]({"day": day}, unsaved)
    first, again = capsys.readouterr().out.splitlines()
    assert first.startswith("the state cannot be saved for now: ")
    assert again == "the state is saved again"
    assert json.loads(starter["STATE"].read_text()) == {"day": 3}
