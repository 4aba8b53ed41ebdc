"""What ends with a person's rights in a project: invitations they made, answers kept for them."""

from sqlalchemy import ColumnElement, Connection, delete

from tapeline.store.tables.core import answers, invitations


def left(connection: Connection, project_id: str, user_id: str, email: str) -> None:
    """They are no member any more, or may no longer invite."""
    _end(connection, user_id, invitations.c.project_id == project_id, _of(email))


def no_owner(connection: Connection, project_id: str, user_id: str, email: str) -> None:
    """They may still invite, except owners."""
    owners = invitations.c.role == "owner"
    _end(connection, user_id, invitations.c.project_id == project_id, owners, _of(email))


def disabled(connection: Connection, user_id: str, email: str) -> None:
    _end(connection, user_id, _of(email))


def _of(email: str) -> ColumnElement[bool]:
    return invitations.c.invited_by == email


def _end(connection: Connection, user_id: str, *withdrawn: ColumnElement[bool]) -> None:
    connection.execute(delete(invitations).where(*withdrawn, invitations.c.used_at.is_(None)))
    # A repeat of an earlier request must not get its answer: it is carried out, and so refused.
    connection.execute(delete(answers).where(answers.c.scope == user_id))
