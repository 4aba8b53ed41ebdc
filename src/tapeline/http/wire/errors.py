"""The one place that maps errors to status codes, and the one shape of all error answers."""

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from tapeline import errors, host_faults
from tapeline.errors import Problem
from tapeline.logs import Log

log = Log(__name__)

STATUS: dict[type[Problem], int] = {
    errors.Invalid: 400,
    errors.Unidentified: 401,
    errors.Forbidden: 403,
    errors.Missing: 404,
    errors.MethodNotAllowed: 405,
    errors.TooSlow: 408,
    errors.Conflict: 409,
    errors.TooLarge: 413,
    errors.UnknownEncoding: 415,
    errors.Unprocessable: 422,
    errors.Limited: 429,
    errors.HeadTooLarge: 431,
    errors.Unavailable: 503,
    Problem: 500,
}


class ErrorShape(msgspec.Struct, omit_defaults=True, rename={"sentence": "error"}):
    """The body of every error answer."""

    sentence: str
    """What went wrong and what to do about it."""
    code: str
    """Stable, for programs."""
    field: str | None = None
    """The invalid key of the body, if there is one."""


def status_of(problem: type[Problem]) -> int:
    return next(STATUS[branch] for branch in problem.__mro__ if branch in STATUS)


def answer(problem: Problem) -> Response:
    shape = ErrorShape(problem.message, problem.code(), problem.field)
    content, status = msgspec.json.encode(shape), status_of(type(problem))
    return Response(content, status, headers_of(problem), media_type="application/json")


def headers_of(problem: Problem) -> dict[str, str]:
    headers = {}
    if problem.retry_after is not None:
        headers["Retry-After"] = str(problem.retry_after)
    if isinstance(problem, errors.TooSlow):
        headers["Connection"] = "close"  # the rest of the request may take for ever
    return headers


async def on_problem(_request: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    return answer(problem)


async def on_bug(_request: Request, _error: Exception) -> Response:
    """The exception is raised again after this; the middleware logs it."""
    return answer(Problem())


async def on_host_fault(request: Request, error: Exception) -> Response:
    """The machine failed, not the request: its disk is full, read-only or gone."""
    if host_faults.fault_of(error) is None:
        raise error
    log.error("host_fault", reason=str(error), method=request.method, path=request.url.path)
    return answer(host_faults.unavailable(error))


async def on_broken_reference(_request: Request, _error: Exception) -> Response:
    """A row this change refers to was deleted meanwhile: only possible with several servers."""
    return answer(errors.ChangedMeanwhile())


async def on_http_exception(_request: Request, error: Exception) -> Response:
    """Errors of the router: no such path, or a wrong method."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        response = answer(errors.MethodNotAllowed(f"This address takes only {allowed}."))
        response.headers["Allow"] = allowed
        return response
    return answer(errors.NoSuchPage())
