"""What a sender is told when an event is not stored."""

import asyncio

from starlette.responses import Response

from tapeline import host_faults
from tapeline.errors import Problem, StoreUnavailable
from tapeline.http.wire import errors
from tapeline.logs import Log

log = Log(__name__)


def failed(error: BaseException, path: str) -> Response:
    if isinstance(error, OSError):
        # A problem of the host: no disk space, process or descriptor left, or a process that hangs.
        known = host_faults.fault_of(error) is not None
        log.error(
            "cannot_take_event", exc_info=None if known else error, reason=str(error), path=path
        )
        error = host_faults.unavailable(error)
    elif not isinstance(error, Problem):
        log.error("bug", exc_info=error, path=path)
        error = Problem()
    answer = errors.answer(error)
    if answer.status_code == 405:
        answer.headers["Allow"] = "POST"
    return answer


def said_by(task: "asyncio.Task[Exception]") -> BaseException | None:
    """The result or the exception: the sender waits for either."""
    if task.cancelled():
        return StoreUnavailable()
    return task.exception() or task.result()
