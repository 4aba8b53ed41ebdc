"""Starter models: the examples of the repository, packed as anybody would pack a model."""

import io
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from tapeline.errors import NoSuchPage
from tapeline.models.archives.archive import ROOT

HERE = Path(__file__).parents[1] / "examples"  # in a wheel
BESIDE = Path(__file__).parents[3] / "examples"  # in a checkout
MOMENT = (2020, 1, 1, 0, 0, 0)  # the same archive whenever it is asked for


class Starter(msgspec.Struct, frozen=True):
    name: str
    path: str
    """In the repository."""
    type: str


def listed() -> list[Starter]:
    return [Starter(one.name, f"examples/{one.name}", _type(one)) for one in _folders()]


@cache
def packed(name: str) -> bytes:
    return edited(name, ())


def edited(name: str, changes: Sequence[tuple[str, str]]) -> bytes:
    """A starter in which each of these texts is replaced by another, wherever it stands."""
    folder = next((one for one in _folders() if one.name == name), None)
    if folder is None:
        raise NoSuchPage
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                entry = zipfile.ZipInfo(f"{ROOT}/{file.relative_to(folder).as_posix()}", MOMENT)
                entry.external_attr = 0o100644 << 16
                text = file.read_text(encoding="utf-8")
                for before, after in changes:
                    text = text.replace(before, after)
                archive.writestr(entry, text, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _folders() -> list[Path]:
    folder = HERE if HERE.is_dir() else BESIDE
    return sorted(file.parent for file in folder.glob("*/platform.json"))


def _type(folder: Path) -> str:
    manifest = msgspec.json.decode((folder / "platform.json").read_bytes())
    return str(manifest.get("type", "strategy"))
