"""Which scheduled backups are kept: as "7 daily, 4 weekly" says, and only of this installation."""

from datetime import UTC, datetime, timedelta

from tapeline.backups import rotation

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINE = "abc"


def names(hours: range) -> list[str]:
    """One backup for each, counted back from noon on Sunday, 1 March."""
    return [
        rotation.name_for(MINE, (NOON - timedelta(hours=n)).timestamp(), encrypted=False)
        for n in hours
    ]


def kept(found: list[str], keep: str) -> list[str]:
    """The days and hours of those that stay."""
    gone = rotation.expired(rotation.ours(found, MINE), keep)
    return [one.at.strftime("%m-%d %H") for one in rotation.ours(set(found) - set(gone), MINE)]


def test_the_newest_of_each_day_and_week_is_kept() -> None:
    daily = names(range(0, 24 * 30, 24))
    assert kept(daily, "3 daily, 2 weekly") == ["03-01 12", "02-28 12", "02-27 12", "02-22 12"]
    assert kept(daily, "2 monthly") == ["03-01 12", "02-28 12"]


def test_the_newest_within_a_period_counts() -> None:
    assert kept(names(range(0, 48, 6)), "2 daily") == ["03-01 12", "02-28 18"]
    assert kept(names(range(5)), "3 last") == ["03-01 12", "03-01 11", "03-01 10"]
    assert kept(names(range(30)), "1 yearly, 2 hourly") == ["03-01 12", "03-01 11"]


def test_a_gap_costs_nothing_and_the_newest_always_stays() -> None:
    """A server that was off for a month comes back to the backups that it had."""
    old = names(range(24 * 40, 24 * 43, 24))
    assert len(kept(old, "7 daily")) == 3
    assert len(kept(names(range(1)), "1 weekly")) == 1


def test_other_files_and_other_installations_are_never_touched() -> None:
    mine = names(range(0, 96, 24))
    others = [one.replace(MINE, "xyz") for one in mine]
    strange = ["tapeline-abc", "tapeline-abc-monday", ".tapeline-abc-20260301T120000Z.1.part"]
    found = rotation.ours([*mine, *others, *strange, f"{mine[0]}.tar.age.sha256"], MINE)
    assert [one.name for one in found] == mine
    assert rotation.expired(found, "1 last") == mine[1:]


def test_backups_from_a_clock_that_was_wrong_push_out_no_newer_one() -> None:
    tomorrow, yesterday, new = names(range(-24, 25, 24))[::2] + names(range(1))
    began = NOON.timestamp()
    really = {tomorrow: began - 7200.0, new: began}
    found = rotation.ours([tomorrow, yesterday, new], MINE, really, until=began)
    assert [one.name for one in found] == [new, tomorrow, yesterday]
    unknown = rotation.ours([tomorrow, new], MINE, {new: began}, until=began)
    assert rotation.expired(unknown, "1 last") == [tomorrow]


def test_encrypted_and_plain_backups_are_counted_together() -> None:
    plain = rotation.name_for(MINE, NOON.timestamp(), encrypted=False)
    encrypted = rotation.name_for(MINE, NOON.timestamp() - 86400, encrypted=True)
    assert encrypted.endswith(".tar.age")
    assert rotation.expired(rotation.ours([plain, encrypted], MINE), "1 last") == [encrypted]
