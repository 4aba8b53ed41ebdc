"""Which clients of the older platform do what, as a table that is read off the tests.

A test that is marked `older_client(client, feature)` is a row. One that is expected to fail says
so in the table, and must fail: once it works, the mark has to go.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parent
MARK = "older_client"


@dataclass(frozen=True, order=True)
class Row:
    client: str
    feature: str
    works: bool
    why_not: str


def rows() -> list[Row]:
    return sorted(row for file in TESTS.rglob("test_*.py") for row in _of(file))


def table() -> Iterator[str]:
    yield "| client | what it does | works |"
    yield "|---|---|---|"
    for row in rows():
        yield f"| `{row.client}` | {row.feature} | {'✓' if row.works else f'✗ {row.why_not}'} |"


def _of(file: Path) -> Iterator[Row]:
    text = file.read_text()
    if MARK not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            marks = dict(_mark(one) for one in node.decorator_list)
            if MARK in marks:
                client, feature = (ast.literal_eval(one) for one in marks[MARK].args)
                failing = next((marks[one] for one in ("xfail", "skip") if one in marks), None)
                yield Row(client, feature, failing is None, _reason(failing))


def _mark(decorator: ast.expr) -> tuple[str, ast.Call]:
    """The last word of a decorator, and how it is called."""
    call = decorator if isinstance(decorator, ast.Call) else ast.Call(decorator, [], [])
    return getattr(call.func, "attr", getattr(call.func, "id", "")), call


def _reason(mark: ast.Call | None) -> str:
    said = {one.arg: one.value for one in mark.keywords} if mark else {}
    return str(ast.literal_eval(said["reason"])) if "reason" in said else ""
