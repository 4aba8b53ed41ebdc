"""What the server and the process with the heavy libraries say to each other, as lines of JSON."""

import msgspec


class Match(msgspec.Struct, frozen=True):
    """Which of these lines a pattern matches somewhere."""

    pattern: str
    lines: list[str]


class Places(msgspec.Struct, frozen=True):
    """The places of the lines that match, among the first `looked` of them."""

    found: list[int]
    looked: int


class Sessions(msgspec.Struct, frozen=True):
    """When an exchange is open between two days, each as YYYY-MM-DD."""

    calendar: str
    first: str
    last: str


class Question(msgspec.Struct, frozen=True):
    matches: list[Match] = []
    seconds: float = 0.0
    """For all patterns together: what is not looked at by then is left."""
    sessions: Sessions | None = None


class Answer(msgspec.Struct, frozen=True):
    matches: list[Places | str] = []
    """Of each pattern what was found, or why it cannot be used."""
    sessions: list[tuple[float, float]] = []
    """Epoch seconds, in order."""
    trouble: str | None = None
    """Why there are no sessions."""
