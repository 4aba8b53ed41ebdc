"""The platform.json in a model's folder: read it, and remember there which model it became."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tapeline import host_faults
from tapeline.cli.terminal.failures import Failure

NAMES = ("platform.json", "blankly.json")  # the older name under the same rules


@dataclass
class ManifestFile:
    file: Path
    values: dict[str, Any]

    def remember(self, **texts: str) -> None:
        """Set keys and leave everything else as its author wrote it, down to the spaces."""
        wanted = self.values | texts
        text = self.file.read_text("utf-8")
        for key, value in texts.items():
            text = _with_key(text, key, value)
        if _decoded(text) != wanted:  # an unusual layout: correct is better than pretty
            text = json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"
        draft = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        try:
            draft.write_text(text, "utf-8")
            draft.chmod(self.file.stat().st_mode & 0o777)
            draft.rename(self.file)
        except OSError as error:
            raise Failure(host_faults.cannot_write(self.file, error)) from error
        self.values = wanted


def find(folder: Path) -> ManifestFile | None:
    file = next((folder / name for name in NAMES if (folder / name).is_file()), None)
    if file is None:
        return None
    try:
        values = json.loads(file.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise Failure(f"{file} cannot be read: {error}") from error
    if not isinstance(values, dict):
        raise Failure(f"{file} must be a JSON object, such as {{}}.")
    return ManifestFile(file, values)


def require(folder: Path) -> ManifestFile:
    if not folder.is_dir():
        raise Failure(f"{folder} is not a folder. Name the folder of your model.")
    found = find(folder)
    if found is None:
        raise Failure(
            f"There is no platform.json in {folder.resolve()}. Start with: tapeline init {folder}"
        )
    return found


def _with_key(text: str, key: str, value: str) -> str:
    written = json.dumps(value)
    there = re.compile(rf'("{key}"\s*:\s*)("(?:[^"\\]|\\.)*"|null)')
    if there.search(text):
        return there.sub(lambda found: found[1] + written, text, count=1)
    head, _, tail = text.rpartition("}")
    body = head.rstrip()
    comma = "" if body.endswith("{") else ","
    indent = re.search(r"\n([ \t]+)\"", text)
    return f'{body}{comma}\n{indent[1] if indent else "  "}"{key}": {written}\n}}{tail}'


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
