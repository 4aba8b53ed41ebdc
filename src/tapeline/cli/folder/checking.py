"""Finds syntax errors before the upload, not at the first crash."""

import ast
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path

from tapeline.cli.terminal.failures import Failure


def check(files: Mapping[str, Path], python: str | None) -> None:
    """Raise for the first file that is not Python. `python` is what the model will run on."""
    if python is not None and _is_newer(python):
        return  # newer than this Python: its syntax cannot be checked here
    for path, file in files.items():
        if path.endswith(".py"):
            _check(path, file)


def _check(path: str, file: Path) -> None:
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(file.read_bytes(), path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        where = f"{path}, line {error.lineno}" if error.lineno else path
        line = (error.text or "").strip()
        quoted = f": {line}" if line else ""
        raise Failure(
            f"{where} is not valid Python ({error.msg}){quoted}. Correct it, or upload it as it is"
            " with --no-check"
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Failure(
            f"{path} is not valid Python ({error}). Correct it, or upload it as it is with"
            " --no-check"
        ) from None
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}.") from error


def _is_newer(python: str) -> bool:
    parts = [int(part) for part in python.split(".")[:2] if part.isdecimal()]
    return tuple(parts) > sys.version_info[:2]
