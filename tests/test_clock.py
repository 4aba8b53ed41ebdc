"""Time that does not jump: what is measured by it ages at its own speed, whatever the wall says."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeline import clock as clocks
from tapeline.clock import DAY, Clock, Moment

START = 1_800_000_000.0
HOUR = 3600.0


@dataclass
class Machine:
    """A machine whose time passes when we say so, and whose wall clock anybody can set."""

    boot: float = 500.0
    wall: float = START

    def read(self) -> Moment:
        return Moment(self.boot, self.wall)

    def pass_by(self, seconds: float) -> None:
        self.boot += seconds
        self.wall += seconds

    def reboot(self, off: float) -> None:
        self.boot, self.wall = 10.0, self.wall + off


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def clock(machine: Machine) -> Clock:
    return Clock(machine.read)


@pytest.fixture
def boot_ids(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    ids = ["first"]
    monkeypatch.setattr(clocks, "boot_id", lambda: ids[-1])
    return ids


def test_a_jump_is_noticed_once_and_changes_no_duration(machine: Machine, clock: Clock) -> None:
    assert not clock.look()
    machine.wall += 3 * DAY
    machine.pass_by(60)
    assert clock.look()
    assert not clock.look()
    assert clock.now() == START + 60
    machine.wall -= 3 * DAY + HOUR
    assert clock.look()
    assert [one.seconds for one in clock.jumps] == [3 * DAY, -3 * DAY - HOUR]
    assert "jumped 3.0 days ahead, to 2027-01-18" in clock.jumps[0].sentence()
    assert "jumped 3.0 days back" in clock.jumps[1].sentence()


def test_what_ntp_does_every_day_is_no_jump(machine: Machine, clock: Clock) -> None:
    machine.wall += 1.5
    assert not clock.look()
    machine.wall -= 3.0
    assert not clock.look()
    assert clock.jumped == 0


def test_nothing_is_old_because_the_clock_went_ahead(machine: Machine, clock: Clock) -> None:
    machine.wall += 3 * DAY
    for _ in range(2):
        assert clock.ago(DAY) == START - DAY
        clock.look()
    machine.pass_by(HOUR)
    assert clock.ago(DAY) == START + HOUR - DAY
    machine.wall -= 3 * DAY
    clock.look()
    assert clock.ago(DAY) == START + HOUR - DAY, "stamps from both times are kept"
    machine.pass_by(2 * DAY)
    assert clock.ago(DAY) == machine.wall - DAY


def test_a_pause_counts_on_the_same_boot(
    machine: Machine, clock: Clock, boot_ids: list[str]
) -> None:
    saved = clock.saved()
    machine.pass_by(HOUR)
    again = Clock(machine.read)
    again.resume(saved)
    assert again.now() == START + HOUR
    machine.wall -= 2 * HOUR
    third = Clock(machine.read)
    third.resume(again.saved())
    assert [one.seconds for one in third.jumps] == [-2 * HOUR], "it was set while nothing ran"


def test_what_happened_while_the_machine_was_off_is_unknown(
    machine: Machine, clock: Clock, boot_ids: list[str]
) -> None:
    saved = clock.saved()
    boot_ids.append("second")
    machine.reboot(off=3 * DAY)
    again = Clock(machine.read)
    again.resume(saved)
    assert again.now() == START
    assert again.jumps == (), "it was off"
    assert again.ago(DAY) == START - DAY, "or its clock is wrong: keep everything"
    machine.pass_by(DAY + 1)
    assert again.ago(DAY) == machine.wall - DAY
    saved = again.saved()
    boot_ids.append("third")
    machine.reboot(off=-HOUR)
    third = Clock(machine.read)
    third.resume(saved)
    assert [one.seconds for one in third.jumps] == [-HOUR], "no pause is negative"


def test_a_pause_counts_for_credentials_and_schedules_and_a_jump_does_not(
    machine: Machine, clock: Clock, boot_ids: list[str]
) -> None:
    machine.wall += DAY
    clock.look()
    machine.pass_by(HOUR)
    saved = clock.saved()
    boot_ids.append("second")
    machine.reboot(off=3 * DAY)
    again = Clock(machine.read)
    again.resume(saved)
    machine.wall -= DAY
    again.look()
    assert again.now() == START + HOUR
    assert again.with_pauses() == START + HOUR + 3 * DAY == machine.wall
    assert again.shown(again.with_pauses() + HOUR) == machine.wall + HOUR
    again.catch_up(again.now() + 40)
    assert again.with_pauses() == machine.wall, "what another server counted was a pause here"


def test_the_age_of_a_stamp_is_real_whatever_the_clock_said_when_it_was_made(
    machine: Machine, clock: Clock, boot_ids: list[str]
) -> None:
    before = machine.wall
    machine.pass_by(HOUR)
    machine.wall += DAY
    clock.look()
    ahead = machine.wall
    machine.pass_by(60)
    machine.wall -= DAY
    clock.look()
    assert (clock.age(before), clock.age(ahead), clock.age(machine.wall)) == (HOUR + 60, 60, 0)
    assert clock.age(machine.wall + 1) == 0, "a moment ahead is now"
    saved = clock.saved()
    boot_ids.append("second")
    machine.reboot(off=3 * DAY)
    again = Clock(machine.read)
    again.resume(saved)
    assert again.age(before) == HOUR + 60 + 3 * DAY


def test_a_jump_is_worth_a_notice_for_a_day(machine: Machine, clock: Clock) -> None:
    assert clock.saved().recent() is None
    machine.wall += HOUR
    clock.look()
    machine.pass_by(DAY - 1)
    assert clock.saved().recent() is not None
    machine.pass_by(2)
    assert clock.saved().recent() is None


def test_servers_that_count_together_follow_the_one_ahead(machine: Machine, clock: Clock) -> None:
    clock.catch_up(START + 40)
    assert clock.now() == START + 40
    clock.catch_up(START)
    assert clock.now() == START + 40
    assert not clock.look(), "catching up is no jump"
    assert clock.ago(DAY) == machine.wall - DAY


STEPS = st.lists(
    st.tuples(st.floats(0, 2 * DAY), st.sampled_from([0.0, 3 * DAY, -3 * DAY, HOUR, -HOUR, 1.0])),
    max_size=8,
)


@given(steps=STEPS, window=st.sampled_from([HOUR, DAY, 3 * DAY]))
def test_whatever_is_called_old_really_is(steps: list[tuple[float, float]], window: float) -> None:
    machine = Machine()
    clock, stamps = Clock(machine.read), []
    for seconds, jump in steps:
        stamps.append((machine.boot, machine.wall))
        machine.pass_by(seconds)
        machine.wall += jump
        clock.look()
        stamps.append((machine.boot, machine.wall))
        old = [boot for boot, wall in stamps if wall < clock.ago(window)]
        # Steps that are too small to be called a jump may add up to one.
        assert all(machine.boot - boot > window - clocks.JUMP for boot in old)


def test_a_stamp_is_put_right_by_what_the_clock_was_ahead_when_it_was_made(
    machine: Machine, clock: Clock
) -> None:
    machine.pass_by(60)
    early = machine.wall
    machine.wall += 2 * HOUR
    assert clock.look()
    machine.pass_by(60)
    ahead = machine.wall
    assert clock.put_right(early) == early + 2 * HOUR
    machine.wall -= 2 * HOUR
    assert clock.look()
    machine.pass_by(60)
    assert [clock.put_right(one) for one in (early, ahead)] == [early, ahead - 2 * HOUR]
    assert clock.put_right(machine.wall) == machine.wall
    nobodys = machine.wall + 30 * DAY
    assert clock.put_right(nobodys) == nobodys, "another server's clock made it"
