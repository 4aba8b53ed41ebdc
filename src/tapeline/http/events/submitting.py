"""From events of a request to the submission that the inbox takes."""

import time
from collections.abc import Mapping, Sequence

from tapeline.errors import BacktestKey
from tapeline.http.events.bodies import Moment
from tapeline.tape.dates.time_header import read_time
from tapeline.tape.events.backtest_keys import kept_apart
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.tapes import WriteAccess


def moment_of(headers: Mapping[bytes, bytes]) -> Moment:
    """When the events happened by their header, and when they were received."""
    received_at = time.time()
    at = headers.get(b"time")
    return Moment(
        received_at if at is None else read_time(at.decode("utf-8", "replace")), received_at
    )


def submission_of(
    events: list[Event],
    access: WriteAccess,
    longest: int,
    prices: Sequence[bytes],
    *,
    batch: bool = False,
) -> Submission:
    """`longest`: bytes of a log line; `prices`: those among the events, packed."""
    if access.backtest_id is not None:
        for index, event in enumerate(events):
            try:
                events[index] = kept_apart(event, access.backtest_id, longest)
            except BacktestKey as refusal:
                where = f"Item {index}: " if batch else ""
                raise BacktestKey(where + refusal.message, field=refusal.field) from None
    project, tenant = access.project_id, access.tenant
    return Submission(events, access.key_id, project_id=project, tenant=tenant, prices=prices)
