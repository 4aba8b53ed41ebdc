"""The built documentation: fresh, complete, and without anything from elsewhere."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from tapeline.http.pages import docs

ROOT = Path(__file__).parent.parent
# Whatever a browser fetches by itself. Links that somebody follows are none of it.
FETCHED = re.compile(r"<(?:script|img|iframe|link|source)\b[^>]*?\b(?:src|href)=\"?(?:https?:)?//")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs", ROOT / "scripts" / "docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages(script: ModuleType) -> list[Path]:
    """Strict: a link that leads nowhere, or a page that is in no menu, ends the build."""
    assert script.build() == 0, "a warning of MkDocs: see above"
    return sorted(docs.BUILT.rglob("*.html"))


def test_every_source_is_a_page(pages: list[Path]) -> None:
    sources = list((ROOT / "docs").rglob("*.md"))
    assert len(pages) == len(sources)


def test_nothing_is_fetched_from_elsewhere(pages: list[Path]) -> None:
    for page in pages:
        assert not FETCHED.search(page.read_text("utf-8")), page
    for style in docs.BUILT.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//", style.read_text("utf-8")), style


def test_the_policy_knows_every_inline_script_and_needs_no_inline_style(
    pages: list[Path], script: ModuleType
) -> None:
    assert (docs.BUILT / "scripts").read_text() == script.inline_scripts(docs.BUILT)
    for page in pages:
        text = page.read_text("utf-8")
        assert "<style" not in text, page
        assert not re.search(r"<[^>]* style=", text), page
        assert not re.search(r"<[^>]* on(?:click|load)=", text), page


def test_generated_tables_became_tables() -> None:
    for name in ("settings", "api", "metrics", "reference/platform-json", "reference/event-kinds"):
        text = (docs.BUILT / name / "index.html").read_text("utf-8")
        assert "<table>" in text, name
        assert "|---|" not in text, name


def test_a_changed_page_is_built_again(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert script.is_built()
    monkeypatch.setattr(script, "sources", lambda: [ROOT / "README.md"])
    assert not script.is_built()


@pytest.mark.heavy
def test_a_broken_link_fails_the_build(
    tmp_path: Path, script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[0]
    (tmp_path / "mkdocs.yml").write_text(config)
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    (tmp_path / "docs" / "index.md").write_text("# One\n\n[nowhere](nowhere.md)\n")
    monkeypatch.setattr(script, "ROOT", tmp_path)
    assert script.mkdocs(tmp_path / "site") != 0
    (tmp_path / "docs" / "index.md").write_text("# One\n")
    assert script.mkdocs(tmp_path / "site") == 0
