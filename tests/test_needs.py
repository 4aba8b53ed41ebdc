"""No test is skipped, so that a dependency that is missing is seen."""

import re
from pathlib import Path

import pytest

from tests import needs

HERE = Path(__file__).parent
SKIPS = re.compile(r"pytest\.(skip|importorskip|mark\.(skip|skipif|xfail))\b")


def test_a_need_that_is_missing_fails_and_says_so() -> None:
    with pytest.raises(pytest.fail.Exception, match="no disk"):
        needs.missing("no disk")


def test_no_test_is_skipped() -> None:
    files = HERE.rglob("*.py")
    assert [one for one in files if SKIPS.search(one.read_text("utf-8"))] == []
