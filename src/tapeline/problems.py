"""The branches of the error tree: what kind of failure something is.

A class's docstring is its message, its name in snake_case its stable `code`. The leaves are in
`errors`, from where everybody takes both; only `http/wire/errors.py` knows which status they mean.
"""

import re


class Problem(Exception):
    """Something went wrong here. It has been logged; please try again."""

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
    """Who are you? Send an idToken in the header `token` or as `Authorization: Bearer`."""


class Forbidden(Problem):
    """Your role does not allow this. Ask an owner or admin of the project."""


class Missing(Problem):
    """There is no such thing, or it is not yours to see."""


class Conflict(Problem):
    """This conflicts with the present state."""


class Limited(Problem):
    """Too many requests. Wait a little and try again."""


class Unavailable(Problem):
    """The store cannot take this now. Nothing was stored; try again in a few seconds."""

    retry_after = 2
