"""What is logged, printed and called becomes events, and nothing else changes by it."""

import io
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tapeline_client import Client, InvalidEvent

from tests.client.conftest import Make
from tests.conftest import run
from tests.pushing import Model


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    found = logging.getLogger("tests.capture")
    yield found
    found.handlers.clear()


def logged(model: Model) -> list[tuple[str, str]]:
    return [(one["type"], one["line"]) for one in reversed(model.items("/logs"))]


def test_what_is_logged_is_sent_with_its_level(
    make: Make, model: Model, logger: logging.Logger
) -> None:
    client = make()
    handler = client.capture_logging(logger.name, logging.INFO)
    logger.debug("too fine")
    logger.info("price %d", 5)
    logger.error("it failed", exc_info=ValueError("odd"))
    logger.removeHandler(handler)
    logger.error("not any more")
    assert client.flush()
    first, second = logged(model)
    assert first == ("info", "price 5")
    assert second[0] == "error"
    assert second[1] == "it failed\nValueError: odd"


def test_the_clients_own_troubles_are_not_sent(make: Make, model: Model) -> None:
    client = make()
    handler = client.capture_logging("tapeline_client")
    logging.getLogger("tapeline_client").warning("in trouble")
    logging.getLogger("tapeline_client").removeHandler(handler)
    client.log("only this")
    assert client.flush()
    assert logged(model) == [("stdout", "only this")]


def test_what_is_printed_is_printed_and_sent(
    make: Make, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    client = make()
    with client.capture_output():
        sys.stdout.write("half a ")
        sys.stdout.write("line\n\nand ")
        sys.stdout.writelines(["more\r\n", "no end"])
        sys.stderr.write("trouble\n")
        shown: Any = sys.stdout
        assert shown.getvalue().startswith("half")
    sys.stdout.write("later\n")
    assert client.flush()
    assert (sys.stdout, sys.stderr) == (out, err)
    assert out.getvalue() == "half a line\n\nand more\r\nno endlater\n"
    assert logged(model) == [
        ("stdout", "half a line"), ("stdout", "and more"), ("stderr", "trouble"),
        ("stdout", "no end"),
    ]  # fmt: skip


def test_in_a_run_of_the_platform_output_is_left_alone(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAPELINE_RUN_ID", "r")
    before = sys.stdout
    with make().capture_output():
        assert sys.stdout is before


def test_calls_are_recorded_with_arguments_and_results(make: Make, model: Model) -> None:
    client = make()

    class Bot:
        @client.recorded(type="signal", annotation="why")
        def decide(self, price: float, *more: int, limit: int = 3, **others: Any) -> Any:  # noqa: ARG002
            """Decide."""
            if price < 0:
                raise ValueError("negative")
            return {"buy": price < limit}

    @client.recorded
    async def waiting(seconds: int) -> int:
        return seconds

    made = Bot()
    assert made.decide(1, 2, x=5) == {"buy": True}
    assert made.decide.__doc__ == "Decide."
    with pytest.raises(ValueError, match="negative"):
        made.decide(-1)
    assert run(waiting(2)) == 2
    assert client.flush()
    last, failed, first = model.items("/events")
    assert (first["type"], first["annotation"]) == ("signal", "why")
    assert first["args"] == {"price": 1, "more": [2], "limit": 3, "others": {"x": 5}}
    assert first["response"] == {"buy": True}
    assert failed["response"] == {"error": "ValueError: negative"}
    assert (last["type"], last["args"], last["response"]) == (
        "waiting",
        {"seconds": 2},
        {"value": 2},
    )


def test_a_recording_that_fails_changes_nothing(make: Make) -> None:
    client: Client = make()
    client.close()

    @client.recorded
    def act() -> int:
        return 5

    assert act() == 5
    with pytest.raises(InvalidEvent):
        client.event("")
