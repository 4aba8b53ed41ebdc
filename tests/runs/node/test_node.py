"""The process on a node: who may command it, and that models outlive it."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tapeline.leading import LeadsNoMore
from tapeline.polling import poll
from tapeline.runs.node import frames
from tapeline.runs.node.frames import Says
from tests.runs.engines.contract import FOREVER, Bench
from tests.runs.engines.node_place import NAME, Direct, Node
from tests.waiting import SLOW_MACHINE, wait_for

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    made = Node(tmp_path_factory.mktemp("node"))
    yield made
    made.close()


def ask(node: Node, method: str, term: float) -> Says:
    answer = Direct(node.data).call("1", frames.ask(method, term), 20.0)
    return frames.answered(answer, Says)


def heard(node: Node, seconds: float) -> list[str]:
    answer = Direct(node.data).call("1", frames.ask("news", 1.0, seconds), seconds + 5)
    return frames.answered(answer, list[str])


def test_a_model_lives_on_while_the_process_of_its_node_is_replaced(
    node: Node, tmp_path: Path
) -> None:
    bench = Bench(node, tmp_path)
    run = bench.started(FOREVER)
    bench.journal(run, until="here")
    with ThreadPoolExecutor(1) as elsewhere:
        news = elsewhere.submit(heard, node, 100.0)
        time.sleep(0.3)  # the leading server nearly always waits for news
        answer = Direct(node.data).call("1", frames.ask("retire", 1.0), 20.0)
        assert frames.answered(answer, type(None)) is None
        asked = len(node.leases.asked)
        before, began = node.process, time.monotonic()
        node.start()  # the agent does not wait for the old one to end
        assert before.wait(SLOW_MACHINE) == 0
        assert time.monotonic() - began < SLOW_MACHINE, "it does not wait for the news"
        news.result(SLOW_MACHINE)
    bench.restart()
    assert bench.sight(run).alive
    wait_for(lambda: {run.id: run.fence} in node.leases.asked[asked:])  # renewed again
    bench.close()


def test_a_node_with_long_leases_is_heard_of_all_the_same(node: Node, tmp_path: Path) -> None:
    bench = Bench(node, tmp_path)
    node.leases.seconds = 600.0
    try:
        run = bench.started(FOREVER)
        assert poll(lambda: {} in node.leases.asked[-1:], within=SLOW_MACHINE, every=0.05)
        before = len(node.leases.asked)
        wait_for(lambda: len(node.leases.asked) >= before + 2)
        assert not any(node.leases.asked[before:]), (
            "a lease that was renewed a moment ago is not renewed again"
        )
        assert bench.sight(run).alive
    finally:
        node.leases.seconds = 60.0
        bench.close()


def test_a_server_that_led_before_is_refused(node: Node) -> None:
    assert ask(node, "describe", 5.0).name == NAME
    with pytest.raises(LeadsNoMore):
        ask(node, "describe", 4.0)
    assert ask(node, "describe", 5.0).name == NAME
