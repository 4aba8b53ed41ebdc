"""Plans come from the settings, as one text or as a table."""

from pathlib import Path

import pytest

from tapeline import settings
from tapeline.errors import InvalidSetting, UnknownPlan
from tapeline.models import plans
from tapeline.models.plans import Plan
from tapeline.settings import Settings


def written(tmp_path: Path, text: str) -> Settings:
    (tmp_path / "tapeline.toml").write_text(text)
    return settings.load(environ={}, directory=tmp_path)


def test_the_documented_plans_are_there_by_default() -> None:
    live = plans.offered(Settings(), "live")
    assert [(one.name, one.memory_mb, one.cpu_milli) for one in live.values()] == [
        ("nano", 256, 250), ("micro", 512, 500), ("small", 1024, 1000), ("medium", 2048, 2000),
        ("large", 4096, 4000),
    ]  # fmt: skip
    tests = plans.offered(Settings(), "backtesting")
    assert set(tests) - set(live) == {"slow"}
    assert plans.default(live).name == "nano"


@pytest.mark.parametrize(
    "text",
    [
        'plans = "tiny=64/100, wide = 8192/8000"',
        '[plans]\ntiny = "64/100"\nwide = "8192/8000"',
        "[plans]\ntiny = {ram = 64, cpu = 100}\nwide = {ram = 8192, cpu = 8000}",
    ],
)
def test_an_operator_names_other_plans(tmp_path: Path, text: str) -> None:
    offered = plans.offered(written(tmp_path, text), "live")
    assert offered == {"tiny": Plan("tiny", 64, 100), "wide": Plan("wide", 8192, 8000)}
    assert plans.default(offered).name == "tiny"
    with pytest.raises(UnknownPlan, match=r"'nano'.*Available: tiny, wide"):
        plans.chosen(offered, "nano")


@pytest.mark.parametrize(
    "text",
    ["nano", "nano=256", "nano=0/250", "nano=256/0", "Nano=256/250", "a=64/100, a=64/100",
     "nano=256/250 micro=1/1", "=64/100"],
)  # fmt: skip
def test_a_plan_that_says_nothing_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidSetting, match="name=MB/millicores"):
        written(tmp_path, f'plans = "{text}"')


def test_no_plan_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting):
        written(tmp_path, 'plans = ""')
    assert plans.offered(written(tmp_path, 'backtest_plans = ""'), "backtesting")
