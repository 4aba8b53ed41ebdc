"""The app: one HTML shell for all of its addresses, and its built files, which never change.

It is built from web/ into the folder `app` beside this file; see scripts/web.py.
"""

import hashlib
import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from starlette.convertors import Convertor, register_url_convertor
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from tapeline.errors import NotBuilt
from tapeline.http.core.rendering import STATIC
from tapeline.http.pages.page import Page, Visit
from tapeline.ids import ALPHABET, ID_LENGTH

BUILT = Path(__file__).parents[1] / "app"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " manifest-src 'self'; worker-src 'self'; frame-src 'self'; base-uri 'none';"
    " frame-ancestors 'none'; form-action 'self'"
)


# A worker asks for pages and for its own files; its policy is that of its script.
WORKER_POLICY = "default-src 'none'; connect-src 'self'"
WORKER = STATIC / "service-worker.js"
# What a browser keeps for the time without a server: the same files for everybody.
SHELL = {
    "/offline": STATIC / "offline.html",
    "/static/offline.js": STATIC / "offline.js",
    "/static/tokens.css": STATIC / "tokens.css",
    "/static/pages.css": STATIC / "pages.css",
    "/static/mark.svg": STATIC / "mark.svg",
}


class Id(Convertor[str]):
    """An id in a path, so that a path with anything else is still not found."""

    regex = f"[{ALPHABET}]{{{ID_LENGTH}}}"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("id", Id())


async def show_app(visit: Visit) -> Response:
    """The shell. Which page it becomes, the app reads from the address."""
    visit.account()
    try:
        text = (BUILT / "index.html").read_text("utf-8")
    except FileNotFoundError:
        raise NotBuilt from None
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    return Response(text, headers=headers, media_type="text/html")


async def show_offline(_visit: Visit) -> Response:
    """The page that a browser shows while it cannot reach the server."""
    text = SHELL["/offline"].read_text("utf-8")
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
    return Response(text, headers=headers, media_type="text/html")


async def service_worker(_visit: Visit) -> Response:
    """The script that has that page. Its stamp changes with the files, so that browsers take new
    ones; they ask for the script itself at every visit."""
    text = f"const SHELL = {json.dumps(list(SHELL))};\nconst STAMP = {_stamp()!r};\n"
    headers = {"Content-Security-Policy": WORKER_POLICY, "Cache-Control": "no-cache"}
    return Response(text + WORKER.read_text("utf-8"), headers=headers, media_type="text/javascript")


@cache
def _stamp() -> str:
    whole = hashlib.sha256()
    for file in (WORKER, *SHELL.values()):
        whole.update(file.read_bytes())
    return whole.hexdigest()[:16]


def script_of(source: str) -> str:
    """The URL of a script that is built from its own source; empty if nothing is built."""
    try:
        manifest = json.loads((BUILT / "manifest.json").read_text("utf-8"))
        return f"/app/{manifest[source]['file']}"
    except (FileNotFoundError, KeyError):
        return ""


APP_PAGES = (
    Page("GET", "/offline", show_offline),
    Page("GET", "/service-worker.js", service_worker),
    Page("GET", "/account", show_app),
    Page("GET", "/halt", show_app),
    Page("GET", "/health", show_app),
    Page("GET", "/new-project", show_app),
    Page("GET", "/portfolio", show_app),
    Page("GET", "/{project:id}", show_app),
    Page("GET", "/{project:id}/{rest:path}", show_app),
)


class BuiltFiles(StaticFiles):
    """Names carry a hash of the content, so a browser asks for each once; packed where it can."""

    def __init__(self) -> None:
        super().__init__(directory=BUILT / "assets", check_dir=False)

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        packed = Path(f"{full_path}.gz")
        is_packed = takes_gzip(Headers(scope=scope)) and packed.is_file()
        path, stat = (packed, packed.stat()) if is_packed else (full_path, stat_result)
        response: Any = super().file_response(path, stat, scope, status_code)
        if is_packed:
            response.headers["Content-Encoding"] = "gzip"
            response.headers["Content-Type"] = _media_type(str(full_path))
        response.headers["Vary"] = "Accept-Encoding"
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        found: Response = response
        return found


def takes_gzip(headers: Headers) -> bool:
    accepted = headers.get("accept-encoding", "")
    return re.search(r"\bgzip\b(?!;\s*q=0(\.0*)?\s*(,|$))", accepted) is not None


def _media_type(path: str) -> str:
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    return kinds.get(Path(path).suffix, "application/octet-stream") + "; charset=utf-8"
