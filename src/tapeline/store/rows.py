"""Turns rows of the database into frozen records."""

from typing import Any, TypeVar

import msgspec
from sqlalchemy import Row

T = TypeVar("T", bound=msgspec.Struct)


def record(wanted: type[T], row: Row[*tuple[Any, ...]], **more: Any) -> T:
    """The columns a record asks for, by name; a row may have others."""
    columns = row._mapping
    return wanted(
        **{name: columns[name] for name in wanted.__struct_fields__ if name not in more}, **more
    )
