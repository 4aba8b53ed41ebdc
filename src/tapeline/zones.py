"""Time zones by name, for the texts of tear sheets and downloads. Numbers are always in UTC."""

from datetime import UTC, tzinfo
from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo

import msgspec

from tapeline.errors import Invalid

ZoneName = Annotated[str, msgspec.Meta(max_length=64)]
"""The name of a time zone, such as `Europe/Berlin`, in which dates are written. Default: UTC."""


@cache
def zone_of(name: str) -> tzinfo:
    if name in {"", "UTC", "utc"}:
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown to this machine, or not a name at all
        raise Invalid(
            f"`zone` is {name!r}, which is not a time zone that this server knows. Send a name such"
            " as Europe/Berlin, or leave it out for UTC.",
            field="zone",
        ) from None


def name_of(zone: tzinfo) -> str:
    return "UTC" if zone is UTC else str(zone)
