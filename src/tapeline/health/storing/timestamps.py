"""Whether outside authorities stamp the tapes, and how long the newest stamp of each is ago."""

from sqlalchemy import Connection, func, select

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, duration, green, yellow
from tapeline.store.tables.roots import stamps

PATIENCE = 2.5  # times the pause between two stamps
FIX = "Nothing waits for it, and it is asked again. Name another one in the setting timestamps"


def look(parts: Parts) -> Verdict:
    authorities = parts.roots.authorities
    if not authorities:
        return green("No time-stamp authority is named: the setting timestamps is empty.")
    newest = parts.store.read_now(_newest)
    ages = {
        one.address: parts.store.clock.age(newest[one.address])
        for one in authorities
        if one.address in newest
    }
    figures = {"timestamp_age_seconds": min(ages.values())} if ages else {}
    late = PATIENCE * 60 * parts.settings.timestamp_minutes
    for one in authorities:
        why = f" {one.last_error}" if one.last_error else ""
        if one.address not in ages and one.failures:
            return yellow(f"{one.address} has not stamped yet.{why}", FIX, **figures)
        if ages.get(one.address, 0.0) > late:
            said = f"The last stamp of {one.address} is {duration(ages[one.address])} old."
            return yellow(f"{said}{why}", FIX, **figures)
    if not ages:
        return green("No time stamp is due yet.")
    return green(f"The newest time stamp is {duration(min(ages.values()))} old.", **figures)


def _newest(connection: Connection) -> dict[str, float]:
    query = select(stamps.c.authority, func.max(stamps.c.at)).group_by(stamps.c.authority)
    return {row[0]: row[1] for row in connection.execute(query)}
