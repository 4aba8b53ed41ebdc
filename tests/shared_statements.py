"""Statements compiled once for all databases of a test session.

SQLAlchemy compiles a statement once for each engine. A server keeps its two for months; tests open
thousands of them, and compiling anew took a tenth of their time.
"""

import functools
from collections.abc import Hashable
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.util import LRUCache

MANY = 5_000
"""More than all tests of a session have, for each of the databases."""


class _Statements(LRUCache[tuple[Hashable, ...], Any]):
    """By what a statement is and the kind of its database; SQLAlchemy's key begins with the
    dialect, of which each engine has its own."""

    def get(self, key: tuple[Hashable, ...], default: Any = None) -> Any:
        return super().get(_without_engine(key), default)

    def __getitem__(self, key: tuple[Hashable, ...]) -> Any:
        return super().__getitem__(_without_engine(key))

    def __setitem__(self, key: tuple[Hashable, ...], value: Any) -> None:
        super().__setitem__(_without_engine(key), value)


def _without_engine(key: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    return (type(key[0]), *key[1:])


def use() -> None:
    """From now on, in this process and those that it forks."""
    statements, begin = _Statements(MANY), Engine.__init__

    @functools.wraps(begin)
    def init(self: Engine, *arguments: Any, **more: Any) -> None:
        begin(self, *arguments, **more)
        self._compiled_cache = statements

    Engine.__init__ = init  # type: ignore[method-assign]
