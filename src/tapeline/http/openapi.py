"""The OpenAPI document, made from the same rows that serve the requests."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from tapeline import __version__
from tapeline.accounts.keys import KeyLacksRight
from tapeline.errors import (
    ChangedMeanwhile,
    CrossSiteRequest,
    IdempotencyKeyReused,
    Invalid,
    Problem,
    StoreUnavailable,
    TooLarge,
    Unidentified,
    UnknownEncoding,
    WrongKey,
)
from tapeline.http.core.endpoint import OPEN, Access, Endpoint, Nothing
from tapeline.http.events import openapi
from tapeline.http.wire.errors import ErrorShape, status_of

ENCODINGS = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
SECURITY: dict[Access, list[dict[str, list[str]]]] = {
    Access.PUBLIC: [],
    Access.SHARED: [{}, {"share_pass": []}],
    Access.ACCOUNT: [{"token": []}, {"bearer": []}, {"session": []}],
    Access.OPERATOR: [{"token": []}, {"bearer": []}, {"session": []}],
    Access.READER: [
        {"token": []},
        {"bearer": []},
        {"session": []},
        {"api_key": [], "api_pass": []},
    ],
}
SCHEMES = {
    "token": {"type": "apiKey", "in": "header", "name": "token", "description": "An idToken."},
    "bearer": {"type": "http", "scheme": "bearer", "description": "An idToken."},
    "session": {"type": "apiKey", "in": "cookie", "name": "tapeline_session"},
    "api_key": {"type": "apiKey", "in": "header", "name": "api_key"},
    "api_pass": {"type": "apiKey", "in": "header", "name": "api_pass"},
    "share_pass": {
        "type": "apiKey",
        "in": "header",
        "name": "share-pass",
        "description": "A pass, for a shared link that has a password.",
    },
    "model_id": {"type": "apiKey", "in": "header", "name": "model_id"},
}


def document(routes: Sequence[Endpoint]) -> dict[str, Any]:
    records = [ErrorShape, *(row.takes for row in routes), *(row.gives for row in routes)]
    refs, schemas = msgspec.json.schema_components(
        records, ref_template="#/components/schemas/{name}"
    )
    error, takes, gives = refs[0], refs[1 : len(routes) + 1], refs[len(routes) + 1 :]
    paths: dict[str, dict[str, Any]] = {}
    for row, taken, given in zip(routes, takes, gives, strict=True):
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, taken, given, error)
    paths.update(openapi.paths(error))
    schemas.pop("Nothing", None)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tapeline", "version": __version__},
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": SCHEMES},
    }


def _operation(row: Endpoint, taken: Any, given: Any, error: Any) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": row.act.__name__,
        "summary": (row.act.__doc__ or "").strip().split("\n")[0],
        "parameters": _parameters(row),
        "responses": _responses(row, given, error),
        "security": SECURITY[row.access],
    }
    if row.takes is not Nothing:
        required = any(field.required for field in msgspec.structs.fields(row.takes))
        operation["requestBody"] = {
            "required": required,
            "content": {encoding: {"schema": taken} for encoding in ENCODINGS},
        }
    if row.attaches:
        operation["requestBody"] = {
            "required": True,
            "content": {"multipart/form-data": {"schema": _with_archive(taken)}},
        }
    return operation


def _with_archive(taken: Any) -> dict[str, Any]:
    zipped = {"type": "string", "format": "binary", "description": "The model as a zip file."}
    archive = {"type": "object", "properties": {"model": zipped}, "required": ["model"]}
    return {"allOf": [taken, archive]}


def _parameters(row: Endpoint) -> list[dict[str, Any]]:
    named = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", row.path)
    ]
    _, schemas = msgspec.json.schema_components([row.query])
    for name, schema in schemas[row.query.__name__].get("properties", {}).items():
        named.append({"name": name, "in": "query", "schema": schema})
    if _remembers(row):
        schema = {"type": "string", "minLength": 1, "maxLength": 255}
        named.append({"name": "Idempotency-Key", "in": "header", "schema": schema})
    return named


def _responses(row: Endpoint, given: Any, error: Any) -> dict[str, Any]:
    responses = {"200": _response("Success.", given, row.media)}
    by_status: dict[int, list[str]] = {}
    for problem in _problems(row):
        by_status.setdefault(status_of(problem), []).append(problem.code())
    for status, codes in sorted(by_status.items()):
        responses[str(status)] = _response("Code: " + ", ".join(dict.fromkeys(codes)), error)
    return responses


def _problems(row: Endpoint) -> list[type[Problem]]:
    problems = list(row.errors)
    if row.takes is not Nothing:
        problems += [Invalid, TooLarge, UnknownEncoding]
    if row.query is not Nothing:
        problems.append(Invalid)
    if row.access not in OPEN:
        problems.append(Unidentified)
        if row.access is Access.READER:
            problems += [WrongKey, KeyLacksRight]
        if row.method != "GET":
            problems.append(CrossSiteRequest)
    if row.writes:
        problems.append(ChangedMeanwhile)
    if _remembers(row):
        problems += [Invalid, IdempotencyKeyReused]
    if row.reads or row.writes or row.responds:
        problems.append(StoreUnavailable)
    return problems


def _remembers(row: Endpoint) -> bool:
    return row.method == "POST" and row.once and row.writes is not None


def _response(description: str, schema: Any, media: str = "application/json") -> dict[str, Any]:
    return {"description": description, "content": {media: {"schema": schema}}}
