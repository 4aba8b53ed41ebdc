"""Starter models are real ones: they run on the oldest Python, and what they give is valid."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tapeline.errors import NoSuchPage
from tapeline.models import starters
from tapeline.models.archives import archive
from tapeline.models.starters import Starter
from tapeline.tape.backtest_results.preparing import prepare_here

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
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("starter", starters.listed(), ids=lambda one: one.name)
def test_a_starter_is_an_archive_that_python_37_understands(
    starter: Starter, tmp_path: Path
) -> None:
    folder = unpacked(starter, tmp_path)
    ast.parse((folder / "main.py").read_text(), feature_version=(3, 7))
    assert starters.packed(starter.name) == starters.packed(starter.name)


def test_the_strategy_gives_a_backtest_result_that_is_taken(tmp_path: Path) -> None:
    (strategy,) = [one for one in starters.listed() if one.type == "strategy"]
    folder = unpacked(strategy, tmp_path)
    arguments = json.loads((folder / "platform.json").read_text())["backtest_args"]
    code = f"import json, main; print(json.dumps(main.backtest(**{arguments!r})))"
    result = json.loads(started(folder, "-c", code))
    assert result["trades"]
    content = json.dumps(result | {"backtest_id": "b"}).encode()
    header, pieces = prepare_here(content, {}, {}, lenient=False, max_depth=32)
    assert header["symbols"] == ["BTC-USD"]
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
