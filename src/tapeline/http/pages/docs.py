"""The documentation at /docs. It is public: it contains nothing about this server's data.

It is built from docs/ into the folder `docs` next to this package; see scripts/docs.py.
"""

import re
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tapeline.errors import DocsNotBuilt, NoSuchPage, Problem
from tapeline.http.core.rendering import dressed, render
from tapeline.http.pages.web_app import takes_gzip

BUILT = Path(__file__).parents[1] / "docs"
STAMP, SCRIPTS = "stamp", "scripts"
"""Files of the build: its sources, and the hashes of its inline scripts."""

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml; charset=utf-8",
    ".png": "image/png",
}
HASHED = re.compile(r"\.[0-9a-f]{8}\.min\.(js|css)$")
# The theme's icons are pictures inside its stylesheet, and its search is a worker, which obeys the
# policy of its own file: all files have the same one.
POLICY = (
    "default-src 'none'; script-src 'self' {scripts}; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; worker-src 'self'; base-uri 'none'; frame-ancestors 'none';"
    " form-action 'self'"
)


async def show_docs(request: Request) -> Response:
    """A file of the built documentation; a folder is its index."""
    try:
        return _answer(request)
    except Problem as problem:
        return dressed(render("problem.html", problem=problem, account=None), request.cookies)


def _answer(request: Request) -> Response:
    stamp, scripts = _read(STAMP), _read(SCRIPTS)
    path = request.path_params.get("path")
    if path is None:
        return RedirectResponse("/docs/", 308)
    file = _find(path)
    if file.is_dir():
        if path and not path.endswith("/"):
            return RedirectResponse(f"/docs/{quote(path)}/", 308)
        file /= "index.html"
    if file.suffix not in KINDS or not file.is_file():
        raise NoSuchPage
    packed = file.with_name(file.name + ".gz")
    is_packed = takes_gzip(request.headers) and packed.is_file()
    # The same path has the same content until the next build.
    tag = f'"{stamp[:24]}{"-gzip" if is_packed else ""}"'
    headers = {
        "Cache-Control": "public, max-age=31536000, immutable"
        if HASHED.search(file.name)
        else "no-cache",
        "Content-Security-Policy": POLICY.format(scripts=scripts),
        "ETag": tag,
        "Vary": "Accept-Encoding",
    }
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    headers["Content-Type"] = KINDS[file.suffix]
    if is_packed:
        headers["Content-Encoding"] = "gzip"
    return Response((packed if is_packed else file).read_bytes(), headers=headers)


def _find(path: str) -> Path:
    """A path inside the build, whatever the URL says."""
    if "\0" in path:
        raise NoSuchPage
    file = (BUILT / path).resolve()
    if not file.is_relative_to(BUILT.resolve()):
        raise NoSuchPage
    return file


def _read(name: str) -> str:
    try:
        return (BUILT / name).read_text("utf-8").strip()
    except FileNotFoundError:
        raise DocsNotBuilt from None
