"""An installation that could not begin on a node is told, and may be tried again."""

import threading
from typing import cast

import pytest

from tapeline.models.versions import Version
from tapeline.runs.engines.engine import Job, Prepared, Progress
from tapeline.runs.node.frames import NodeFailed
from tapeline.runs.node.preparing import Preparations
from tests.runs.supervision.histories import a_run
from tests.waiting import wait_for


def test_one_that_no_thread_could_be_started_for_begins_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job, preparations = Job(a_run("r"), cast(Version, None), "p", 1), Preparations()

    def prepare(_job: Job, _progress: Progress) -> Prepared:
        return Prepared("numpy==2", "sandbox")

    def no_room(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as short:
        short.setattr(threading.Thread, "start", no_room)
        with pytest.raises(NodeFailed, match="can't start new thread"):
            preparations.begin(prepare, job)
    with pytest.raises(NodeFailed):  # whoever follows it does not wait for ever
        preparations.state("r")
    preparations.begin(prepare, job)
    wait_for(lambda: preparations.state("r").lock == "numpy==2")
