"""When a screener runs: cron expressions, always in UTC, where no hour is skipped or repeated."""

import time
from datetime import UTC, datetime

from cronsim import CronSim, CronSimError

from tapeline.errors import Invalid

NAMED = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
LONGEST = 200


def checked(text: str) -> str:
    """A valid expression in its normal form; one that never fires is refused."""
    schedule = " ".join(text.split())
    try:
        next_after(schedule, time.time())
    except (CronSimError, ValueError, StopIteration) as error:
        raise Invalid(
            f"`schedule` is {text[:LONGEST]!r}, which is not a cron expression ({_reason(error)})."
            " Five fields: minute, hour, day of month, month, day of week, in UTC; such as"
            f" `30 14 * * 1-5`, or one of {', '.join(NAMED)}.",
            field="schedule",
        ) from None
    return schedule


def next_after(schedule: str, moment: float) -> float:
    """The first tick after a moment, in epoch seconds."""
    expression = NAMED.get(schedule.lower(), schedule)
    if len(schedule) > LONGEST:
        raise ValueError("too long")
    if len(expression.split()) != 5:
        raise CronSimError("Wrong number of fields")
    return next(CronSim(expression, datetime.fromtimestamp(moment, UTC))).timestamp()


def _reason(error: Exception) -> str:
    return str(error) or "it never fires"
