"""Checks are run together: none of them can hide the others, hang an answer or run twice."""

import asyncio
import threading
from dataclasses import replace

import pytest

from tapeline.background import Background
from tapeline.health import examination
from tapeline.health.checklist import Check
from tapeline.health.examination import Examination, Health
from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, yellow
from tests.conftest import Service, run


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


class Probed:
    """In place of the probe, which belongs to the server's own event loop."""

    async def trouble(self) -> str | None:
        return None


@pytest.fixture
def parts(service: Service) -> Parts:
    made = replace(service.services.health.parts, background=Background())
    return replace(made, probe=Probed())  # type: ignore[arg-type]


def examined(parts: Parts, *checks: Check) -> Examination:
    return run(Health(parts, checks).examine())


def test_the_worst_row_is_the_state_of_all(parts: Parts) -> None:
    fine = Check("fine", lambda _: green("Fine.", level=3.0))
    doubtful = Check("doubtful", lambda _: yellow("Doubtful.", "Look at it."))
    assert examined(parts, fine).state == "green"
    found = examined(parts, fine, doubtful)
    assert found.state == "yellow"
    assert [(row.name, row.state, row.fix) for row in found.rows] == [
        ("fine", "green", ""),
        ("doubtful", "yellow", "Look at it."),
    ]
    assert found.figures == {"level": 3.0}


def test_a_check_that_fails_is_red_and_the_others_are_still_made(parts: Parts) -> None:
    def fail(_: Parts) -> Verdict:
        raise PermissionError(13, "Permission denied", "/secret/place")

    found = examined(parts, Check("broken", fail), Check("fine", lambda _: green("Fine.")))
    assert [row.state for row in found.rows] == ["red", "green"]
    assert found.rows[0].says == "It cannot be checked: Permission denied."
    noted = parts.background.kind(examination.NAME)
    assert noted.failures == 1


def test_a_check_that_hangs_is_red_and_is_not_begun_again(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination, "DEADLINE", 5.0)
    may_end, begun = threading.Event(), []

    def hang(_: Parts) -> Verdict:
        begun.append(1)
        may_end.wait(60)
        return green("Late.")

    async def ask_twice() -> list[Examination]:
        health = Health(parts, (Check("first", lambda _: green("Fine.")), Check("hangs", hang)))
        try:
            return [await health.examine(), await health.examine()]
        finally:
            may_end.set()

    for found in run(ask_twice()):
        assert [row.state for row in found.rows] == ["green", "red"]
        assert found.rows[1].says == "The check has not ended within 5 s."
    assert begun == [1]


def test_however_many_ask_it_is_examined_once(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination, "KEPT", 3600.0)
    looked: list[int] = []

    def look(_: Parts) -> Verdict:
        looked.append(1)
        return green("Fine.")

    async def ask_often() -> None:
        health = Health(parts, (Check("fine", look),))
        await asyncio.gather(*(health.examine() for _ in range(50)))

    run(ask_often())
    assert looked == [1]


def test_only_essential_checks_decide_whether_the_server_is_ready(parts: Parts) -> None:
    bad = Check("bad", lambda _: red("Broken.", "Mend it."))
    assert run(Health(parts, (bad,)).trouble()) is None
    assert run(Health(parts, (replace(bad, essential=True),)).trouble()) == "Broken."


def test_an_essential_check_that_hangs_makes_the_server_unready_in_time(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination, "READY_WITHIN", 0.2)
    may_end, begun = threading.Event(), []

    def hang(_: Parts) -> Verdict:
        begun.append(1)
        may_end.wait(60)
        return green("Late.")

    async def ask() -> list[str | None]:
        health = Health(parts, (Check("hangs", hang, essential=True),))
        try:
            return [await health.trouble() for _ in range(5)]
        finally:
            may_end.set()

    assert run(ask()) == [examination.NOT_LOOKED] * 5
    assert begun == [1]
