"""What a model does: its orders, what they cost, its log, its reports."""

import time

from tests.pushing import Model
from tests.watch.conditions.asking import DAY, Watcher, about, mark, order, trade


def test_orders_per_minute_by_their_own_time(model: Model, watcher: Watcher, now: float) -> None:
    assert watcher.of_model(model, "orders-per-minute", limit=1).holds is None
    for number in range(5):
        trade(model, now - 10, order(number))
        trade(model, now - 5 * DAY, order(f"old{number}"))  # reported now, and no flood
    found = watcher.of_model(model, "orders-per-minute", limit=4, now=now)
    assert (found.holds, found.value) == (True, 5)
    assert found.look_again == about(now + 50, 0.01)
    slow = {"condition": "orders-per-minute", "within": "10m"}
    assert watcher.of_model(model, slow, limit=4, now=now).value == 0.5
    assert watcher.of_model(model, "orders-per-minute", limit=4, now=now + 51).holds is False
    (one,) = watcher.preview(model, slow, limit=0.3, now=now)[-1:]
    assert (one.began_at, one.ended_at) == (about(now - 10, 0.01), None)


def test_the_share_of_rejected_and_cancelled_orders(
    model: Model, watcher: Watcher, now: float
) -> None:
    for number in range(4):
        trade(model, now - 60, order(number, None, price=90), "spot-limit")
    assert "5 are needed" in watcher.of_model(model, "rejected-share", limit=1).said
    trade(model, now - 60, order(4, None, price=90), "spot-limit")
    for number, status in enumerate(["rejected", "rejected", "canceled"]):
        model.push("/v1/live/update-trade", {"id": f"o{number}", "status": status})
    rejected = watcher.of_model(model, "rejected-share", limit=39)
    assert (rejected.holds, rejected.value) == (True, 40)
    cancelled = watcher.of_model(model, "cancelled-share", limit=20)
    assert (cancelled.holds, cancelled.value) == (False, 20)
    assert watcher.of_model(model, "rejected-share", limit=39, now=now + 3600).holds is False
    assert len(watcher.preview(model, "rejected-share", limit=39, now=now)) == 1


def test_slippage_is_weighted_by_value(model: Model, watcher: Watcher, now: float) -> None:
    trade(model, now - 60, order(1, 100))
    assert watcher.of_model(model, "slippage", limit=1).holds is None
    trade(model, now - 50, order(2, 101, price=100))
    trade(model, now - 40, order(3, 98, price=100, side="sell"))
    found = watcher.of_model(model, "slippage", limit=1)
    assert (found.holds, found.value) == (True, about(100 * (1.01 + 1.96) / 199))
    assert watcher.of_model(model, "slippage", limit=1, now=now + DAY).holds is False
    assert len(watcher.preview(model, "slippage", limit=1.2, now=now)) == 1


def test_the_share_of_fees(model: Model, watcher: Watcher, now: float) -> None:
    trade(model, now - 60, order(1, 100, fee=0.1))
    assert watcher.of_model(model, "fee-share", limit=0.5).holds is False
    trade(model, now - 50, order(2, 100, fee=2))
    found = watcher.of_model(model, "fee-share", limit=1)
    assert (found.holds, found.value) == (True, about(1.05))
    assert watcher.of_model(model, "fee-share", limit=1, now=now + DAY).holds is False


def test_a_line_that_matches_holds_for_its_window(model: Model, watcher: Watcher) -> None:
    when = {"condition": "log-line", "matches": r"(?i)insufficient \w+", "within": "5m"}
    model.push("/v1/live/log", {"line": "all is well", "type": "info"})
    quiet = watcher.of_model(model, when)
    assert quiet.holds is False
    model.push("/v1/live/log", {"line": "INSUFFICIENT funds for o7", "type": "error"})
    found = watcher.of_model(model, when, memory=quiet.memory)
    assert found.holds is True
    assert found.said == "A line matches: INSUFFICIENT funds for o7"
    assert found.memory is not None
    # Nothing new: what was found is remembered, and passes.
    again = watcher.of_model(model, when, memory=found.memory)
    assert (again.holds, again.since) == (True, found.since)
    later = watcher.of_model(model, when, memory=found.memory, now=time.time() + 301)
    assert later.holds is False
    assert len(watcher.preview(model, when)) == 1


def test_a_pattern_is_looked_for_in_what_readers_see(model: Model, watcher: Watcher) -> None:
    when = {"condition": "log-line", "matches": "^order o7 rejected$"}
    quiet = watcher.of_model(model, when)
    model.push("/v1/live/log", {"line": "\x1b[31morder \x1b[1mo7\x1b[0m rejected\n"})
    found = watcher.of_model(model, when, memory=quiet.memory)
    assert (found.holds, found.said) == (True, "A line matches: order o7 rejected")


def test_a_new_rule_does_not_fire_for_lines_before_it(model: Model, watcher: Watcher) -> None:
    model.push("/v1/live/log", {"line": "boom", "type": "error"})
    when = {"condition": "log-line", "matches": "boom"}
    assert watcher.of_model(model, when, counts_from=time.time() + 1).holds is False
    assert watcher.of_model(model, when).holds is True


def test_many_lines_are_read_in_portions_and_none_is_missed(model: Model, watcher: Watcher) -> None:
    when = {"condition": "log-line", "matches": "needle"}
    model.push("/v1/live/log", {"line": "first", "type": "info"})
    memory = watcher.of_model(model, when).memory
    lines = [{"path": "/v1/live/log", "body": {"line": f"hay {n}"}} for n in range(3_000)]
    lines[2_500]["body"] = {"line": "a needle"}
    model.push("/v1/batch", lines)
    first = watcher.of_model(model, when, memory=memory)
    assert first.holds is False
    assert first.look_again is not None
    assert watcher.of_model(model, when, memory=first.memory).holds is True


def test_a_pattern_that_takes_for_ever_elsewhere_does_not_here(
    model: Model, watcher: Watcher
) -> None:
    model.push("/v1/live/log", {"line": "a" * 3_000 + "b"})
    started = time.monotonic()
    found = watcher.of_model(model, {"condition": "log-line", "matches": "(a*)*c"})
    assert found.holds is False
    assert time.monotonic() - started < 20
    broken = watcher.of_model(model, {"condition": "log-line", "matches": "(a"})
    assert broken.holds is None
    assert "missing )" in broken.said


def test_late_reports(model: Model, watcher: Watcher, now: float) -> None:
    trade(model, now, order(1))
    assert watcher.of_model(model, "late-reports").holds is False
    trade(model, now - 2 * DAY, order(2))
    mark(model, now - DAY, 90)
    found = watcher.of_model(model, "late-reports", limit=1)
    assert (found.holds, found.value) == (True, 2)
    assert "one of them 2 d" in found.said
    assert watcher.of_model(model, "late-reports", now=time.time() + 3601).holds is False
    assert len(watcher.preview(model, "late-reports", limit=0)) == 1
