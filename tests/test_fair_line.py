"""Whoever was served least goes next: between tenants, then projects, keys and models."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tapeline.fair_line import VISITORS, FairLine, Owner

ADA, BEN = "ada", "ben"

names = st.sampled_from
owners = st.builds(Owner, names("ab"), names("pq"), names("kl"), st.integers(1, 3))
works = st.lists(st.tuples(owners, st.integers(1, 9)))


def served(line: FairLine[Owner], turns: int, cost: int = 10) -> list[Owner]:
    found = []
    for _ in range(turns):
        found.append(line.first())
        line.serve(cost)
    return found


def crowded(projects: int, keys: int = 1, models: int = 1) -> FairLine[Owner]:
    """One tenant that waits with many models, some turns after it began."""
    line: FairLine[Owner] = FairLine()
    for project in range(projects):
        for key in range(keys):
            for model in range(models):
                whose = Owner(ADA, f"project {project}", f"key {project}.{key}", model)
                for _ in range(2):
                    line.add(whose, whose)
    served(line, 7)
    return line


def test_one_tenant_does_not_delay_another_however_it_spreads_its_work() -> None:
    """The defect was always the level above the last one that took turns."""
    his = Owner(BEN, "his project", "his key", 1_000)
    for spread in ((1, 1, 220), (1, 220, 1), (220, 1, 1), (6, 6, 6)):
        line = crowded(*spread)
        line.add(his, his)
        assert his in served(line, 2), spread


def test_visitors_go_after_the_people_of_their_tenant_and_in_turns_among_themselves() -> None:
    line: FairLine[Owner] = FairLine()
    crowd, visitor = Owner(ADA, VISITORS, "crowd"), Owner(ADA, VISITORS, "visitor")
    own, another, his = Owner(ADA, "own"), Owner(ADA, "another"), Owner(BEN, VISITORS, "crowd")
    for _ in range(9):
        line.add(crowd, crowd)
    served(line, 4)
    for one in (visitor, his, own, own, another):
        line.add(one, one)
    of_hers = [one for one in served(line, 6) if one.tenant == ADA]
    assert of_hers == [own, another, own, visitor, crowd]


def test_work_of_one_key_or_project_does_not_delay_its_neighbours() -> None:
    for other in (
        Owner(ADA, "project 0", "other key", 1_000),
        Owner(ADA, "other project", "other key", 1_000),
    ):
        line = crowded(1, 1, 220)
        line.add(other, other)
        assert other in served(line, 2)


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
