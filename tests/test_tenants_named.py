"""Whoever waits or takes space does so as a tenant: an owner's first name is never a model, a
project or an account, of which one tenant can have any number."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "tapeline"
TENANTS = ("tenants.of_project", "tenants.of_actor", "tenants.of_user")
"""Functions that find one."""
NAMES = {"tenant", "self.tenant", "turns.STRANGERS", "turns.SERVER", "SERVER"}
FOUND = {"known[project_id]"}  # by `tenants.of_projects`


def owners() -> Iterator[tuple[str, ast.expr]]:
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Owner":
                first = node.args[0] if node.args else node.keywords[0].value
                yield f"{file.relative_to(SOURCE)}:{node.lineno}", first


def is_tenant(first: ast.expr) -> bool:
    said = ast.unparse(first)
    is_part_of_the_server = isinstance(first, ast.Constant)
    return is_part_of_the_server or said in NAMES | FOUND or said.startswith(TENANTS)


def test_every_owner_begins_with_its_tenant() -> None:
    found = dict(owners())
    assert len(found) > 10
    assert {where: ast.unparse(one) for where, one in found.items() if not is_tenant(one)} == {}
