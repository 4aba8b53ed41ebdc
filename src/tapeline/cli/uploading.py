"""Sending an archive: which model it becomes a version of, and how far the upload is."""

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from tapeline.cli import manifest_file, packing, screen
from tapeline.cli.failures import Misused, NotFound
from tapeline.cli.manifest_file import ManifestFile
from tapeline.cli.packing import Packed
from tapeline.cli.session import Session
from tapeline.cli.wire import Missing
from tapeline.ids import new_id

WORTH_A_BAR = 200_000  # bytes; less is there before anybody could read a bar


@dataclass(frozen=True)
class Target:
    """What the upload becomes."""

    model: dict[str, Any] | None
    """None: a new one."""
    name: str
    project_id: str

    def fields(self) -> dict[str, str]:
        if self.model is not None:
            return {"modelId": self.model["id"]}
        return {"createNew": "true", "name": self.name, "projectId": self.project_id}


def upload(
    session: Session,
    folder: Path,
    path: str,
    *,
    wanted: str | None,
    new: bool,
    name: str | None,
    **texts: str | None,
) -> tuple[dict[str, Any], int]:
    """The server's answer, and the number after which the model's tape tells of it."""
    manifest = manifest_file.require(folder)
    target = _target(session, manifest, folder, wanted=wanted, new=new, name=name)
    after = _newest_line(session, target)
    fields = target.fields() | {key: value for key, value in texts.items() if value is not None}
    with packing.pack(folder, manifest) as packed:
        _tell(session, packed)
        answer: dict[str, Any] = _send(session, path, fields, packed)
    remembered = {"model_id": answer["modelId"], "project_id": answer["projectId"]}
    if any(manifest.values.get(key) != value for key, value in remembered.items()):
        manifest.remember(**remembered)
        session.screen.note(f"{manifest.file} remembers which model this is.")
    return answer, after


def _target(
    session: Session,
    manifest: ManifestFile,
    folder: Path,
    *,
    wanted: str | None,
    new: bool,
    name: str | None,
) -> Target:
    known = manifest.values.get("model_id")
    called = name or manifest.values.get("model_name") or folder.resolve().name
    if wanted and new:
        raise Misused("Say either --model or --new, not both.")
    if wanted:
        return Target(session.model(wanted), called, "")
    if known and not new:
        try:
            return Target(session.find_model(str(known)), called, "")
        except Missing:
            raise NotFound(
                f"{manifest.file.name} names the model {known}, which is not on"
                f" {session.profile.url} or not yours to see. Deploy it as a new one with --new"
            ) from None
    if not new:
        return _ask(session, called)
    return Target(None, called, session.project["id"])


def _ask(session: Session, called: str) -> Target:
    """A folder that was never deployed: a new model, or a version of one that is there."""
    if not (session.screen.is_lively and sys.stdin.isatty()):
        raise Misused("This folder was not deployed before. Say --new, or --model NAME")
    same = [one for one in session.models() if one["name"] == called]
    if len(same) == 1:
        question = f"Make this a new version of {called} ({same[0]['id']})?"
        if typer.confirm(question, default=True, err=True):
            return Target(same[0], called, "")
    where = session.project["name"]
    called = typer.prompt(f"Name of the new model in project {where}", default=called, err=True)
    return Target(None, called, session.project["id"])


def _newest_line(session: Session, target: Target) -> int:
    """Where to begin following; what is older belongs to runs before this one."""
    if target.model is None:
        return 0
    found = session.wire.get(f"/api/models/{target.model['id']}/logs", limit=1)["items"]
    return int(found[0]["seq"]) if found else 0


def _tell(session: Session, packed: Packed) -> None:
    files = f"{packed.files} file{'' if packed.files == 1 else 's'}"
    without = f", without {', '.join(packed.left_out[:5])}" if packed.left_out else ""
    more = " and more" if len(packed.left_out) > 5 else ""
    session.screen.note(f"Packed {files}, {screen.size(packed.size)}{without}{more}.")


def _send(session: Session, path: str, fields: dict[str, str], packed: Packed) -> Any:
    boundary = f"tapeline-{new_id()}"
    head = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in fields.items()
    )
    head += (
        f'--{boundary}\r\nContent-Disposition: form-data; name="model"; filename="model.zip"\r\n'
        "Content-Type: application/zip\r\n\r\n"
    )
    tail = f"\r\n--{boundary}--\r\n"
    with _progress(session, packed.size) as advanced:
        body = _Body(head.encode(), packed, tail.encode(), advanced)
        headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Content-Length": str(body.size),
            "Idempotency-Key": new_id(),
        }
        return session.wire.ask("POST", path, body, headers)  # type: ignore[arg-type]


class _Body(io.RawIOBase):
    """The parts of a form one after the other; counts what is read of it."""

    def __init__(
        self, head: bytes, packed: Packed, tail: bytes, advanced: Callable[[int], None]
    ) -> None:
        super().__init__()
        self._parts = (io.BytesIO(head), packed.content, io.BytesIO(tail))
        self._place = 0
        self._advanced = advanced
        self.size = len(head) + packed.size + len(tail)

    def read(self, count: int = -1) -> bytes:
        while self._place < len(self._parts):
            if piece := self._parts[self._place].read(count if count > 0 else 1 << 16):
                self._advanced(len(piece))
                return piece
            self._place += 1
        return b""

    def seek(self, *_: int) -> int:
        """Back to the start, for another try."""
        for part in self._parts:
            part.seek(0)
        self._place = 0
        return 0


@contextlib.contextmanager
def _progress(session: Session, size: int) -> Iterator[Callable[[int], None]]:
    if not session.screen.is_lively or size < WORTH_A_BAR:
        yield lambda _: None
        return
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("Uploading"), BarColumn(None), DownloadColumn(), TransferSpeedColumn()
    )  # fmt: skip
    with Progress(*columns, console=session.screen.err, transient=True) as bar:
        task = bar.add_task("", total=size)
        yield lambda count: bar.advance(task, count)
