"""The documentation as the server gives it out: files, caching, policy, and what is no file."""

import gzip
from pathlib import Path

import httpx
import pytest

from tapeline.http.pages import docs


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small build: these tests are about serving one."""
    folder = tmp_path / "docs"
    (folder / "tape").mkdir(parents=True)
    (folder / "assets").mkdir()
    for name in ("index.html", "tape/index.html"):
        (folder / name).write_text(f"<!doctype html>{name}")
        (folder / f"{name}.gz").write_bytes(gzip.compress(f"<!doctype html>{name}".encode()))
    (folder / "assets" / "bundle.0123abcd.min.js").write_text("let a = 1")
    (folder / "stamp").write_text("0123456789" * 6)
    (folder / "scripts").write_text("'sha256-abc='")
    (tmp_path / "secret.html").write_text("secret")
    monkeypatch.setattr(docs, "BUILT", folder)
    return folder


@pytest.mark.usefixtures("built")
def test_anybody_reads_a_page_and_its_folder_is_its_address(anybody: httpx.Client) -> None:
    assert anybody.get("/docs").headers["location"] == "/docs/"
    assert anybody.get("/docs/tape").headers["location"] == "/docs/tape/"
    page = anybody.get("/docs/tape/")
    assert (page.status_code, page.text) == (200, "<!doctype html>tape/index.html")
    assert page.headers["content-encoding"] == "gzip"
    plain = anybody.get("/docs/tape/", headers={"Accept-Encoding": "identity"})
    assert plain.text == page.text
    assert "content-encoding" not in plain.headers


@pytest.mark.usefixtures("built")
def test_only_our_own_scripts_run_and_nothing_is_asked_elsewhere(anybody: httpx.Client) -> None:
    for path in ("/docs/", "/docs/assets/bundle.0123abcd.min.js"):  # a worker has its file's policy
        policy = anybody.get(path).headers["content-security-policy"]
        assert "script-src 'self' 'sha256-abc=';" in policy
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy


@pytest.mark.usefixtures("built")
def test_a_page_is_asked_for_again_and_a_hashed_file_is_not(anybody: httpx.Client) -> None:
    page = anybody.get("/docs/")
    assert page.headers["cache-control"] == "no-cache"
    again = anybody.get("/docs/", headers={"If-None-Match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = anybody.get("/docs/", headers={"If-None-Match": '"another"'})
    assert other.status_code == 200
    script = anybody.get("/docs/assets/bundle.0123abcd.min.js")
    assert "immutable" in script.headers["cache-control"]
    assert script.headers["content-type"].startswith("text/javascript")


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    "path",
    ["nothing/", "stamp", "scripts", "index.html.gz", "%2e%2e/secret.html", "..%2fsecret.html",
     "%00", "assets/"],
)  # fmt: skip
def test_what_is_no_page_is_nothing(anybody: httpx.Client, path: str) -> None:
    answer = anybody.get(f"/docs/{path}")
    assert answer.status_code == 404
    assert "secret" not in answer.text
    assert answer.headers["content-type"].startswith("text/html")


def test_without_a_build_the_page_says_which_command_makes_one(
    anybody: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs, "BUILT", tmp_path)
    answer = anybody.get("/docs/")
    assert answer.status_code == 503
    assert "scripts/setup" in answer.text
