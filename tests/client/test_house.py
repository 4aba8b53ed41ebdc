"""The code mounted into sandboxes is small, uses the standard library alone, imports no server."""

import ast
import sys
from pathlib import Path

import pytest

from tests.test_architecture import LONGEST_FUNCTION, LONGEST_MODULE, imports_of

ROOT = Path(__file__).parents[2]
CLIENT = sorted((ROOT / "client" / "src").rglob("*.py"))
RUNTIME = [ROOT / "runtime" / name for name in ("bootstrap.py", "blankly_external.py")]


@pytest.mark.parametrize("module", [*CLIENT, *RUNTIME], ids=lambda path: path.name)
def test_it_imports_nothing_but_the_standard_library(module: Path) -> None:
    roots = {name.split(".")[0] for name in imports_of(module)}
    assert roots <= sys.stdlib_module_names | {"tapeline_client", "msvcrt"}


@pytest.mark.parametrize("module", [*CLIENT, *RUNTIME], ids=lambda path: path.name)
def test_a_module_is_small_and_says_why_it_exists(module: Path) -> None:
    text = module.read_text()
    tree = ast.parse(text, feature_version=(3, 7))
    assert ast.get_docstring(tree)
    assert len(text.splitlines()) <= LONGEST_MODULE
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno + 1 <= LONGEST_FUNCTION, node.name
