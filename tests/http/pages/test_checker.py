"""The checker as the server gives it out, and the one file that pages of other sites may read."""

from pathlib import Path

import httpx
import pytest

from tapeline.http.pages import web_app
from tapeline.http.routes import ROUTES

KEYS = "/.well-known/tapeline-keys.json"
ALLOWED = "access-control-allow-origin"
POLICY = "default-src 'none'; script-src 'sha256-abc=' 'wasm-unsafe-eval'"
PAGE = f'<!doctype html><meta http-equiv="Content-Security-Policy" content="{POLICY}">'


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(web_app, "BUILT", tmp_path)
    return tmp_path


def test_anybody_gets_the_file_as_it_is_with_the_policy_that_it_names(
    built: Path, anybody: httpx.Client
) -> None:
    (built / "checker.html").write_text(PAGE)
    answer = anybody.get("/checker.html")
    assert (answer.status_code, answer.text) == (200, PAGE)
    assert answer.headers["content-security-policy"] == f"{POLICY}; frame-ancestors 'none'"
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.usefixtures("built")
def test_a_server_without_it_says_so(anybody: httpx.Client) -> None:
    answer = anybody.get("/checker.html")
    assert answer.status_code == 503
    assert "are not built" in answer.text


def test_pages_of_other_sites_read_the_published_keys_and_nothing_else(
    anybody: httpx.Client,
) -> None:
    assert anybody.get(KEYS).headers[ALLOWED] == "*"
    assert ALLOWED not in anybody.get("/time").headers
    assert [row.path for row in ROUTES if row.any_origin] == [KEYS]
