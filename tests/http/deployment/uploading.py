"""What uploads have in common in tests."""

from typing import Any

import httpx

from tests.archives import zipped
from tests.conftest import Person, Service


def send(
    person: Person, path: str, content: bytes | None = None, part: str = "model", **data: Any
) -> httpx.Response:
    files = {part: ("model.zip", zipped() if content is None else content)}
    return person.post(path, data=data, files=files)


def deployed(person: Person, content: bytes | None = None, **data: Any) -> dict[str, Any]:
    if "modelId" not in data:
        data = {"createNew": "true", "name": "Momentum"} | data
    answer = send(person, "/model/deploy", content, **data)
    assert answer.status_code == 200, answer.text
    said: dict[str, Any] = answer.json()
    return said


def kept(service: Service) -> list[str]:
    """What uploads left on the disk."""
    data = service.services.settings.data
    return sorted(
        str(one.relative_to(data))
        for folder in ("spool", "blobs")
        for one in (data / folder).rglob("*")
    )
