"""What the server and the process with the heavy libraries say to each other, as lines of JSON."""

import msgspec


class Match(msgspec.Struct, frozen=True):
    """Which of these lines a pattern matches somewhere."""

    pattern: str
    lines: list[str]


class Sessions(msgspec.Struct, frozen=True):
    """When an exchange is open between two days, each as YYYY-MM-DD."""

    calendar: str
    first: str
    last: str


class Question(msgspec.Struct, frozen=True):
    matches: list[Match] = []
    sessions: Sessions | None = None


class Answer(msgspec.Struct, frozen=True):
    matches: list[list[int] | str] = []
    """The places of the lines, or why the pattern cannot be used."""
    sessions: list[tuple[float, float]] = []
    """Epoch seconds, in order."""
    trouble: str | None = None
    """Why there are no sessions."""
