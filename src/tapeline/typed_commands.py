"""Commands that a message tells a person to type: with the options that find the same server.

A command works as it is printed. Only the password of a database is left out, because terminals and
logs outlive the moment.
"""

import re
import shlex
from pathlib import Path

from tapeline import settings
from tapeline.settings import Settings

PASSWORD = re.compile(r"(://[^:/@\s]*:)[^\s]*@")


def here(command: str, chosen: Settings) -> str:
    """A command that takes --data."""
    usual = Path(str(settings.ROWS["data"].default)).expanduser()
    return command if chosen.data == usual else f"{command} --data {shlex.quote(str(chosen.data))}"


def with_database(command: str, chosen: Settings) -> str:
    """A command that takes --data and --database."""
    place = here(command, chosen)
    if not chosen.database:
        return place
    shown = PASSWORD.sub(r"\1PASSWORD@", chosen.database)
    return f"{place} --database {shlex.quote(shown)}"
