"""The demo's strategies trade like good real ones, whatever day it is."""

import json
import math
import os
import statistics
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tapeline.cli.demo.parts import PARTS, STRATEGY
from tapeline.models import starters
from tests.archives import unzipped

CLIENT = Path(__file__).parents[3] / "client" / "src"
DAYS = 180
# One interpreter for all of them: the market takes longer to make than to trade.
CODE = """
import json, main
days = ["2026-01-01", "2026-04-11", "2026-08-20"]
print(json.dumps([main.backtest(start=day) for day in days]))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Of the version that goes live, at three seasons."""
    folder = tmp_path_factory.mktemp("model")
    for name, text in unzipped(starters.packed(STRATEGY.starter)).items():
        (folder / name).write_text(text)
    environment = {"PATH": os.defpath, "PYTHONPATH": str(CLIENT)}
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=folder, env=environment, capture_output=True, check=True
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_its_figures_are_believable_in_every_season(results: list[dict[str, Any]]) -> None:
    for result in results:
        daily = [one["value"] for one in result["account_values"]][::24]
        returns = [after / before - 1 for before, after in pairwise(daily)]
        sharpe = statistics.mean(returns) / statistics.pstdev(returns) * math.sqrt(365)
        weeks = [after / before - 1 for before, after in zip(daily, daily[7:], strict=False)]
        peaks = [max(daily[: place + 1]) for place in range(len(daily))]
        deepest = max(1 - value / peak for value, peak in zip(daily, peaks, strict=True))
        assert 0.4 < sharpe < 1.8
        assert 0.04 < deepest < 0.15
        assert min(weeks) < -0.02, "every strategy has a losing week"


def test_it_pays_fees_and_is_long_and_short_in_both_coins(results: list[dict[str, Any]]) -> None:
    for result in results:
        fees = sum(one["fee"] for one in result["trades"])
        assert 1_000 < fees < 10_000
        for symbol in result["symbols"]:
            held, seen = 0.0, set()
            for one in result["trades"]:
                if one["symbol"] == symbol:
                    held += one["size"] if one["side"] == "buy" else -one["size"]
                    seen.add(held > 0)
            assert seen == {True, False}


def test_all_versions_differ_from_each_other_as_their_edits_say() -> None:
    for part in PARTS:
        source = "".join(unzipped(starters.packed(part.starter)).values())
        assert all(before in source for edit in part.versions for before, _ in edit.changes)
        packed = {starters.edited(part.starter, edit.changes) for edit in part.versions}
        assert len(packed) == len(part.versions)
