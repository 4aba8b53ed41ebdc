"""The log of a shared page: tracebacks are folded, long lines open in full."""

from tapeline.sharing.exhibits.answers import SharedLine
from tapeline.sharing.pages.log_entries import Entry, entries

FRAMES = ["Traceback (most recent call last):", '  File "a.py", line 1', "    f()"]
CAUSE = "During handling of the above exception, another exception occurred:"


def log(*texts: str) -> list[Entry]:
    return entries(
        [
            SharedLine(line=text, type="stderr", time=at, received_at=at, seq=at)
            for at, text in enumerate(texts)
        ]
    )


def shown(entry: Entry) -> list[str]:
    return ["".join(span.text for span in line) for line in entry.brief]


def test_lines_of_a_traceback_are_one_entry_that_shows_its_last_line() -> None:
    before, whole, after = log("before", *FRAMES, "ValueError: bad", "after")
    assert (shown(whole), whole.rest, whole.seq) == (["ValueError: bad"], "4 lines", 1)
    assert (before.rest, shown(after)) == ("", ["after"])


def test_a_traceback_in_one_event_is_folded_too() -> None:
    (whole,) = log("\n".join([*FRAMES, "ValueError: bad", ""]))
    assert (shown(whole), len(whole.whole)) == (["ValueError: bad"], 4)


def test_an_exception_is_joined_with_the_one_it_came_from() -> None:
    whole, after = log(*FRAMES, "KeyError: 1", "", CAUSE, "", *FRAMES, "ValueError: bad", "after")
    assert (shown(whole), whole.rest) == (["ValueError: bad"], "11 lines")
    assert shown(after) == ["after"]


def test_a_log_may_end_within_a_traceback() -> None:
    for count in range(1, 4):
        assert len(log(*FRAMES[:count])) == 1
    assert len(log(*FRAMES, "KeyError: 1", "", CAUSE)) == 1


def test_few_lines_are_shown_in_full_and_many_by_their_beginning() -> None:
    few, many, long = log("columns\n1 2 3", "1\n2\n3\n4\n5\n6", "x" * 20_000)
    assert (shown(few), few.whole) == (["columns", "1 2 3"], [])
    assert (shown(many), many.rest) == (["1", "2", "3", "4"], "6 lines")
    assert (len(shown(long)[0]), long.rest) == (1_000, "20,000 characters")
