"""Every good record of the set passes, and every bad one is caught for the right reason."""

import pytest

from tapeline.tape.record import in_words
from tests.tape.record import cases, tampering
from tests.tape.record.case import Case

EVERY = cases.every()


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.name)
def test_each_record_is_judged_as_the_set_says(case: Case) -> None:
    found = cases.checked(case)
    assert (found.verdict, found.status) == (case.verdict, case.status), found.reason
    told = cases.facts(found)
    assert {name: told[name] for name in case.facts} == dict(case.facts)
    assert in_words.words(found)


@pytest.mark.heavy
def test_the_set_is_the_same_in_every_run_and_large_enough() -> None:
    assert [cases.line(one) for one in cases.every()] == [cases.line(one) for one in EVERY]
    assert len({one.name for one in EVERY}) == len(EVERY)
    assert len(list(tampering.cases())) >= 60
