"""The checker at /checker.html: one file that a reader can save and use without any server.

It is built from web/ together with the app, and served as it is: its hash is in the documentation.
"""

import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from tapeline.errors import NotBuilt, Problem
from tapeline.http.core.rendering import dressed, render
from tapeline.http.pages import web_app

NAME = "checker.html"
# The file brings its own policy, so that a saved copy has it too.
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


async def show_checker(request: Request) -> Response:
    """The file, to anyone: it contains nothing about this server."""
    try:
        text = _read(web_app.BUILT / NAME)
    except Problem as problem:
        return dressed(render("problem.html", problem=problem, account=None), request.cookies)
    policy = "".join(POLICY.findall(text))
    headers = {
        "Content-Security-Policy": f"{policy}; frame-ancestors 'none'",
        "Cache-Control": "no-cache",
    }
    return Response(text, headers=headers, media_type="text/html")


def is_built() -> bool:
    return (web_app.BUILT / NAME).is_file()


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError:
        raise NotBuilt from None
