"""Makes rules of what a deployed version expects of itself. People may have tightened them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from tapeline.accounts.actor import Actor
from tapeline.errors import Conflict
from tapeline.watch.incidents import by_people
from tapeline.watch.rules import expectations, stored, tightening
from tapeline.watch.rules import rule as rule_json
from tapeline.watch.rules.invalid import InvalidRule
from tapeline.watch.rules.rule import Rule
from tapeline.watch.rules.stored import StoredRule

NO_LONGER = "The version that is deployed now does not expect this any more."


def apply(
    connection: Connection, actor: Actor, project_id: str, model_id: str, expected: Sequence[Any]
) -> None:
    """In the transaction that deploys the version."""
    wanted = {one.name: one for one in expectations.read(expected)}
    own = [
        one for one in stored.of_project(connection, project_id, model_id)
        if one.model_id == model_id
    ]  # fmt: skip
    known = {one.name: one for one in own if one.source == "version"}
    taken = {one.name for one in own if one.source == "person"}
    for name, before in known.items():
        if name not in wanted:
            by_people.end(connection, actor, before, NO_LONGER)
    for name, rule in wanted.items():
        if name in taken:
            raise NameOfPerson(
                f"This version expects a rule named {name}, and somebody has made a rule of that"
                " name. Rename or delete that one first."
            )
        if name not in known:
            spec = rule.written()
            stored.make(connection, actor, project_id, model_id, spec, source="version")
        elif known[name].spec != rule.written():
            more = _still_tighter(known[name], rule)
            stored.expect(connection, actor, known[name], rule.written(), more)


class NameOfPerson(Conflict):
    """This version expects a rule of a name that somebody has given to another rule."""


def _still_tighter(before: StoredRule, expected: Rule) -> dict[str, Any] | None:
    """What people tightened stays, unless the version is now as strict itself."""
    if before.override is None:
        return None
    try:
        wanted = rule_json.read(expected.written() | before.override, "model")
        tightening.require_tighter(expected, wanted)
    except (InvalidRule, stored.ExpectedByVersion):
        return None
    return tightening.difference(expected.written(), wanted.written())
