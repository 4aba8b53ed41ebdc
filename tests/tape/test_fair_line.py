"""Whoever was served least goes next: between projects, then keys, then models."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tapeline.tape.fair_line import FairLine, Owner

ADA, BEN = "ada", "ben"

owners = st.builds(Owner, st.sampled_from("ab"), st.sampled_from("kl"), st.integers(1, 3))
works = st.lists(st.tuples(owners, st.integers(1, 9)))


def served(line: FairLine[Owner], turns: int, cost: int = 10) -> list[Owner]:
    found = []
    for _ in range(turns):
        found.append(line.first())
        line.serve(cost)
    return found


def crowded(keys: int, models: int) -> FairLine[Owner]:
    """One project that waits with many models, some turns after it began."""
    line: FairLine[Owner] = FairLine()
    for key in range(keys):
        for model in range(models):
            for _ in range(2):
                line.add(Owner(ADA, f"key {key}", key * models + model), Owner(ADA, f"key {key}"))
    served(line, 7)
    return line


def test_many_models_of_one_project_do_not_delay_another_project() -> None:
    for keys, models in ((1, 220), (220, 1), (15, 15)):
        line = crowded(keys, models)
        line.add(Owner(BEN, "his", 1_000), Owner(BEN))
        assert Owner(BEN) in served(line, 2), (keys, models)


def test_many_models_of_one_key_do_not_delay_another_key_of_the_project() -> None:
    line = crowded(1, 220)
    line.add(Owner(ADA, "other", 1_000), Owner(ADA, "other"))
    assert Owner(ADA, "other") in served(line, 2)


def test_a_project_with_large_work_gets_fewer_turns_than_one_with_small_work() -> None:
    line: FairLine[tuple[str, int]] = FairLine()
    for _ in range(20):
        line.add(Owner(ADA), (ADA, 100))
        line.add(Owner(BEN), (BEN, 10))
    bytes_of = {ADA: 0, BEN: 0}
    for _ in range(22):
        who, size = line.first()
        line.serve(size)
        bytes_of[who] += size
    assert bytes_of == {ADA: 200, BEN: 200}


def test_leaving_the_line_neither_saves_turns_nor_forgets_a_debt() -> None:
    line: FairLine[str] = FairLine()
    for _ in range(9):
        line.add(Owner(BEN), BEN)
    line.add(Owner(ADA), ADA)
    seen = []
    for _ in range(6):
        who = line.first()
        seen.append(who)
        line.serve(30 if who == ADA else 10)
        if who == ADA:  # it always has one piece, sent when the one before is done
            line.add(Owner(ADA), ADA)
    assert seen == [BEN, ADA, BEN, BEN, BEN, ADA]


@given(works)
def test_everything_is_served_once_and_each_model_keeps_its_order(
    work: list[tuple[Owner, int]],
) -> None:
    line: FairLine[tuple[Owner, int, int]] = FairLine()
    for place, (owner, size) in enumerate(work):
        line.add(owner, (owner, size, place))
    seen = []
    while line:
        seen.append(line.first())
        line.serve(seen[-1][1])
    assert sorted(place for _, _, place in seen) == list(range(len(work)))
    for owner in {owner for owner, _, _ in seen}:
        own = [place for whose, _, place in seen if whose == owner]
        assert all(earlier < later for earlier, later in pairwise(own))
