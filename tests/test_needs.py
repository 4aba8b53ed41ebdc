"""In CI nothing is skipped, so that a dependency that is missing there is seen."""

import re
from pathlib import Path

import pytest

from tests import needs

HERE = Path(__file__).parent
SKIPS = re.compile(r"pytest\.(skip|importorskip|mark\.(skip|skipif|xfail))\b")


def test_a_need_that_is_missing_fails_in_ci_and_skips_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(needs, "IN_CI", True)
    with pytest.raises(pytest.fail.Exception, match="In CI nothing is skipped: no disk"):
        needs.missing("no disk")
    monkeypatch.setattr(needs, "IN_CI", False)
    with pytest.raises(pytest.skip.Exception, match="no disk"):
        needs.missing("no disk")


def test_tests_skip_in_no_other_way() -> None:
    own = {HERE / "needs.py", Path(__file__)}
    files = [one for one in HERE.rglob("*.py") if SKIPS.search(one.read_text("utf-8"))]
    assert set(files) == own
