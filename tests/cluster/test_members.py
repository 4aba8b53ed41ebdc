"""What the leading server says of a node that never answered: it has no row."""

from collections import deque

import pytest

from tapeline import __version__
from tapeline.background import Work
from tapeline.runs.cluster.bridge import CannotReach, NoAnswer
from tapeline.runs.cluster.last_words import in_plain_words
from tapeline.runs.cluster.members import Members
from tapeline.runs.node import frames
from tapeline.runs.node.frames import Opening, Says
from tests.runs.engines.node_place import Direct

NOT_INSTALLED = CannotReach("Tapeline is not installed in the Python that runs Ray there.")
LATE = NoAnswer("The node did not answer in 5 s.")
OPENING = Opening(settings={}, token="t", lease_seconds=6, servers=[])
SAYS = Says(
    name="n1",
    machine="m",
    version=__version__,
    pythons="[]",
    confinement="",
    trouble="",
    public_key=b"",
    opened=frames.digest(OPENING),
)


class InTurn(Direct):
    """One node that gives one answer after the other."""

    def __init__(self, *answers: Exception | bytes) -> None:
        self._answers = deque(answers)

    def call(self, node_id: str, frame: bytes, timeout: float) -> bytes:  # noqa: ARG002
        answer = self._answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        return answer


def told(caplog: pytest.LogCaptureFixture, *answers: Exception | bytes) -> list[tuple[str, str]]:
    """Of which node the log says what, after one look for each answer."""
    caplog.clear()
    members = Members(InTurn(*answers), lambda _: OPENING, lambda: 1.0)
    work = Work("nodes", patience=60)
    for _ in answers:
        members.refresh(work)
    members.close()
    facts = [one.__dict__["facts"] for one in caplog.records]
    return [(one["about"], one["why"]) for one in facts]


def test_the_reason_of_a_node_that_never_answered_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reason = ("node 127.0.0.1", "Tapeline is not installed in the Python that runs Ray there.")
    assert told(caplog, NOT_INSTALLED, LATE, NOT_INSTALLED, LATE) == [reason]
    assert told(caplog, LATE, NOT_INSTALLED, LATE) == [(reason[0], LATE.message), reason]


def test_a_node_that_has_answered_is_late_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    said = told(caplog, NOT_INSTALLED, frames.answer(SAYS), LATE)
    assert [why for _, why in said] == [NOT_INSTALLED.message, LATE.message]


def test_a_node_without_tapeline_is_told_in_plain_words() -> None:
    for module in ("tapeline", "tapeline.runs"):
        said = in_plain_words(f"ModuleNotFoundError: No module named '{module}'")
        assert said == NOT_INSTALLED.message
    assert in_plain_words("No module named 'numpy'") == "No module named 'numpy'"
