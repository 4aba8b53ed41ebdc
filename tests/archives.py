"""Archives to upload: good ones in one line, bad ones by hand."""

import io
import json
import warnings
import zipfile
from typing import Any

MAIN = "print('hello')\n"


def zipped(
    files: dict[str, str | bytes] | None = None,
    *,
    root: str = "model/",
    manifest: str = "platform.json",
    **keys: Any,
) -> bytes:
    """A zip with a main script and a manifest; `files` come on top, under the root."""
    said: str | bytes = json.dumps({"main_script": "main.py"} | keys)
    content = {manifest: said, "main.py": MAIN, **(files or {})}
    return raw_zip([(root + name, text) for name, text in content.items()])


def raw_zip(entries: list[tuple[str | zipfile.ZipInfo, str | bytes]]) -> bytes:
    """Exactly these entries, in this order, twice the same name too."""
    out = io.BytesIO()
    with (
        warnings.catch_warnings(action="ignore"),
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, text in entries:
            info = name if isinstance(name, zipfile.ZipInfo) else plain(name)
            archive.writestr(info, text, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def unzipped(content: bytes, *, root: str = "model/") -> dict[str, str]:
    """The files of an archive by their names under the root."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        return {name.removeprefix(root): archive.read(name).decode() for name in names}


def plain(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.filename = name  # as it is: the constructor tidies some names
    info.external_attr = mode << 16
    return info
