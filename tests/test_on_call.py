"""The guide for people on call has a heading for every alarm that can wake them."""

import re
from pathlib import Path

import pytest

from tapeline.health.checklist import CHECKS

ROOT = Path(__file__).parents[1]
RULES = (ROOT / "deploy" / "prometheus-rules.yml").read_text()
GUIDE = (ROOT / "docs" / "how-to" / "on-call.md").read_text()
ALARMS = [*re.findall(r"- alert: (\w+)", RULES), *(check.name for check in CHECKS)]


@pytest.mark.parametrize("alarm", ALARMS)
def test_every_alarm_is_explained(alarm: str) -> None:
    _, heading, rest = f"\n{GUIDE}".partition(f"\n### {alarm}\n")
    assert heading, f"docs/how-to/on-call.md needs a heading `### {alarm}`"
    assert rest.partition("\n#")[0].strip(), "what it means, and what to type"
