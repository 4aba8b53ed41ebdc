"""Which keys may write now, and where. A key of a run writes to its model until the run is over.

The cache that let an event in may be behind; this look, in the transaction that stores it, is not.
"""

from typing import NamedTuple

from sqlalchemy import Connection, update

from tapeline.errors import NoSuchModel, Problem, Superseded, WrongKey
from tapeline.store import bulk
from tapeline.store.tables.core import keys
from tapeline.store.tables.runs import runs

_KEYS = """
select k.id, k.project_id, k.run_id, k.fence, r.model_id, r.fence, r.ended_at, m.fence
from keys k left join runs r on r.id = k.run_id left join models m on m.id = r.model_id
where k.id in ({}) and k."write"
"""


class WriteRight(NamedTuple):
    project_id: str
    run_id: str | None = None
    key_fence: int | None = None
    model_id: str | None = None
    run_fence: int | None = None
    ended_at: float | None = None
    model_fence: int | None = None

    def refusal(self, model_id: str, project_id: str) -> Problem | None:
        """Why this key may not write to this model's tape."""
        if project_id != self.project_id:
            return NoSuchModel()
        if self.run_id is None:
            return None
        if model_id != self.model_id:
            return NoSuchModel("This key was made for a run of another model.", field="model_id")
        if self.ended_at is None and self.run_fence == self.key_fence:
            return None
        if (self.model_fence or 0) > (self.key_fence or 0):
            return Superseded()
        return WrongKey("The run that this key was made for has ended.")


def of_keys(connection: Connection, wanted: set[str]) -> dict[str, WriteRight]:
    """The rights of every key that may write at all."""
    if not wanted:
        return {}
    query = _KEYS.format(bulk.marks(len(wanted)))
    return {row[0]: WriteRight(*row[1:]) for row in bulk.fetch(connection, query, sorted(wanted))}


def note_refused(connection: Connection, key_id: str) -> None:
    """Count that a superseded run still sends."""
    run = keys.select().with_only_columns(keys.c.run_id).where(keys.c.id == key_id)
    connection.execute(
        update(runs).where(runs.c.id == run.scalar_subquery()).values(refused=runs.c.refused + 1)
    )
