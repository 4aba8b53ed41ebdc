"""Folders at which a test looks while a server works there."""

import os
from collections.abc import Iterator
from pathlib import Path


def paths_below(folder: Path) -> Iterator[Path]:
    """`Path.rglob` fails when a folder goes before it is entered."""
    for here, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield Path(here, name)
