"""A moment as a shared page writes it."""

from typing import NamedTuple

from tapeline import moments


class Moment(NamedTuple):
    """For machines, and for people in UTC."""

    iso: str
    text: str
    day: str


def moment(seconds: float | None) -> Moment | None:
    found = None if seconds is None else moments.moment(seconds)
    if found is None:
        return None
    return Moment(
        found.strftime("%Y-%m-%dT%H:%M:%SZ"),
        found.strftime("%Y-%m-%d %H:%M"),
        found.strftime("%Y-%m-%d"),
    )
