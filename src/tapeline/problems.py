"""The base classes of the error tree, one per kind of failure.

A class's docstring is its message, and its name in snake_case its stable `code`. Import them from
`errors`, which defines the rest of the tree. Only `http/wire/errors.py` maps them to status codes.
"""

import re


class Problem(Exception):
    """Something went wrong on the server. The error was logged; please try again."""

    field: str | None = None
    retry_after: int | None = None

    def __init__(
        self,
        message: str | None = None,
        *,
        field: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        self.message = message or (type(self).__doc__ or "").strip().replace("\n    ", " ")
        super().__init__(self.message)
        if field is not None:
            self.field = field
        if retry_after is not None:
            self.retry_after = retry_after

    @classmethod
    def code(cls) -> str:
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


class Invalid(Problem):
    """The request is not valid."""


class Unidentified(Problem):
    """Authentication is required. Send an idToken in the header `token` or as `Authorization:
    Bearer`."""


class Forbidden(Problem):
    """Your role does not allow this. Ask an owner or admin of the project."""


class Missing(Problem):
    """Not found, or you do not have access to it."""


class Conflict(Problem):
    """This conflicts with the current state."""


class Unprocessable(Problem):
    """The request is well formed, but does not show what it claims."""


class Limited(Problem):
    """Too many requests. Wait a little and try again."""


class Unavailable(Problem):
    """The database is unavailable. Nothing was stored; try again in a few seconds."""

    retry_after = 2
