"""What only one of several servers on a database may do; `store/leadership.py` decides which."""

from contextvars import ContextVar

from tapeline.errors import Unavailable

as_leader: ContextVar[bool] = ContextVar("as_leader", default=False)
"""Whether what this task writes may be written by the server that leads alone."""


class LeadsNoMore(Unavailable):
    """Another server has taken over what this one was doing. Try again in a few seconds."""
