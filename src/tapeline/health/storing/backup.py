"""The last scheduled backup: whether there is a good one, and whether it is too old."""

from tapeline.backups import records
from tapeline.backups.records import Standing
from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, duration, green, red, yellow

GONE = "Put it back. While the server is not on hold, it makes a new one within a minute"
WHY = "`tapeline doctor` on the machine of the server says why"


def look(parts: Parts) -> Verdict:
    standing = parts.store.read_now(records.standing, parts.settings)
    return judged(standing, parts.store.clock.with_pauses())


def judged(standing: Standing, now: float) -> Verdict:
    age = standing.age(now)
    if standing.every is None:
        return green("No backups are scheduled: the setting backup_folder is empty.")
    if age is None:
        failed = standing.failure is not None
        return red("The first backup failed.", WHY) if failed else green("No backup is due yet.")
    says = f"The last good backup is {duration(age)} old."
    if standing.is_gone:
        return red("The last good backup is gone from its folder.", GONE)
    if standing.is_too_old(now):
        return red(f"{says} One is scheduled every {duration(standing.every)}.", WHY)
    if standing.failure is not None:
        return yellow(f"{says} The attempt after it failed, and is repeated.", WHY)
    return green(says)
