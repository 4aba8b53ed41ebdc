"""The wall clock gives stamps that people read. Durations and comparisons need a reason here."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
SOURCES = TESTS.parent / "src" / "tapeline"

READS = {"time.time", "time.time_ns", "time", "time_ns", "datetime.now", "datetime.utcnow"}
NUMBERS = {"int", "float", "max", "min", "round"}

# Everything else that lasts or ages goes by `tapeline.clock`.
REASONS = {
    "prices/source/exchange.py:_pages": "candles are dated by the wall clock of the exchange",
    "accounts/id_tokens.py:_refresh": "a folder's own stamp; a jump only reads the keys again",
    "accounts/id_tokens.py:sign": "`exp` is for clients; we go by the claim `steady`",
    "cli/account/login.py:_keep": "on the client's machine; a refused token is renewed",
    "cli/demo/deploying.py:_first_day": "the first day of a backtest, which people read",
    "cli/model/ps.py:_news": "people read it",
    "cli/record/share.py:_end": "people choose a date",
    "cli/server/session.py:renew": "on the client's machine; a refused token is renewed",
    "cli/server/session.py:sign_in": "on the client's machine; a refused token is renewed",
    "cli/terminal/screen.py:ago": "people read it",
    "cli/watch/rules.py:mute": "people choose a date",
    "certificates.py:begun": "certificates have dates",
    "cli/watch/rules.py:show": "people read it",
    "health/machine/clock.py:look": "compares two wall clocks",
    "http/core/rendering.py:ago": "people read it",
    "http/sharing/links_api.py:_future": "people choose a date",
    "http/sharing/links_api.py:_fields": "people choose a date",
    "http/wire/traces.py:finish": "turns monotonic times into dates",
    "runs/engines/unpacking.py:start": "a cache that is made again; runs have copies of their own",
    "sharing/links/links.py:by_token": "people choose a date",
    "sharing/links/visits.py:_today": "visitors are counted by calendar day",
    "store/blobs.py:put": "a stamp of the store of blobs; writing it again does no harm",
}


def test_no_duration_is_measured_with_the_wall_clock() -> None:
    found = {name for file in SOURCES.rglob("*.py") for name in _computing(file)}
    assert found - set(REASONS) == set(), "use tapeline.clock, or time.monotonic in a process"
    assert set(REASONS) - found == set(), "these reasons are no longer needed"


def test_no_test_goes_by_the_time_at_which_it_was_collected() -> None:
    """On a busy machine it begins half an hour later."""
    assert [place for file in TESTS.rglob("*.py") for place in _read_on_import(file)] == []


def _computing(file: Path) -> Iterator[str]:
    """Functions that add to the wall clock's time, subtract from it or compare it."""
    where, text = file.relative_to(SOURCES).as_posix(), file.read_text()
    if where == "clock.py" or not _may_read(text):
        return
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = list(ast.walk(function))
            names = {name for one in inside for name in _named(one)}
            if any(_is_wall(part, names) for one in inside for part in _operands(one)):
                yield f"{where}:{function.name}"


def _may_read(text: str) -> bool:
    """Most files do not, and need not be parsed."""
    return re.search(r"\b(time|time_ns|now|utcnow)\(", text) is not None


def _operands(tree: ast.AST) -> list[ast.expr]:
    if isinstance(tree, ast.Compare):
        return [tree.left, *tree.comparators]
    if isinstance(tree, ast.BinOp) and not isinstance(tree.op, ast.Mod):  # `%` makes texts
        return [tree.left, tree.right]
    return []


def _named(tree: ast.AST) -> Iterator[str]:
    """Variables that are given the wall clock's time."""
    if isinstance(tree, ast.Assign):
        for target in tree.targets:
            yield from _paired(target, tree.value)


def _paired(target: ast.expr, value: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for left, right in zip(target.elts, value.elts, strict=False):
            yield from _paired(left, right)
    elif isinstance(target, ast.Name) and _is_wall(value, set()):
        yield target.id


def _is_wall(tree: ast.expr, names: set[str]) -> bool:
    """Whether it is the wall clock's time, perhaps rounded or as a number."""
    if isinstance(tree, ast.Name):
        return tree.id in names
    if not isinstance(tree, ast.Call):
        return any(_is_wall(one, names) for one in _operands(tree))
    called = ast.unparse(tree.func)
    if called in NUMBERS:
        return any(_is_wall(one, names) for one in tree.args)
    return called in READS or (
        isinstance(tree.func, ast.Attribute) and _is_wall(tree.func.value, names)
    )


def _read_on_import(file: Path) -> Iterator[str]:
    """Lines that read the wall clock when the module is imported."""
    text = file.read_text()
    parts: list[ast.AST] = [ast.parse(text)] if _may_read(text) else []
    while parts:
        part = parts.pop()
        if isinstance(part, ast.Call) and ast.unparse(part.func) in READS:
            yield f"{file.relative_to(TESTS)}:{part.lineno}"
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            parts += [*part.decorator_list, part.args]
        elif not isinstance(part, ast.Lambda):
            parts += ast.iter_child_nodes(part)
