"""Sending an archive: which model it becomes a version of, and how far the upload is."""

import contextlib
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tapeline.cli.folder import checking, manifest_file, packing
from tapeline.cli.folder.manifest_file import ManifestFile
from tapeline.cli.folder.packing import Listing, Packed
from tapeline.cli.server.session import Session
from tapeline.cli.server.wire import Missing, Refused
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.confirming import agrees, ask
from tapeline.cli.terminal.failures import Failure, Misused, NotFound
from tapeline.ids import new_id

TOO_LARGE = 413
WORTH_A_LIST = 20_000_000  # bytes; from this size on, the largest files are listed first
LISTED = 10
WORTH_A_BAR = 200_000  # bytes; smaller uploads end before anyone could read a progress bar


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


@dataclass(frozen=True)
class Source:
    """The folder to upload, and the options for it."""

    folder: Path
    model: str | None
    new: bool
    name: str | None
    python: str | None
    always: bool
    """Upload it even if the server has a version of the same files."""
    checked: bool
    """Look for syntax errors first."""


@dataclass(frozen=True)
class Routes:
    """The route for a new archive, and the route for a version that is already stored."""

    upload: str
    stored: str


def upload(
    session: Session, source: Source, routes: Routes, said: Mapping[str, Any]
) -> tuple[dict[str, Any], int]:
    """The server's answer, and the `seq` after which the model's tape shows this run."""
    manifest = manifest_file.require(source.folder)
    target = _target(session, manifest, source)
    after = _newest_line(session, target)
    listing = packing.listed(source.folder, manifest)
    if source.checked:
        checking.check(listing.files, source.python or manifest.values.get("python_version"))
    there = None if source.always else _version_there(session, target, listing, source)
    if there is not None:
        return _reuse(session, target, there, routes.stored, said), after
    fields = target.fields() | {key: str(value) for key, value in said.items() if value is not None}
    if source.python is not None:
        fields["pythonVersion"] = source.python
    with packing.pack(listing) as packed:
        _report(session, listing, packed)
        answer: dict[str, Any] = _send(session, routes.upload, fields, listing, packed)
    remembered = {"model_id": answer["modelId"], "project_id": answer["projectId"]}
    if any(manifest.values.get(key) != value for key, value in remembered.items()):
        manifest.remember(**remembered)
        session.screen.note(f"Saved the model's id in {manifest.file}.")
    session.screen.note(f"Uploaded version {answer['version']}.", "green")
    return answer, after


def _version_there(
    session: Session, target: Target, listing: Listing, source: Source
) -> dict[str, Any] | None:
    """The newest version that was made of the same files, for the same Python."""
    if target.model is None:
        return None
    path = f"/api/models/{target.model['id']}/versions"
    items = session.wire.get(path, content=listing.content(), limit=1)["items"]
    found: dict[str, Any] | None = next(iter(items), None)
    if found is None or found.get("content") is None:
        return None  # an older server ignores the filter, and lists all versions
    is_same = source.python in {None, found["python_version"]}
    return found if is_same else None


def _reuse(
    session: Session,
    target: Target,
    version: dict[str, Any],
    path: str,
    said: Mapping[str, Any],
) -> dict[str, Any]:
    assert target.model is not None
    session.screen.note(
        f"Nothing has changed since version {version['version']}, so that version is used."
        " Use --upload to make a new one."
    )
    answer: dict[str, Any] = session.wire.post(
        path,
        modelId=target.model["id"],
        projectId=target.model["projectId"],
        versionId=version["version_id"],
        **{key: value for key, value in said.items() if key != "versionDescription"},
    )
    return answer


def _target(session: Session, manifest: ManifestFile, source: Source) -> Target:
    known, wanted, new = manifest.values.get("model_id"), source.model, source.new
    called = source.name or manifest.values.get("model_name") or source.folder.resolve().name
    if wanted and new:
        raise Misused("Use either --model or --new, not both.")
    if wanted:
        return Target(session.model(wanted), called, "")
    if known and new:
        _refuse_forgetting(session, manifest, str(known))
    if known and not new:
        try:
            return Target(session.find_model(str(known)), called, "")
        except Missing:
            raise NotFound(
                f"{manifest.file.name} names the model {known}, which does not exist on"
                f" {session.profile.url} or is not visible to you. Deploy a new model with --new"
            ) from None
    if not new:
        return _ask(session, called)
    return Target(None, called, session.project["id"])


def _refuse_forgetting(session: Session, manifest: ManifestFile, known: str) -> None:
    """--new would overwrite the model_id that is there."""
    try:
        found = session.find_model(known)
    except Missing:
        return  # it is gone, or belongs to another server: nothing is forgotten
    raise Failure(
        f"{manifest.file.name} says that this folder is {found['name']} ({known}). To create a"
        f" second model from it, remove model_id from {manifest.file.name} first."
    )


def _ask(session: Session, called: str) -> Target:
    """A folder that was never deployed: a new model, or a version of one that is there."""
    if not (session.screen.is_lively and sys.stdin.isatty()):
        raise Misused("This folder has not been deployed before. Use --new, or --model NAME")
    same = [one for one in session.models() if one["name"] == called]
    if len(same) == 1:
        question = f"Make this a new version of {called} ({same[0]['id']})?"
        if agrees(question):
            return Target(same[0], called, "")
    where = session.project["name"]
    called = ask(f"Name of the new model in project {where}", called)
    return Target(None, called, session.project["id"])


def _newest_line(session: Session, target: Target) -> int:
    """Where to start following: older lines belong to earlier runs."""
    if target.model is None:
        return 0
    found = session.wire.get(f"/api/models/{target.model['id']}/logs", limit=1)["items"]
    return int(found[0]["seq"]) if found else 0


def _report(session: Session, listing: Listing, packed: Packed) -> None:
    count = len(listing.files)
    files = f"{count} file{'' if count == 1 else 's'}"
    without = f", without {', '.join(listing.left_out[:5])}" if listing.left_out else ""
    more = " and more" if len(listing.left_out) > 5 else ""
    session.screen.note(f"Packed {files}, {screen.size(packed.size)}{without}{more}.")
    if packed.size > WORTH_A_LIST:
        for path, size in listing.largest(LISTED):
            session.screen.note(f"{screen.size(size):>9}  {path}")
        if count > LISTED:
            session.screen.note(f"           and {count - LISTED} more")


def _too_large(refused: Refused, listing: Listing) -> Failure:
    """Name the largest files: the server only knows the total size."""
    largest = ", ".join(f"{path} ({screen.size(size)})" for path, size in listing.largest(3))
    return Failure(
        f"{refused.message} Its largest files: {largest}. Leave out what the model does not need"
        " by naming it in .tapelineignore"
    )


def _send(
    session: Session, path: str, fields: dict[str, str], listing: Listing, packed: Packed
) -> Any:
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
        try:
            return session.wire.ask("POST", path, body, headers)  # type: ignore[arg-type]
        except Refused as refused:
            if refused.status != TOO_LARGE:
                raise
            raise _too_large(refused, listing) from None


class _Body(io.RawIOBase):
    """The parts of a form in order; counts the bytes that were read."""

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
