"""While several keys write, none of them decides how long a commit takes."""

from collections import deque

import pytest

from tapeline.tape.append.fair_shares import LASTING, OF_GROUP, SHARE, Shares, Waiting
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission


def sent(
    key: str,
    number: int,
    size: int,
    events: int = 1,
    *,
    is_large: bool = False,
    project: str | None = None,
    tenant: str | None = None,
) -> Waiting:
    body = b"x" * size
    one = Event(tape=1, kind=kinds.LOG, fields={}, body=body, time=0, received_at=0)
    return Submission([one] * events, key, is_large, project, tenant), number


def told(taken: list[Waiting]) -> list[tuple[str | None, int]]:
    return [(submission.key_id, number) for submission, number in taken]


@pytest.fixture
def clock() -> list[float]:
    return [100.0]


@pytest.fixture
def shares(clock: list[float]) -> Shares:
    return Shares(lambda: clock[0])


def test_a_key_that_is_alone_gets_the_whole_turn(shares: Shares) -> None:
    waiting = deque(sent("flood", number, 6_000) for number in range(50))
    assert len(shares.portion(waiting, 5_000)) == 50
    assert not waiting


def test_keys_that_write_together_get_a_share_each(shares: Shares) -> None:
    waiting = deque([sent("flood", 0, 10), sent("honest", 0, 10)])
    shares.portion(waiting, 5_000)
    waiting.extend(sent("flood", number, 6_000) for number in range(50))
    waiting.append(sent("honest", 1, 50))
    taken = told(shares.portion(waiting, 5_000))
    assert taken == [("flood", 0), ("flood", 1), ("flood", 2), ("honest", 1)]
    assert told(list(waiting)) == [("flood", number) for number in range(3, 50)]
    assert told(shares.portion(waiting, 5_000)) == [("flood", 3), ("flood", 4), ("flood", 5)]


def test_nobody_waits_for_ever_whose_submission_is_larger_than_a_share(shares: Shares) -> None:
    waiting = deque([sent("a", 0, 10), sent("b", 0, 10)])
    shares.portion(waiting, 5_000)
    waiting.extend([sent("a", 1, 9 * SHARE), sent("a", 2, 10), sent("b", 1, 9 * SHARE)])
    assert told(shares.portion(waiting, 5_000)) == [("a", 1), ("b", 1)]
    assert told(shares.portion(waiting, 5_000)) == [("a", 2)]


def test_a_key_that_is_alone_again_gets_all_again(shares: Shares, clock: list[float]) -> None:
    waiting = deque([sent("a", 0, 10), sent("b", 0, 10)])
    shares.portion(waiting, 5_000)
    clock[0] += LASTING
    waiting.extend(sent("a", number, 6_000) for number in range(50))
    assert len(shares.portion(waiting, 5_000)) == 50


def test_a_turn_ends_at_so_many_events(shares: Shares) -> None:
    waiting = deque(sent("a", number, 10, events=4) for number in range(5))
    assert len(shares.portion(waiting, 10)) == 3
    assert len(waiting) == 2


def test_single_events_pass_large_batches_except_those_of_their_own_key(shares: Shares) -> None:
    waiting = deque(
        [
            *(sent(key, 0, 10, events=10_000, is_large=True) for key in ("a", "b", "c")),
            *(sent(key, 1, 10) for key in ("b", "c", "d")),
        ]
    )
    assert told(shares.portion(waiting, 5_000)) == [("a", 0), ("d", 1)]
    assert told(list(waiting)) == [("b", 0), ("c", 0), ("b", 1), ("c", 1)]
    assert told(shares.portion(waiting, 5_000))[0] == ("b", 0)


def test_it_says_who_filled_a_share_only_while_others_write(
    shares: Shares, clock: list[float]
) -> None:
    flood = [sent("flood", number, SHARE) for number in range(3)]
    shares.portion(deque(flood), 5_000)
    assert shares.filled == set(), "it was alone"
    shares.portion(deque([*flood, sent("honest", 0, 10)]), 5_000)
    shares.portion(deque([*flood, sent("honest", 1, 10)]), 5_000)
    assert shares.filled == {"flood"}
    clock[0] += LASTING
    shares.portion(deque(flood), 5_000)
    assert shares.filled == set()


def flood_of_keys(keys: int, each: int, size: int) -> list[Waiting]:
    """Key after key, as much of each as it likes."""
    return [
        sent(f"key {key}", number, size, project="ada")
        for key in range(keys)
        for number in range(each)
    ]


def two_projects_met(shares: Shares) -> None:
    met = [sent("key 0", 0, 10, project="ada"), sent("his", 0, 10, project="ben")]
    shares.portion(deque(met), 5_000)


@pytest.mark.parametrize(("keys", "each"), [(220, 100), (20_000, 1)])
def test_many_keys_of_one_project_do_not_delay_another_project(
    shares: Shares, keys: int, each: int
) -> None:
    two_projects_met(shares)
    waiting = deque(flood_of_keys(keys, each, 50))
    waiting.append(sent("his", 1, 50, project="ben"))
    taken = shares.portion(waiting, 5_000)
    assert ("his", 1) in told(taken)
    assert sum(200 + 50 for _ in taken) < 2 * OF_GROUP, "nor does the commit take long"


def test_the_keys_of_a_project_that_fills_its_share_take_turns(shares: Shares) -> None:
    two_projects_met(shares)
    waiting = deque(flood_of_keys(20, 5, SHARE))
    waiting.extend([sent("key 20", 0, 10, project="ada"), sent("his", 1, 10, project="ben")])
    turns = [told(shares.portion(waiting, 5_000)) for _ in range(3)]
    first_seen = {key for turn in turns for key, _ in turn}
    assert first_seen == {"his", *(f"key {key}" for key in range(21))}
    left = [number for key, number in told(list(waiting)) if key == "key 0"]
    assert left == sorted(left), "what one key sent keeps its order"


def test_many_projects_of_one_tenant_do_not_delay_another_tenant(shares: Shares) -> None:
    def ada(project: int, number: int) -> Waiting:
        name = f"project {project}"
        return sent(f"key of {name}", number, 6_000, project=name, tenant="ada")

    def ben(number: int) -> Waiting:
        return sent("his", number, 50, project="his project", tenant="ben")

    shares.portion(deque([ada(0, 0), ben(0)]), 5_000)
    waiting = deque(ada(project, number) for project in range(60) for number in range(3))
    waiting.append(ben(1))
    turns = [shares.portion(waiting, 5_000) for _ in range(4)]
    assert ("his", 1) in told(turns[0])
    for turn in turns:
        assert sum(len(one.events[0].body) for one, _ in turn) < 2 * OF_GROUP
    seen = [key for turn in turns for key in {key for key, _ in told(turn)} - {"his"}]
    assert len(seen) == len(set(seen)), "its projects take turns"


def test_a_tenant_that_is_alone_gets_all(shares: Shares) -> None:
    many = [sent(f"key {n}", 0, 6_000, project=f"project {n}", tenant="ada") for n in range(50)]
    shares.portion(deque(many), 5_000)
    assert len(shares.portion(deque(many), 5_000)) == 50


def test_a_large_batch_leaves_the_share_of_its_project_to_single_events(shares: Shares) -> None:
    two_projects_met(shares)
    batch = sent("key 0", 1, 100, events=10_000, is_large=True, project="ada")
    waiting = deque([batch, sent("key 1", 1, 10, project="ada")])
    assert told(shares.portion(waiting, 5_000)) == [("key 0", 1), ("key 1", 1)]
