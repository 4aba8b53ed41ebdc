"""The check of the last backup: green while it is young, yellow after a failure, red if too old."""

import pytest

from tapeline.backups.manifest import Content
from tapeline.backups.records import HOUR, Failed, Made, Standing
from tapeline.health.storing import backup

NOW = 1_800_000_000.0
MADE = Made(NOW - 20 * HOUR, "/backup/one", "here", 1.0, 1000, Content(1, 2, NOW), 1)
FAILED = Failed(NOW, "/backup/two cannot be written: No space left on device.", "here")


@pytest.mark.parametrize(
    ("standing", "state"),
    [
        (Standing(None), "green"),
        (Standing(24 * HOUR), "green"),
        (Standing(24 * HOUR, None, FAILED), "red"),
        (Standing(24 * HOUR, MADE), "green"),
        (Standing(24 * HOUR, MADE, FAILED), "yellow"),
        (Standing(9 * HOUR, MADE), "red"),
    ],
)
def test_the_age_of_the_last_good_backup_decides_the_colour(standing: Standing, state: str) -> None:
    verdict = backup.judged(standing, NOW)
    assert verdict.state == state
    assert bool(verdict.fix) == (state != "green")
    assert "/" not in verdict.says, "pages show it, so it has no paths"
