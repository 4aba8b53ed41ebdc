"""Multipart bodies: texts and files by name; a body that is cut off is refused."""

from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from tapeline.errors import MalformedBody
from tapeline.settings import Settings


@dataclass(frozen=True)
class Attachment:
    """A file that came with a request, on disk until the request ends."""

    path: Path
    sha256: str
    size: int


class WholeMultipart(MultiPartParser):
    """Notes whether it saw the closing boundary: half a body must not pass as complete."""

    ended = False

    def on_end(self) -> None:
        self.ended = True

    def on_part_end(self) -> None:
        """Refuses text that is not UTF-8; the framework would decode it as Latin-1, garbled."""
        if self._current_part.file is None:
            try:
                self._current_part.data.decode(self._charset)
            except (UnicodeDecodeError, LookupError):
                raise MultiPartException(f"a text is not valid {self._charset}") from None
        super().on_part_end()


@dataclass(frozen=True)
class Parts:
    form: FormData

    def texts(self) -> dict[str, Any]:
        """The parts that are not files: text, or a list for a repeated name."""
        return gathered(
            (name, part) for name, part in self.form.multi_items() if isinstance(part, str)
        )

    def files(self) -> dict[str, UploadFile]:
        return {
            name: part for name, part in self.form.multi_items() if isinstance(part, UploadFile)
        }

    async def close(self) -> None:
        await self.form.close()


async def read_parts(
    headers: Headers,
    stream: AsyncGenerator[bytes, None],
    settings: Settings,
    make: Callable[..., WholeMultipart] = WholeMultipart,
) -> Parts:
    parser = make(
        headers,
        stream,
        max_files=settings.max_parts,
        max_fields=settings.max_parts,
        max_part_size=settings.max_body,
    )
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, ValueError) as error:
        reason = str(getattr(error, "message", "")) or "it has no boundary"
        raise MalformedBody(
            f"The multipart body could not be read: {reason.rstrip('.')}."
        ) from None
    if not parser.ended:
        await form.close()
        raise MalformedBody("The multipart body was cut off: its closing boundary is missing.")
    return Parts(form)


async def text_of(part: UploadFile) -> str:
    """A file part where a text is expected: its content."""
    try:
        return (await part.read()).decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedBody("A part of the multipart body is not valid UTF-8.") from None


def gathered(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, text in pairs:
        if name not in values:
            values[name] = text
        elif isinstance(values[name], list):
            values[name].append(text)
        else:
            values[name] = [values[name], text]
    return values
