"""Everything in a backup or a draft of one, without recursion and without leaving anything out.

Paths are short enough to be used as they are: `foreign_copies` copies no longer ones.
"""

import os
from collections.abc import Iterator
from pathlib import Path


def entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    """The folders in it before what is in them. What cannot be read is an error."""
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                yield entry


def shown(name: str) -> str:
    """A name of any bytes as a text that can be stored and printed."""
    return name.encode("utf-8", "backslashreplace").decode()
