"""Who may install next: shares and turns, without anything that is installed."""

from tapeline.runs.supervision.install_places import InstallPlaces, Queue


def places(most: int = 8, per_project: int = 2, per_owner: int = 4) -> InstallPlaces:
    return InstallPlaces(most, per_project, per_owner, clock=lambda: 0.0)


def test_a_project_cannot_take_more_than_its_share_however_many_it_asks_for() -> None:
    made = places()
    for number in range(20):
        made.ask(f"theirs-{number}", "theirs", "mallory")
    assert made.admit() == ["theirs-0", "theirs-1"]
    made.ask("mine", "mine", "ada")
    assert made.admit() == ["mine"]
    made.leave("theirs-1")
    assert made.admit() == ["theirs-2"]


def test_many_projects_of_one_owner_leave_places_for_others() -> None:
    made = places()
    for number in range(8):
        made.ask(f"theirs-{number}", f"project-{number}", "mallory")
    assert len(made.admit()) == 4
    made.ask("mine", "mine", "ada")
    assert made.admit() == ["mine"]


def test_projects_take_turns_and_the_one_with_the_fewest_is_first() -> None:
    made = places(most=3)
    for number in range(3):
        made.ask(f"a{number}", "a", "ada")
    for number in range(2):
        made.ask(f"b{number}", "b", "bob")
    assert made.admit() == ["a0", "b0", "a1"]
    made.ask("c0", "c", "cy")
    made.leave("a0")
    assert made.admit() == ["c0"], "it has none yet"
    made.leave("c0")
    assert made.admit() == ["b1"], "b and a have one each, and a had its turn later"


def test_a_run_that_stops_waiting_is_passed_over_and_forgotten() -> None:
    made = places(most=1)
    for name in ("first", "second", "third"):
        made.ask(name, name, name)
    assert made.admit() == ["first"]
    made.leave("second")
    made.leave("unknown")
    made.leave("first")
    assert made.admit() == ["third"]
    made.leave("third")
    assert made.queue() == Queue()


def test_the_queue_says_how_long_the_oldest_has_waited() -> None:
    now = 100.0
    made = InstallPlaces(1, 1, 1, clock=lambda: now)
    for name in ("first", "second", "third"):
        made.ask(name, name, name)
        now += 10
    made.admit()
    assert made.queue() == Queue(running=1, waiting=2, longest=20.0)
