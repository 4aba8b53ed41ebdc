"""The states of a rule, as a pure function: when it fires, when it is over, what it waits for."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tapeline.watch.conditions.condition import Finding
from tapeline.watch.incidents.deciding import Decision, RuleState, Terms, decide
from tapeline.watch.rules.hours import ALWAYS, Window

TRUE, FALSE = Finding(holds=True, said="yes"), Finding(holds=False, said="no")
UNKNOWN = Finding(holds=None, said="no price")


def terms(lasting: float = 0.0, window: Window = ALWAYS, muted: float | None = None) -> Terms:
    return Terms(lasting=lasting, window=window, muted_until=muted, revision=1)


def then(before: RuleState, decision: Decision) -> RuleState:
    """As it is stored: with the incident that was opened."""
    if decision.happened == "fired":
        assert before.incident_id is None
        return msgspec.structs.replace(decision.after, incident_id="i")
    return decision.after


def test_what_is_true_at_once_fires_at_once() -> None:
    made = decide(RuleState(), TRUE, terms(), 100.0)
    assert (made.happened, made.after.state, made.after.held_since) == ("fired", "firing", 100.0)


def test_what_must_last_is_pending_until_it_has_lasted() -> None:
    first = decide(RuleState(), TRUE, terms(10.0), 100.0)
    assert (first.happened, first.after.state, first.look_again) == (None, "pending", 110.0)
    later = decide(first.after, TRUE, terms(10.0), 110.0)
    assert (later.happened, later.after.held_since) == ("fired", 100.0)
    over = decide(first.after, FALSE, terms(10.0), 105.0)
    assert (over.happened, over.after.state, over.after.held_since) == (None, "ok", None)


def test_the_facts_may_know_that_it_was_true_long_before() -> None:
    since = Finding(holds=True, said="", since=50.0)
    assert decide(RuleState(), since, terms(40.0), 100.0).happened == "fired"


def test_an_incident_stays_open_while_nothing_can_be_said() -> None:
    firing = then(RuleState(), decide(RuleState(), TRUE, terms(), 1.0))
    dark = decide(firing, UNKNOWN, terms(), 2.0)
    assert (dark.happened, dark.after.state, dark.after.incident_id) == (None, "unknown", "i")
    again = decide(dark.after, TRUE, terms(99.0), 3.0)
    assert (again.happened, again.after.state) == (None, "firing")
    assert decide(dark.after, FALSE, terms(), 3.0).happened == "resolved"


def test_a_muted_rule_waits_and_fires_when_it_counts_again() -> None:
    muted = decide(RuleState(), TRUE, terms(muted=50.0), 10.0)
    assert (muted.happened, muted.after.state, muted.look_again) == (None, "pending", 50.0)
    assert decide(muted.after, TRUE, terms(muted=50.0), 50.0).happened == "fired"


def test_outside_of_its_hours_a_rule_is_ok_and_inside_it_counts_from_their_beginning() -> None:
    closed, opened = Window(False, 0.0, 100.0), Window(True, 100.0, 200.0)
    since = Finding(holds=True, said="", since=20.0)
    outside = decide(RuleState(), since, terms(10.0, closed), 90.0)
    assert (outside.after.state, outside.look_again) == ("ok", 100.0)
    inside = decide(outside.after, since, terms(10.0, opened), 101.0)
    assert (inside.after.state, inside.after.held_since) == ("pending", 100.0)
    firing = then(inside.after, decide(inside.after, since, terms(10.0, opened), 110.0))
    assert decide(firing, since, terms(10.0, Window(False, 200.0, None)), 200.0).happened == (
        "resolved"
    )


steps = st.lists(
    st.tuples(
        st.floats(0.0, 20.0),
        st.sampled_from([TRUE, FALSE, UNKNOWN]),
        st.booleans(),
    ),
    max_size=40,
)


@given(steps, st.floats(0.0, 30.0))
def test_whatever_happens_each_incident_is_opened_once_and_ended_once(
    course: list[tuple[float, Finding, bool]], lasting: float
) -> None:
    state, now, true_since, is_open = RuleState(), 1_000.0, None, False
    for pause, finding, is_muted in course:
        now += pause
        muted = now + 1.0 if is_muted else None
        made = decide(state, finding, terms(lasting, muted=muted), now)
        true_since = (true_since or now) if finding.holds else None
        if made.happened == "fired":
            assert finding.holds
            assert not is_open
            assert not is_muted
            assert true_since is not None
            assert now >= true_since + lasting
        if made.happened == "resolved":
            assert finding.holds is False
            assert is_open
        is_open = {"fired": True, "resolved": False}.get(made.happened or "", is_open)
        state = then(state, made)
        assert (state.incident_id is not None) == is_open
        assert (state.state == "firing") == (is_open and finding.holds is True)
        if state.state == "pending":
            assert made.look_again is not None
            assert made.look_again > now
        # Looked at again at the same moment, nothing more happens: a turn may be repeated.
        repeated = decide(state, finding, terms(lasting, muted=muted), now)
        assert repeated.happened is None
        assert repeated.after == state


def test_a_rule_that_was_never_true_is_ok_since_it_was_first_evaluated() -> None:
    first = decide(RuleState(), Finding(holds=False, said=""), terms(0.0), 100.0).after
    assert (first.state, first.since) == ("ok", 100.0)
    assert decide(first, Finding(holds=False, said=""), terms(0.0), 200.0).after.since == 100.0


def test_what_a_model_wrote_cannot_imitate_the_lines_around_it() -> None:
    said = "A line matches:\x1b[31m boom\r\nSeverity: info\u2028\u202eLimit"
    after = decide(RuleState(), Finding(holds=True, said=said), terms(), 5.0).after
    assert after.said == "A line matches: [31m boom Severity: info Limit"
