"""What is remembered of a run between two decisions."""

from typing import cast

import pytest

from tapeline.runs.engines.engine import Job
from tapeline.runs.supervision.carrying_out import Memory, Ready
from tests.runs.supervision.histories import HOST, OTHER, a_run


@pytest.mark.parametrize(("host", "is_prepared"), [(HOST, True), (None, True), (OTHER, False)])
def test_what_is_prepared_on_one_host_is_not_prepared_on_another(
    host: str | None, is_prepared: bool
) -> None:
    """A row that was read just before the run was claimed has no host yet."""
    memory = Memory(ready={"a": Ready(cast(Job, None), HOST, "confined")})
    seen = memory.seen(a_run("a", host=host), alive=False, busy=False, preparing=False)
    assert seen.prepared is is_prepared


def test_nothing_of_a_run_is_remembered_once_it_is_forgotten() -> None:
    memory = Memory(problems={"a": "why"}, troubles={"a": "too"}, stopping={"a": 0.0})
    memory.failures["a"].append(0.0)
    memory.answered["a"] = 1
    memory.forget("a")
    assert memory == Memory()
