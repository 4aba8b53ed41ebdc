"""An installation that had its slice makes room, begins again, and can still be cancelled."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import pytest

from tapeline.errors import CannotInstall
from tapeline.models.versions import Version
from tapeline.runs.engines.engine import Engine, Job, NeedsInstalling, Prepared, Progress
from tapeline.runs.engines.installing import STOPPED
from tapeline.runs.journals.meaning import RunUpdate
from tapeline.runs.supervision.collector import Collector
from tapeline.runs.supervision.install_places import SLICE, InstallPlaces
from tapeline.runs.supervision.install_progress import InstallProgress
from tapeline.runs.supervision.installations import Installations
from tapeline.store.store import Store
from tests.runs.supervision.histories import a_run


class Builds:
    """The part of an engine that installs: builds that take until they may end or have to."""

    def __init__(self) -> None:
        self.begun: Counter[str] = Counter()
        self.may_end: set[str] = set()

    def prepare(self, job: Job, progress: Progress | None) -> Prepared:
        if progress is None:
            raise NeedsInstalling
        self.begun[job.run.id] += 1
        while job.run.id not in self.may_end:
            if progress.is_cancelled():
                raise CannotInstall(STOPPED)
            time.sleep(0.001)
        return Prepared(job.run.id, "confined")

    def close(self) -> None: ...


class Told(InstallProgress):
    """Progress that a test reads, instead of a tape."""

    def __init__(self) -> None:
        super().__init__(cast(Store, None), cast(Collector, None), "")
        self.lines_told: list[str] = []

    def _update(self, fill: Callable[[RunUpdate], None]) -> None:
        class Update:
            def line(_, text: str, *_more: object) -> None:  # noqa: N805
                self.lines_told.append(text)

        fill(cast(RunUpdate, Update()))


class Place:
    """A host with one place, and a clock that tests move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.builds = Builds()
        self.progress: dict[str, Told] = {}
        places = InstallPlaces(1, clock=lambda: self.now)
        self.installations = Installations(cast(Engine, self.builds), places)

    def begin(self, name: str) -> "asyncio.Task[Prepared]":
        """By a tenant of that name."""
        job = Job(a_run(name), cast(Version, None), f"project of {name}", 1, name)
        self.progress[name] = Told()
        prepare = self.installations.prepare(job, self.progress[name])
        return asyncio.ensure_future(prepare)

    async def until(self, condition: Callable[[], Any]) -> None:
        async with asyncio.timeout(60):
            while not condition():  # noqa: ASYNC110 - threads change it
                await asyncio.sleep(0.001)

    async def until_begun(self, name: str, tries: int) -> None:
        await self.until(lambda: self.builds.begun[name] == tries)


async def _played() -> Place:
    """Mallory's build never ends, and Ada's is short."""
    place = Place()
    hog = place.begin("mallory")
    await place.until_begun("mallory", 1)
    place.builds.may_end.add("ada")
    honest = place.begin("ada")
    await place.until(lambda: place.progress["ada"].lines_told)
    place.installations.rotate()
    assert place.builds.begun["ada"] == 0, "a slice is not over"
    place.now += SLICE
    place.installations.rotate()
    assert (await honest).lock == "ada"
    await place.until_begun("mallory", 2)
    assert not hog.done()
    place.installations.cancel("mallory")
    with pytest.raises(CannotInstall):
        await hog
    place.installations.close()
    return place


def test_a_build_that_had_its_slice_makes_room_and_begins_again() -> None:
    place = asyncio.run(_played())
    (said,) = place.progress["mallory"].lines_told
    assert said.startswith("Queued again: it was installing for 1 min")
    assert place.installations.queue().running == 0


async def _cancelled_while_put_back() -> None:
    place = Place()
    hog = place.begin("mallory")
    await place.until_begun("mallory", 1)
    honest = place.begin("ada")
    await place.until(lambda: place.progress["ada"].lines_told)
    place.now += SLICE
    place.installations.rotate()
    place.installations.cancel("mallory")
    with pytest.raises(CannotInstall):
        await hog
    assert place.progress["mallory"].is_cancelled()
    place.builds.may_end.add("ada")
    await honest
    place.installations.close()


def test_a_build_that_is_cancelled_while_it_goes_back_ends_for_good() -> None:
    asyncio.run(_cancelled_while_put_back())
